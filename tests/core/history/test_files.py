"""Files among sessions that are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hindnote.core.history.files import open_file, read_file
from hindnote.core.history.prefilter import Needles


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "nothing"])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "device":
        place.symlink_to("/dev/zero")

    with pytest.raises(OSError):
        open_file(place)
    with pytest.raises(OSError):
        read_file(place)


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100_000)

    assert read_file(file) == b"x" * 100_000


def test_a_session_that_became_a_pipe_is_not_ruled_out(tmp_path: Path) -> None:
    place = tmp_path / "place"
    os.mkfifo(place)

    assert Needles((b"word",), (), False).may_hold(place)
