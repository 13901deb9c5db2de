from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli.app import make_app
from hindnote.core.doctor.findings import Finding, Level
from hindnote.core.history import index_cache


def doctor(monkeypatch: pytest.MonkeyPatch, *levels: Level, message: str = "m") -> Result:
    findings = [Finding(level, f"s{n}", message, "mend [it]") for n, level in enumerate(levels)]
    monkeypatch.setattr("hindnote.core.cli.doctor.examine", lambda home: iter(findings))
    return CliRunner().invoke(make_app(), ["doctor"])


@pytest.mark.parametrize(
    ("levels", "code"),
    [((), 0), (("ok",), 0), (("ok", "warning"), 0), (("warning", "error", "ok"), 1)],
)
def test_the_exit_code_says_whether_something_is_wrong(
    monkeypatch: pytest.MonkeyPatch, levels: tuple[Level, ...], code: int
) -> None:
    assert doctor(monkeypatch, *levels).exit_code == code


def test_each_finding_is_a_line_with_its_advice_below(monkeypatch: pytest.MonkeyPatch) -> None:
    message = "[/] " + "long " * 100 + "end"

    shown = doctor(monkeypatch, "error", message=message).output

    assert f"error    s0: {message}\n         mend [it]\n" in shown


def test_the_home_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "human").mkdir()
    (tmp_path / "human" / "latin.md").write_bytes(b"\xe9")

    result = CliRunner().invoke(make_app(), ["doctor", "--home", str(tmp_path)])

    assert result.exit_code == 1
    assert "latin.md" in result.output


def test_damaged_lines_of_sessions_are_told_with_their_bytes(corpus: Any) -> None:
    whole = corpus.add_pi("aaaaaaaa-1", "one")
    torn = corpus.add_claude("cccccccc-1", "one")
    start = torn.stat().st_size
    with torn.open("a") as file:
        file.write('{"type":"user"\n{"type":"user","uuid":"x","pare\n')

    result = CliRunner().invoke(make_app(), ["doctor", "--sessions"])

    name = "warning  claude:cccccccc-1: "
    assert result.exit_code == 0
    assert f"{name}damaged_lines: 2 in {torn}\n" in result.output
    assert f"{name}byte {start}, 14 bytes: " in result.output
    assert f"{name}byte {start + 15}, 31 bytes: " in result.output
    assert str(whole) not in result.output
    assert "2 looked at" in result.output


def test_a_session_alone_is_told_in_full_and_a_list_is_cut(corpus: Any) -> None:
    file = corpus.add_pi("aaaaaaaa-1", "one")
    with file.open("a") as out:
        out.write("{\n" * 50)

    many = CliRunner().invoke(make_app(), ["doctor", "--sessions", "pi:*"]).output
    one = CliRunner().invoke(make_app(), ["doctor", "--sessions", "aaaa"]).output

    assert "and 30 more damaged lines\n         hindnote doctor --sessions pi:aaaaaaaa-1" in many
    assert many.count(": byte ") == 20
    assert one.count(": byte ") == 50


def test_a_selector_of_no_session_is_refused(corpus: Any) -> None:
    result = CliRunner().invoke(make_app(), ["doctor", "--sessions", "nowhere"])

    assert result.exit_code == 1
    assert "unknown_session" in result.stderr


def test_a_session_that_cannot_be_read_is_wrong(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    corpus.add_claude("cccccccc-1", "one")
    monkeypatch.setattr(index_cache, "LineFile", refuse)

    result = CliRunner().invoke(make_app(), ["doctor", "--sessions"])

    assert result.exit_code == 1
    assert "error    claude:cccccccc-1: " in result.output
    assert "Permission denied" in result.output
