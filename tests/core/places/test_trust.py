from __future__ import annotations

import os
from pathlib import Path

import pytest

from hindnote.core.places.trust import (
    LIMIT,
    UntrustworthyError,
    set_trusted,
    trust_file,
    trusted_homes,
)


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("hindnote.core.places.trust.person_home", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def file() -> Path:
    file = trust_file()
    assert file is not None
    return file


def test_what_was_set_is_read_again_and_is_this_user_s_alone(file: Path) -> None:
    assert trusted_homes() == frozenset()
    homes = frozenset({Path("/a b/ü"), Path("/c")})

    assert set_trusted(homes) == file

    assert trusted_homes() == homes
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_neither_home_nor_configuration_of_the_environment_moves_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/elsewhere")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")

    assert trust_file() == file


def test_a_user_without_an_entry_trusts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindnote.core.places.trust.person_home", lambda: None)

    assert trust_file() is None
    assert trusted_homes() == frozenset()


@pytest.mark.parametrize("kind", ["pipe", "device", "link", "folder", "huge", "open", "damaged"])
def test_a_list_that_another_may_have_put_there_is_never_believed_nor_waited_for(
    file: Path, kind: str
) -> None:
    set_trusted(frozenset({Path("/a")}))
    data = file.read_bytes()
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "link":
        (file.parent / "other").write_bytes(data)
        file.symlink_to("other")
    elif kind == "folder":
        file.mkdir()
    elif kind == "huge":
        file.write_bytes(data + b" " * LIMIT)
    elif kind == "open":
        file.write_bytes(data)
        file.chmod(0o662)
    else:
        file.write_text('{"homes": 3}')

    with pytest.raises(UntrustworthyError, match="is not used"):
        trusted_homes()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_list_of_another_user_is_never_believed(file: Path) -> None:
    set_trusted(frozenset({Path("/a")}))
    os.chown(file, 65534, -1)

    with pytest.raises(UntrustworthyError, match="others own it"):
        trusted_homes()
