from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hindnote.core import doctor as checks
from hindnote.core.cli.app import make_app
from hindnote.core.doctor import Finding, Level


def doctor(monkeypatch: pytest.MonkeyPatch, *levels: Level, message: str = "m") -> Result:
    findings = [Finding(level, f"s{n}", message, "mend [it]") for n, level in enumerate(levels)]
    monkeypatch.setattr(checks, "examine", lambda home: iter(findings))
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
