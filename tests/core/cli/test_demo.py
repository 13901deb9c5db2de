"""``hindnote demo``: every operation for real, and nothing of the person's touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from hindnote.core.cli.app import make_app
from hindnote.core.demo import play as script
from hindnote.core.demo.play import Scene, play
from hindnote.core.tools.registry import NAMES


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return list(play())


def test_every_operation_is_played(scenes: list[Scene]) -> None:
    assert {scene.operation for scene in scenes} == set(NAMES)


def test_exactly_one_call_is_refused(scenes: list[Scene]) -> None:
    refused = [scene.answer.result["code"] for scene in scenes if scene.answer.is_error]

    assert refused == ["ambiguous_edit"]


def test_it_shows_a_rename_windows_paging_folding_and_nested_calls(scenes: list[Scene]) -> None:
    results = [scene.answer.result for scene in scenes]

    assert any("rename_from" in result for result in results)
    assert any(result.get("next_offset_chars") for result in results)
    assert any(result.get("page_newer") for result in results)
    assert any(row.get("folded") for result in results for row in result.get("items", ()))
    assert any(result.get("nested_calls", {}).get("call_count") for result in results)
    assert any(result.get("matches_total") for r in results for result in r.get("items", ()))


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home directory in which everything that appears is a fault."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HINDNOTE_HOME", str(tmp_path / "notes"))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_it_touches_nothing_of_the_person_s_and_leaves_nothing_behind(
    person: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    assert len(list(play())) == len(script.PLANS)
    assert list(scratch.iterdir()) == []


def show(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(make_app(), ["demo"])
    assert result.exit_code == 0, result.output
    return result.output


def test_piped_the_forms_are_stacked_and_whole(
    monkeypatch: pytest.MonkeyPatch, scenes: list[Scene]
) -> None:
    shown = show(monkeypatch)

    assert shown.count("  a model reads:\n") == len(scenes)
    assert shown.count("  a script gets:\n") == len(scenes)
    assert "\x1b[" not in shown
    assert not any(line.endswith(" ") for line in shown.splitlines())
    assert '"code": "ambiguous_edit"' in shown


def test_on_a_wide_terminal_the_forms_stand_side_by_side(
    monkeypatch: pytest.MonkeyPatch, scenes: list[Scene]
) -> None:
    shown = show(monkeypatch, FORCE_COLOR="1", COLUMNS="160")

    heads = [line for line in shown.splitlines() if "a model reads" in line]
    assert len(heads) == len(scenes)
    assert all("a script gets" in line for line in heads)
    assert "\x1b[" in shown


def test_on_a_narrow_terminal_the_forms_are_stacked(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = show(monkeypatch, FORCE_COLOR="1", COLUMNS="80")

    assert not any(
        "a model reads" in line and "a script gets" in line for line in shown.splitlines()
    )


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = show(monkeypatch, FORCE_COLOR="1", COLUMNS="160", NO_COLOR="1")

    assert "\x1b[3" not in shown
