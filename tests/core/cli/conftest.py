"""Sessions of two hosts that the commands find in scratch folders."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from time import tzset
from typing import Any

import pytest


class Corpus:
    """Writes sessions; each new one has changed later than the ones before."""

    def __init__(self, folder: Path) -> None:
        self.pi = folder / "agent/sessions/--w--"
        self.claude = folder / "claude/projects/-w"
        self.pi.mkdir(parents=True)
        self.claude.mkdir(parents=True)
        self._changed = 1_796_000_000

    def add_pi(self, name: str, *texts: str, cwd: str = "/w", title: str | None = None) -> Path:
        rows: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": name, "timestamp": time(0), "cwd": cwd}
        ]
        for number, text in enumerate(texts):
            row: dict[str, Any] = {"type": "message", "id": f"{name}{number}"}
            row["parentId"] = f"{name}{number - 1}" if number else None
            row["timestamp"] = time(number)
            rows.append({**row, "message": {"role": "user", "content": text}})
        if title is not None:
            rows.append({"type": "session_info", "id": f"{name}-title", "name": title})
        return self._written(self.pi / f"2026-11-30T09-00-00-000Z_{name}.jsonl", rows)

    def add_claude(self, name: str, *texts: str) -> Path:
        rows = [
            {
                "type": "user",
                "uuid": f"{name}{number}",
                "parentUuid": f"{name}{number - 1}" if number else None,
                "sessionId": name,
                "timestamp": time(number),
                "cwd": "/w",
                "message": {"role": "user", "content": text},
            }
            for number, text in enumerate(texts)
        ]
        return self._written(self.claude / f"{name}.jsonl", rows)

    def add_subagent(self, main: Path, name: str, text: str) -> Path:
        [row] = map(json.loads, main.read_text().splitlines()[:1])
        row |= {"isSidechain": True, "agentId": name, "uuid": name}
        row["message"] = {"role": "user", "content": text}
        folder = main.with_suffix("") / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        return self._written(folder / f"agent-{name}.jsonl", [row])

    def _written(self, file: Path, rows: list[dict[str, Any]]) -> Path:
        lines = (json.dumps(row, separators=(",", ":")) for row in rows)
        file.write_text("".join(f"{line}\n" for line in lines))
        self._changed += 60
        os.utime(file, (self._changed, self._changed))
        return file


def time(minute: int) -> str:
    return f"2026-11-30T09:{minute:02}:00.000Z"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("HINDNOTE_HOME", str(tmp_path / "notes"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as zone:
        zone.setenv("TZ", "UTC")
        tzset()
        yield Corpus(tmp_path)
    tzset()
