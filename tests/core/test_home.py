from __future__ import annotations

from pathlib import Path

import pytest

from hindnote.core.failures import HostFailure
from hindnote.core.home import notes_home


def test_the_notes_lie_below_the_person_s_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINDNOTE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/someone")

    assert notes_home() == Path("/home/someone/.agents/notes")


@pytest.mark.parametrize(
    ("named", "meant"),
    [("/elsewhere", "/elsewhere"), ("~/notes", "/home/someone/notes"), ("notes", "{cwd}/notes")],
)
def test_the_environment_names_another_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("HINDNOTE_HOME", named)

    assert notes_home() == Path(meant.format(cwd=tmp_path))


def test_an_empty_name_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("HINDNOTE_HOME", "")

    assert notes_home() == Path("/home/someone/.agents/notes")


def test_without_any_home_the_failure_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("HINDNOTE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)

    with pytest.raises(HostFailure, match="HINDNOTE_HOME"):
        notes_home()
