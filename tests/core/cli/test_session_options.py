from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from hindnote.core.cli import session_options
from hindnote.core.cli.session_options import folder, local_time, shown, waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal_for(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in place of the standard error stream; no fixture, since pytest moves it."""
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return seen


def test_a_bar_is_shown_on_a_terminal_once_the_work_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = terminal_for(monkeypatch)
    clock = iter([0.0, 0.4, 0.6])
    monkeypatch.setattr(session_options, "monotonic", lambda: next(clock))

    with waiting("searching") as told:
        told(1, 10)
        assert terminal.getvalue() == ""
        told(3, 10)

    assert "searching" in terminal.getvalue()
    assert "3/10" in terminal.getvalue()


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    with waiting("searching") as told:
        told(1, 10)

    assert terminal.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session_options, "PATIENCE", -1.0)

    with waiting("searching") as told:
        told(1, 10)

    assert capsys.readouterr().err == ""


def test_recorded_text_is_one_line_that_a_terminal_does_not_obey() -> None:
    assert shown("a\x1b[2J\nb\u202ec  d\u2028e\x9b") == r"a\x1b[2J b\u202ec d e\x9b"
    assert shown("abcdef", 4) == "abc…"
    assert shown("abcd", 4) == "abcd"


def test_directories_and_times_are_written_as_people_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))

    assert folder("/home/me/ship") == "~/ship"
    assert folder("/home/me") == "~"
    assert folder("/home/meme") == "/home/meme"
    assert folder(None) == ""
    assert local_time(float("nan")) == local_time(1e300) == ""
