"""Small Pi sessions for the tests of this folder, written the way Pi writes them."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

TIME = "2026-11-30T09:57:58.333Z"


def line(row: dict[str, Any]) -> bytes:
    """Return a row as Pi writes it, its newline included."""
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def header(**more: Any) -> dict[str, Any]:
    """Return a header row."""
    return {"type": "session", "version": 3, "id": "s1", "timestamp": TIME, "cwd": "/w", **more}


def text(text: str) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": text}


def call(call_id: str, name: str = "bash", **arguments: Any) -> dict[str, Any]:
    """Return a tool call block."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


class Writer:
    """Appends entries to a session file, each below the one before unless told otherwise."""

    def __init__(self, path: Path, **more: Any) -> None:
        self.path = path
        self._ids = count(1)
        self.leaf: str | None = None
        path.write_bytes(line(header(**more)))

    def raw(self, data: bytes) -> None:
        """Append bytes."""
        with self.path.open("ab") as file:
            file.write(data)

    def entry(self, type_: str, parent: str | None = "", **more: Any) -> str:
        """Append an entry and return its id."""
        id_ = f"e{next(self._ids)}"
        above = self.leaf if parent == "" else parent
        row = {"type": type_, "id": id_, "parentId": above, "timestamp": TIME, **more}
        self.raw(line(row))
        self.leaf = id_
        return id_

    def user(self, content: Any = "hello", parent: str | None = "") -> str:
        """Append what a person said."""
        return self.entry("message", parent, message={"role": "user", "content": content})

    def answer(self, *blocks: dict[str, Any], stop: str = "stop", parent: str | None = "") -> str:
        """Append an answer of the model."""
        message = {"role": "assistant", "content": list(blocks), "stopReason": stop}
        return self.entry("message", parent, message=message)

    def result(self, call_id: str, output: str = "done", **more: Any) -> str:
        """Append a tool's result."""
        message = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": "bash",
            "content": [text(output)],
            "isError": False,
            **more,
        }
        return self.entry("message", message=message)
