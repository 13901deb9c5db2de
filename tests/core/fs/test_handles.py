from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindnote.core.fs import handles


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    with handles.closing(handles.open_root(tmp_path)) as handle:
        yield handle


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outside")
    (folder / "inner").mkdir()
    (folder / "secret").write_text("secret")
    return folder


def test_a_folder_is_opened_level_by_level(tmp_path: Path, root: int) -> None:
    (tmp_path / "a/b").mkdir(parents=True)

    with handles.closing(handles.open_below(root, ("a", "b"))) as handle:
        assert os.path.samestat(os.fstat(handle), (tmp_path / "a/b").stat())


def test_missing_folders_are_made_when_asked_for(tmp_path: Path, root: int) -> None:
    with pytest.raises(FileNotFoundError):
        handles.open_below(root, ("a", "b"))
    os.close(handles.open_below(root, ("a", "b"), make=True))

    assert (tmp_path / "a/b").is_dir()


@pytest.mark.parametrize("make", [False, True])
@pytest.mark.parametrize("names", [("link",), ("link", "inner"), ("link", "new")])
def test_no_level_may_be_a_link(
    tmp_path: Path, root: int, outside: Path, names: tuple[str, ...], make: bool
) -> None:
    (tmp_path / "link").symlink_to(outside)
    before = sorted(outside.iterdir())

    with pytest.raises(OSError) as caught:
        handles.open_below(root, names, make=make)

    assert caught.value.errno in handles.LINK_ERRORS
    assert sorted(outside.iterdir()) == before


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/"])
def test_a_name_never_leads_to_another_folder(root: int, name: str) -> None:
    for use in (handles.open_folder, handles.open_file, handles.make_folder):
        with pytest.raises(ValueError, match="name of one"):
            use(root, name)


@pytest.mark.parametrize("kind", ["link", "circle", "folder", "pipe", "socket"])
def test_what_is_no_file_is_refused_and_never_waited_for(
    tmp_path: Path, root: int, outside: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "x"
    if kind == "link":
        place.symlink_to(outside / "secret")
    elif kind == "circle":
        place.symlink_to(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("x")

    with pytest.raises(handles.NotRegularError):
        handles.read_file(root, "x", 100)


def test_a_file_is_read_up_to_its_limit(tmp_path: Path, root: int) -> None:
    (tmp_path / "x").write_bytes(b"12345")

    assert handles.read_file(root, "x", 5)[0] == b"12345"
    with pytest.raises(handles.TooLargeError) as caught:
        handles.read_file(root, "x", 4)
    assert (caught.value.size, caught.value.limit) == (5, 4)


def test_a_file_with_a_second_name_is_not_ours_to_change(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert handles.is_own((tmp_path / "x").stat())

    (tmp_path / "y").hardlink_to(tmp_path / "x")

    assert not handles.is_own((tmp_path / "x").stat())
    assert not handles.is_own(tmp_path.stat())


def test_no_handle_stays_open_after_an_error(tmp_path: Path, root: int, outside: Path) -> None:
    (tmp_path / "link").symlink_to(outside)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").mkdir()
    unused = os.dup(root)
    os.close(unused)

    for _ in range(3):
        for names in (("link",), ("a", "b"), ("a", "..")):
            with pytest.raises((OSError, ValueError)):
                handles.open_below(root, names)
        with pytest.raises(handles.NotRegularError):
            handles.open_file(root, "pipe")

    again = os.dup(root)
    os.close(again)
    assert again == unused
