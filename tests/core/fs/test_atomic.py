from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.fs import atomic, handles, state


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    with handles.closing(handles.open_root(tmp_path)) as handle:
        yield handle


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole(tmp_path: Path, root: int) -> None:
    (tmp_path / "x").write_text("old")

    atomic.replace(root, "x", b"new")

    assert (tmp_path / "x").read_text() == "new"
    assert names(tmp_path) == ["x"]


def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path, root: int) -> None:
    (tmp_path / "target").write_text("theirs")
    (tmp_path / "x").symlink_to("target")

    atomic.replace(root, "x", b"new")

    assert not (tmp_path / "x").is_symlink()
    assert (tmp_path / "target").read_text() == "theirs"


def test_a_name_that_is_taken_is_not_created(tmp_path: Path, root: int) -> None:
    atomic.create(root, "x", b"one", mode=0o640, mtime_ns=5_000_000_000)
    with pytest.raises(FileExistsError):
        atomic.create(root, "x", b"two")

    assert (tmp_path / "x").read_text() == "one"
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "x").stat().st_mtime == 5
    assert names(tmp_path) == ["x"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, root: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_text("old")

    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    for write in (atomic.replace, atomic.create):
        with pytest.raises(OSError):
            write(root, "x", b"new")

    assert (tmp_path / "x").read_text() == "old"
    assert names(tmp_path) == ["x"]


def test_sweeping_takes_our_litter_alone(tmp_path: Path, root: int) -> None:
    (tmp_path / f".{'0' * 16}{atomic.TEMPORARY_SUFFIX}").write_text("half")
    theirs = [f"x{atomic.TEMPORARY_SUFFIX}", ".hidden", "note.md"]
    for name in theirs:
        (tmp_path / name).write_text("theirs")

    atomic.sweep(root)

    assert names(tmp_path) == sorted(theirs)


@pytest.mark.parametrize("before", [None, b""])
def test_the_state_folder_is_hidden_from_git_even_after_a_full_disk(
    tmp_path: Path, root: int, before: bytes | None
) -> None:
    if before is not None:
        (tmp_path / ".hindnote").mkdir()
        (tmp_path / ".hindnote/.gitignore").write_bytes(before)

    os.close(state.open_state(root))

    assert (tmp_path / ".hindnote/.gitignore").read_bytes() == b"*\n"


def test_a_gitignore_that_says_something_stays(tmp_path: Path, root: int) -> None:
    (tmp_path / ".hindnote").mkdir()
    (tmp_path / ".hindnote/.gitignore").write_text("*\n!kept\n")

    os.close(state.open_state(root))

    assert (tmp_path / ".hindnote/.gitignore").read_text() == "*\n!kept\n"


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_is_no_folder_is_no_state(tmp_path: Path, root: int, kind: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    if kind == "link":
        (tmp_path / ".hindnote").symlink_to("elsewhere")
    else:
        (tmp_path / ".hindnote").write_text("theirs")

    with pytest.raises(state.NoFolderError) as caught:
        state.open_state(root)

    assert caught.value.is_link == (kind == "link")
    assert names(tmp_path / "elsewhere") == []
