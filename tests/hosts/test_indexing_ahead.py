"""A program that stays indexes the sessions that its answer left; one that ends does not."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import command_line, mcp, one_shot, pi, resident

from hindnote.core.recall.schema import state

COUNT = 8
ASKED = {"session": "*", "about": "words of a person"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Sessions of Pi, and so little time that an answer covers one of them."""
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    for number in range(COUNT):
        header = {"type": "session", "version": 3, "id": f"s{number:06d}", "cwd": "/w"}
        message = {"role": "user", "content": f"some words of a person, number {number}"}
        entry = {"type": "message", "id": "e1", "parentId": None, "message": message}
        name = f"2026-11-30T09-00-00-000Z_s{number:06d}.jsonl"
        (sessions / name).write_text(f"{json.dumps(header)}\n{json.dumps(entry)}\n")
    folders = {name: str(tmp_path / name) for name in ("home", "cache", "claude", "agent")}
    return {
        **os.environ,
        "HOME": folders["home"],
        "HINDNOTE_HOME": f"{folders['home']}/notes",
        "XDG_CACHE_HOME": folders["cache"],
        "CLAUDE_CONFIG_DIR": folders["claude"],
        "PI_CODING_AGENT_DIR": folders["agent"],
        "PI_CODING_AGENT_SESSION_DIR": str(sessions),
        "HINDNOTE_SEARCH_SECONDS": "0.000001",
    }


def indexed(environment: dict[str, str]) -> int:
    """Return how many sessions are in the index."""
    files = list(Path(environment["XDG_CACHE_HOME"]).rglob("recall*.sqlite3"))
    return len(state(files[0]).known) if files else 0


@pytest.mark.parametrize("program", [resident, mcp, pi])
def test_a_program_that_stays_goes_on_after_its_answer(
    program: Callable[..., dict[str, Any]], environment: dict[str, str], tmp_path: Path
) -> None:
    def all_are_indexed() -> None:
        deadline = time.monotonic() + 30
        while indexed(environment) < COUNT:
            assert time.monotonic() < deadline, indexed(environment)
            time.sleep(0.02)

    found = program(tmp_path, environment, ASKED, all_are_indexed)

    assert found["sessions_remaining"] > 0
    assert len(found["items"]) > 0


@pytest.mark.parametrize("program", [command_line, one_shot])
def test_a_program_that_ends_with_its_answer_leaves_the_rest_to_the_next_call(
    program: Callable[..., dict[str, Any]], environment: dict[str, str], tmp_path: Path
) -> None:
    found = program(tmp_path, environment, ASKED)

    assert found["sessions_remaining"] == COUNT - indexed(environment) > 0
