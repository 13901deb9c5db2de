from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# The programs of this folder are imported by its tests under their own name.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def session_count(rounds: Callable[[int], int]) -> int:
    """How many sessions each of two hosts has: more than a process may open, by far."""
    return rounds(4_010) // 2


@pytest.fixture(autouse=True)
def _interpreter_that_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be said of the tests' own environment, which may lie in a temporary folder."""
    monkeypatch.setattr("hindnote.core.install.lasting.temporary_folders", list)


@pytest.fixture(scope="session")
def session_files(tmp_path_factory: pytest.TempPathFactory, session_count: int) -> Path:
    """Return a folder with the sessions of two hosts, which nobody changes."""
    folder = tmp_path_factory.mktemp("sessions")
    projects = folder / "claude" / "projects" / "-w"
    sessions = folder / "pi"
    projects.mkdir(parents=True)
    sessions.mkdir()
    for number in range(session_count):
        # The first and the last one that is looked into are among those that match.
        text = "qz" if number in (0, 1, session_count - 1) else "nothing"
        id_ = f"{number:08d}-bbbb-4ccc-8ddd-eeeeeeeeeeee"
        row = {"parentUuid": None, "type": "user", "uuid": f"u{number}", "sessionId": id_}
        row |= {"cwd": "/w", "timestamp": "2026-11-30T09:00:00.000Z"}
        row["message"] = {"role": "user", "content": text}
        (projects / f"{id_}.jsonl").write_text(json.dumps(row) + "\n")
        header = {"type": "session", "version": 3, "id": f"{number:08d}", "cwd": "/w"}
        entry = {"type": "message", "id": f"e{number}", "parentId": None}
        entry["message"] = {"role": "user", "content": text}
        lines = f"{json.dumps(header)}\n{json.dumps(entry)}\n"
        (sessions / f"2026-11-30T09-00-00-000Z_{number:08d}.jsonl").write_text(lines)
    return folder


@pytest.fixture
def environment(tmp_path: Path, session_files: Path) -> dict[str, str]:
    """Return the variables of a process that finds the sessions, and remembers nothing yet."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": str(session_files / "claude"),
        "PI_CODING_AGENT_SESSION_DIR": str(session_files / "pi"),
        "HINDNOTE_HOME": str(tmp_path / "notes"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HINDNOTE_SEARCH_SECONDS": "120",
    }
