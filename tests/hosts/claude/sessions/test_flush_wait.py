from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hindnote.hosts.claude.sessions import flush_wait
from hindnote.hosts.claude.sessions.flush_wait import wait_for_call

CALL = "toolu_01"

Step = Callable[[], object]
Plan = Callable[..., list[Step]]


def line(text: str) -> str:
    return json.dumps({"type": "assistant", "message": {"content": [{"id": text}]}}) + "\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Do things one after the other while it is waited, and return what is left to be done."""

    def plan(*steps: Step) -> list[Step]:
        left = list(steps)
        monkeypatch.setattr("time.sleep", lambda _: left.pop(0)())
        return left

    return plan


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine is slow enough to end a wait here; one that does not end fails in ``plan``."""
    monkeypatch.setattr(flush_wait, "LIMIT_SECONDS", 3600)


def test_a_call_that_is_written_is_not_waited_for(file: Path, meanwhile: Plan) -> None:
    file.write_text(line("earlier") + line(CALL))
    meanwhile()

    wait_for_call(file, CALL)


def test_a_session_that_is_not_there_yet_is_waited_for(file: Path, meanwhile: Plan) -> None:
    left = meanwhile(
        lambda: None,
        lambda: file.write_text(line("earlier")),
        lambda: file.write_text(line("earlier") + line(CALL)),
    )

    wait_for_call(file, CALL)

    assert left == []


def test_a_call_that_is_written_in_pieces_is_found(file: Path, meanwhile: Plan) -> None:
    whole = line("earlier") * 5 + line(CALL)
    cuts = range(len(whole) - 30, len(whole) + 1)
    left = meanwhile(*(lambda cut=cut: file.write_text(whole[:cut]) for cut in cuts))

    wait_for_call(file, CALL)

    assert CALL in file.read_text()
    assert len(left) < 30


def test_a_call_is_found_behind_much_that_came_before(file: Path, meanwhile: Plan) -> None:
    file.write_text(line("x" * 99) * 20_000 + line(CALL) + line("x" * 99) * 1_000)
    meanwhile()

    wait_for_call(file, CALL)


@pytest.mark.parametrize("content", [None, "", line("earlier")])
def test_a_call_that_never_comes_is_given_up(
    file: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    monkeypatch.setattr(flush_wait, "LIMIT_SECONDS", 0.02)
    if content is not None:
        file.write_text(content)

    wait_for_call(file, CALL)
