"""Rollouts of Codex made up row by row, where no recording has the case."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]

_seconds = itertools.count()


def thread(number: int) -> str:
    return f"01a23047-1aea-7082-9c17-{number:012}"


def row(kind: str, **payload: Any) -> dict[str, Any]:
    second = next(_seconds) % 3600
    stamp = f"2026-12-01T10:{second // 60:02}:{second % 60:02}.000Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def meta(number: int = 1, **more: Any) -> dict[str, Any]:
    head = {"id": thread(number), "session_id": thread(number), "cwd": "/w"}
    return row("session_meta", **{**head, "timestamp": "2026-12-01T09:00:00Z", **more})


def said(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return row("response_item", type="message", role=role, content=content, **more)


def told(text: str, *kinds: str) -> dict[str, Any]:
    """Return a message of the person's role that says what it is."""
    passed = {"content_item_kinds": list(kinds)}
    return said(text, internal_chat_message_metadata_passthrough=passed)


def call(call_id: str = "c1", name: str = "exec_command", **more: Any) -> dict[str, Any]:
    item = {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}
    return row("response_item", **{**item, **more})


def output(text: Any = "done", call_id: str = "c1", **more: Any) -> dict[str, Any]:
    item = {"type": "function_call_output", "call_id": call_id, "output": text}
    return row("response_item", **{**item, **more})


def outcome(status: str, call_id: str = "c1") -> dict[str, Any]:
    item = {"type": "CommandExecution", "id": call_id, "status": status}
    return row("event_msg", type="item_completed", item=item)


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return row("event_msg", type=kind, **payload)


def encoded(rows: Rows) -> bytes:
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in rows)


def write(home: Path, rows: Rows, number: int = 1, segment: int | None = None) -> Path:
    """Write a thread's file where Codex would keep it."""
    folder = home / "sessions" / "2026" / "12" / "01"
    folder.mkdir(parents=True, exist_ok=True)
    rollout = "" if segment is None else f"_{thread(segment)}"
    file = folder / f"rollout-2026-12-01T10-00-00-{thread(number)}{rollout}.jsonl"
    file.write_bytes(encoded(rows))
    return file


def base(file: Path, rollout: int, rows: Rows | None = None) -> dict[str, Any]:
    """Return what a row says of a past that lies in another file, all of it or its first rows."""
    end = file.stat().st_size if rows is None else len(encoded(rows))
    return {"thread_id": thread(rollout), "end_ordinal_exclusive": 1, "end_byte_offset": end}
