from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

# The programs of this folder are imported by its tests under their own name.
sys.path.insert(0, str(Path(__file__).parent))

from programs import SESSIONS


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    projects = tmp_path / "claude" / "projects" / "-w"
    sessions = tmp_path / "pi"
    projects.mkdir(parents=True)
    sessions.mkdir()
    for number in range(SESSIONS):
        text = "qz" if number % 50 == 0 else "nothing"
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
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "PI_CODING_AGENT_SESSION_DIR": str(sessions),
        "HINDNOTE_HOME": str(tmp_path / "notes"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
