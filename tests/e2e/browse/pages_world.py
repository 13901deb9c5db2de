"""A person's sessions, notes and project, and ``hindnote browse`` over them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data"
SECONDS = 60
HINDNOTE = (sys.executable, "-c", "from hindnote.core.cli import main; main()")
EVIL = "</pre></title><script>alert(1)</script><img src=http://127.0.0.1:9/x onerror=alert(2)>'\"\u202e"


class World:
    """Everything that is browsed, below one folder."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.pi = top / "agent/sessions/--workspace-demo--"
        self.project = top / "ship"
        for folder in (self.pi, self.project / ".git", top / "tmp"):
            folder.mkdir(parents=True)
        shutil.copytree(DATA / "claude", top / "claude/projects/-workspace-demo")
        shutil.copytree(DATA / "pi", self.pi, dirs_exist_ok=True)
        self.environment = {
            **{name: value for name, value in os.environ.items() if "COVERAGE" not in name},
            "PI_CODING_AGENT_DIR": str(top / "agent"),
            "CLAUDE_CONFIG_DIR": str(top / "claude"),
            "HINDNOTE_HOME": str(top / "notes"),
            "XDG_CACHE_HOME": str(top / "cache"),
            "TMPDIR": str(top / "tmp"),
            "PYTHONUNBUFFERED": "1",
        }
        self._add_documents()
        self._add_writer()
        self.call("notes_write", address="@human/habits", content="Ask before you push.\n")
        self.call(
            "notes_write",
            address="@project/decisions",
            content="# Decisions\n\nWe use **DuckDB**.\n\n```python\nconnect('x.db')\n```\n",
        )

    def call(self, name: str, **given: Any) -> None:
        """Call a tool."""
        command = [*HINDNOTE, "call", name, json.dumps(given)]
        subprocess.run(
            command, cwd=self.project, env=self.environment, check=True, capture_output=True
        )

    def add(self, id_: str, *messages: dict[str, Any], title: str = "", cwd: str = "") -> Path:
        """Add a session of Pi."""
        stamp = "2026-11-30T09:00:{:02}.000Z"
        rows: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": id_, "cwd": cwd or str(self.project)}
        ]
        parent = None
        for number, message in enumerate(messages):
            row = {"type": "message", "id": f"{id_}{number}", "parentId": parent}
            rows.append({**row, "timestamp": stamp.format(number % 60), "message": message})
            parent = f"{id_}{number}"
        if title:
            rows.append(
                {"type": "session_info", "id": f"{id_}t", "parentId": parent, "name": title}
            )
        file = self.pi / f"2026-11-30T09-00-00-000Z_{id_}.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return file

    def add_evil(self) -> None:
        """Add a session in which everything would run if a page let it."""
        call = {"type": "toolCall", "id": "c", "name": EVIL, "arguments": {"command": EVIL}}
        result = {"role": "toolResult", "toolCallId": "c", "toolName": EVIL, "isError": True}
        markdown = (
            f"# {EVIL}\n\n[x](javascript:alert(3)) ![y](http://127.0.0.1:9/z)\n\n"
            f"<iframe src=javascript:alert(4)>\n\n```{EVIL}\n{EVIL}\n```\n\n| {EVIL} | b |\n|:-:|-:|\n| 1 | 2 |\n"
        )
        self.add(
            "evilevil",
            {"role": "user", "content": EVIL},
            {"role": "assistant", "content": [{"type": "text", "text": markdown}, call]},
            {**result, "content": [{"type": "text", "text": EVIL}]},
            title=EVIL,
        )

    def _add_documents(self) -> None:
        for folder in ("docs", "todos"):
            (self.project / folder).mkdir()
        (self.project / "docs/release.md").write_text(
            "---\ntitle: How we release\ntags: [ops]\n---\n# How we release\n\n1. Tag.\n2. Wait.\n"
        )
        (self.project / "todos/001-ready-p1-approval.md").write_text(
            "---\nissue_id: '001'\nstatus: ready\npriority: p1\ntitle: Ask for the approval\n---\nSee the log.\n"
        )

    def _add_writer(self) -> None:
        def tool(name: str, id_: str, **given: Any) -> list[dict[str, Any]]:
            call = {"type": "toolCall", "id": id_, "name": name, "arguments": given}
            text = [{"type": "text", "text": "done"}]
            result = {"role": "toolResult", "toolCallId": id_, "toolName": name, "content": text}
            return [{"role": "assistant", "content": [call]}, {**result, "isError": False}]

        address = "@project/decisions"
        edits = [{"old_text": "SQLite", "new_text": "DuckDB"}]
        self.add(
            "writer01",
            {"role": "user", "content": "Write down what we decided."},
            *tool("notes_write", "a", address=address, content="# Decisions\n\nWe use SQLite.\n"),
            *tool("notes_update", "b", address=address, edits=edits),
            title="Decisions",
        )


class Server:
    """``hindnote browse`` in a process of its own."""

    def __init__(self, world: World, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*HINDNOTE, "browse", "--no-open", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            cwd=world.project,
            env=world.environment,
        )
        # A server that says nothing must not hold up the tests.
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split()[1]
        self.door = self.process.stdout.readline().split()[1]
        timer.cancel()

    def end(self) -> None:
        """End it, and wait until it has."""
        self.process.terminate()
        self.process.wait(SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
