from __future__ import annotations

import os
from pathlib import Path

import pytest

from hindnote.core.presentation.models import Bash
from hindnote.core.presentation.output import LIMIT, FullOutput, full_output


def opened(path: Path | str, output: str = "the end") -> FullOutput:
    return full_output(Bash(output=output, full_output_path=str(path)))


def test_a_full_output_is_read_from_the_recorded_path(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"\xff begin\nthe end\n")

    assert opened(log) == FullOutput(log, text="\ufffd begin\nthe end\n")


def test_a_huge_output_is_read_from_its_end_with_a_count(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("x" * 3_000_000 + "the end")

    told = opened(log)

    assert (len(told.text), told.omitted) == (LIMIT, 3_000_007 - LIMIT)


def test_a_file_that_does_not_end_with_the_recorded_output_is_not_shown(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("secret")

    told = opened(secret)

    assert (told.path, told.text) == (None, "")
    assert told.problem == "something else lies there now"
    assert opened(secret, output="").path is None


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "link", "relative", "nul"])
def test_what_is_no_recorded_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    real = tmp_path / "real"
    real.write_text("the end")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(real)

    told = opened({"relative": "real", "nul": f"{real}\0"}.get(kind, path))

    assert told.path is None
    assert told.problem
