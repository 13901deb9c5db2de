"""Read recordings of Codex in the plainest way, to compare hindnote with: ``python reading.py FOLDER``.

Nothing of hindnote's is used. A session is the list of rows behind its files' links, and what is
told of it is written to ``FOLDER/expected.json``.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import zstandard

CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")
OUTPUTS = tuple(kind.removesuffix("_call") + "_output" for kind in CALLS) + (
    "function_call_output",
    "custom_tool_call_output",
)


def rows_of(file: Path) -> list[dict[str, Any]]:
    data = file.read_bytes()
    if file.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    return [json.loads(line) for line in data.splitlines()]


def visible(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a session in order, inherited ones first, without what was taken back."""
    rows = rows_of(file)
    base = rows[0]["payload"].get("history_base")
    before: list[dict[str, Any]] = []
    if base:
        (parent,) = [
            other
            for other in file.parent.glob("rollout-*")
            if other.name.split(".")[0].endswith(base["thread_id"])
        ]
        end = base["end_ordinal_exclusive"]
        before = [row for row in visible(parent) if row["ordinal"] < end]
    for row in rows:
        if row["payload"].get("type") == "thread_rolled_back":
            for _ in range(row["payload"]["num_turns"]):
                last = max(at for at, one in enumerate(before) if spoken(one))
                before = before[:last]
        else:
            before.append(row)
    return before


def spoken(row: dict[str, Any]) -> bool:
    """Return whether a person said it."""
    payload = row["payload"]
    if row["type"] != "response_item" or payload.get("role") != "user":
        return False
    told = payload.get("internal_chat_message_metadata_passthrough", {})
    kinds = told.get("content_item_kinds")
    if kinds is not None:
        return any(kind.startswith("user.") for kind in kinds)
    return not payload["content"][0].get("text", "").startswith("<")


def told_of(file: Path) -> dict[str, Any]:
    rows = visible(file)
    meta = rows_of(file)[0]["payload"]
    said = {"user": [], "assistant": []}  # type: dict[str, list[str]]
    calls: dict[str, dict[str, Any]] = {}
    compactions = 0
    for row in rows:
        payload, kind = row["payload"], row["payload"].get("type")
        if row["type"] == "compacted":
            compactions += 1
        elif row["type"] == "event_msg" and kind == "item_completed":
            item = payload["item"]
            if item["id"] in calls and "status" in item:
                calls[item["id"]]["status"] = item["status"]
        elif row["type"] != "response_item":
            continue
        elif kind == "message" and payload["role"] in said:
            if payload["role"] == "assistant" or spoken(row):
                texts = [part["text"] for part in payload["content"] if "text" in part]
                said[payload["role"]].append("\n".join(texts))
        elif kind in CALLS:
            name = payload.get("name", kind.removesuffix("_call"))
            space = payload.get("namespace")
            calls[payload["call_id"]] = {
                "name": f"{space}/{name}" if space else name,
                "status": None,
                "answered": False,
            }
        elif kind in OUTPUTS:
            calls[payload["call_id"]]["answered"] = True
    return {
        "id": meta["id"],
        "session": meta["session_id"],
        "cwd": meta["cwd"],
        "started": meta["timestamp"],
        "forked_from": meta.get("forked_from_id"),
        "sent_by": meta.get("parent_thread_id"),
        "user": said["user"],
        "assistant": said["assistant"],
        "calls": calls,
        "compactions": compactions,
    }


def main() -> None:
    folder = Path(sys.argv[1])
    files = sorted(folder.rglob("rollout-*"))
    found = {file.relative_to(folder).as_posix(): told_of(file) for file in files}
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (folder / "expected.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
