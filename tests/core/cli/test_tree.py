from __future__ import annotations

import click
import pytest

from hindnote.core.cli.tree import explained, tell


def test_what_is_in_the_way_of_a_file_is_told_with_its_name() -> None:
    with pytest.raises(click.ClickException, match=r"^/f cannot be changed \(Is a"), explained():
        raise IsADirectoryError(21, "Is a directory", "/f")


def test_a_reader_of_the_output_that_left_is_in_no_file_s_way() -> None:
    with pytest.raises(BrokenPipeError), explained():
        raise BrokenPipeError(32, "Broken pipe")


def test_lines_are_told_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    assert tell(iter(["one", "two"]))
    assert capsys.readouterr().out == "one\ntwo\n"
    assert not tell([])
