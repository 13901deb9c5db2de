from __future__ import annotations

import os
from pathlib import Path

import pytest

from hindnote.core.fs.bounded import read_bounded
from hindnote.core.fs.handles import NotRegularError, TooLargeError


def test_a_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "link").symlink_to("a")

    assert read_bounded(tmp_path / "a", 3) == b"one"
    assert read_bounded(tmp_path / "link") == b"one"


def test_a_larger_one_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(1 << 40)

    with pytest.raises(TooLargeError):
        read_bounded(tmp_path / "huge")


def test_a_file_that_hides_its_size_is_read_to_the_limit() -> None:
    with pytest.raises(TooLargeError):
        read_bounded(Path("/proc/self/maps"), 10)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()

    with pytest.raises(NotRegularError):
        read_bounded(path)
