"""One line of a Pi session, as the index needs it: kind, place in the tree, calls.

Nearly every line that Pi writes fits the closed structs here, which validate it while parsing. A
line with an unknown field is parsed as plain JSON, and only fields of the right type are used. So
an unknown format is never an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import isnan
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from hindnote.core.history.jsontext import MAX_DEPTH, Unreadable, parse, too_deep
from hindnote.core.history.times import instant, instants
from hindnote.hosts.pi.format.header import Header, header_of

CONTEXT_TYPES = frozenset({"branch_summary", "compaction", "custom_message"})
CONTEXT_ROLES = frozenset({"branchSummary", "compactionSummary", "custom", "hookMessage"})
"""``hookMessage`` is the name of the role ``custom`` in session version 2."""

ABORTED = frozenset({"aborted", "error"})
"""Stop reasons of an answer whose calls Pi does not run."""

KNOWN_TYPES = CONTEXT_TYPES | {
    "context_edit",
    "custom",
    "label",
    "message",
    "model_change",
    "session_info",
    "thinking_level_change",
    "usage",
}
"""Types that identify Pi's lines when the header is missing."""


class Block(Struct, gc=False, forbid_unknown_fields=True):
    """A block of a message's content."""

    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    arguments: Any = None
    argumentsError: str | None = None
    thinking: str = ""
    thinkingSignature: str | None = None
    data: Raw = Raw()
    mimeType: str = ""


class _Message(Struct, gc=False, forbid_unknown_fields=True, tag_field="role"):
    timestamp: float | None = None


class User(_Message, tag="user", gc=False):
    """A message that the person sent."""

    content: list[Block] | str = ""


class Assistant(Struct, tag="assistant", tag_field="role", gc=False):
    """One answer of the model.

    Not closed: it has many more fields, none of which is ever shown.
    """

    timestamp: float | None = None
    content: list[Block] = []
    stopReason: str | None = None


class ToolResult(_Message, tag="toolResult", gc=False):
    """A tool call's result."""

    toolCallId: str = ""
    toolName: str = ""
    content: list[Block] | str = ""
    details: Any = None
    isError: bool | None = None
    durationMs: float | None = None
    nestedCalls: Any = None


class Command(_Message, tag="bashExecution", gc=False):
    """A command that the person ran."""

    command: str = ""
    output: str = ""
    exitCode: float | None = None
    cancelled: bool | None = None
    truncated: bool | None = None
    fullOutputPath: str | None = None
    excludeFromContext: bool | None = None


class Custom(_Message, tag="custom", gc=False):
    """An extension's message."""

    customType: str | None = None
    content: list[Block] | str = ""
    display: Any = None
    details: Any = None


class System(_Message, tag="system", gc=False):
    """A system prompt, or a change of it."""

    content: Any = None
    sections: Any = None
    toolsAdded: Any = None
    toolsRemoved: Any = None


class Entry(Struct, gc=False, forbid_unknown_fields=True):
    """One entry. An entry without the key ``parentId`` follows the one before it."""

    type: str
    id: str = ""
    parentId: str | None | UnsetType = UNSET
    timestamp: Annotated[datetime, Meta(tz=True)] | float | None = None
    message: User | Assistant | ToolResult | Command | Custom | System | None = None
    name: str | None = None
    customType: str | None = None
    data: Any = None
    content: Any = None
    display: Any = None
    details: Any = None
    targetId: str | None = None
    label: str | None = None
    provider: str | None = None
    modelId: str | None = None
    thinkingLevel: str | None = None


_LONG = 2 * MAX_DEPTH
"""Minimum length in bytes of a line that is nested too deeply."""

_decode = msgspec.json.Decoder(Entry).decode


def read_rows(lines: Sequence[bytes]) -> list[Entry] | None:
    """Return the entry on each line; None when the lines must be decoded one by one.

    This is so when one of them is blank, damaged or does not fit the structs.
    """
    try:
        rows = list(map(_decode, lines))
    except (msgspec.MsgspecError, RecursionError):
        return None
    long = (row for row, line in zip(rows, lines, strict=True) if len(line) > _LONG)
    return None if any(map(_is_deep, long)) else rows


def read_row(line: bytes) -> Entry | Header | None:
    """Return the entry or header on a line; None for any other JSON.

    Raises:
        Unreadable: The line is damaged.
    """
    try:
        row = _decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return _picked_row(line)
    if row.type == "session":
        return _picked_row(line)
    if len(line) > _LONG and _is_deep(row):
        raise Unreadable(f"nested deeper than {MAX_DEPTH} levels")
    return row


def _is_deep(row: Entry) -> bool:
    """Return whether one of the fields of any type is nested too deeply."""
    message = row.message
    free: tuple[Any, ...]
    if type(message) is ToolResult:
        if message.details is None and message.nestedCalls is None:
            return False
        free = (message.details, message.nestedCalls)
    elif type(message) is Assistant:
        free = tuple(block.arguments for block in message.content)
    elif type(message) is Custom:
        free = (message.details, message.display)
    elif type(message) is System:
        free = (message.content, message.sections, message.toolsAdded, message.toolsRemoved)
    else:
        free = (row.data, row.content, row.details, row.display)
    return any(map(too_deep, free))


def _picked_row(line: bytes) -> Entry | Header | None:
    value = parse(line)
    if not isinstance(value, dict):
        raise Unreadable("JSON, but no object")
    if value.get("type") == "session":
        return header_of(value)
    return _picked(value)


def _picked(value: dict[str, Any]) -> Entry | None:
    """Return an entry from plain JSON, using only fields of the right type."""
    type_ = value.get("type")
    if not isinstance(type_, str):
        return None
    parent = value.get("parentId", UNSET)
    if not (parent is UNSET or parent is None or isinstance(parent, str)):
        parent = UNSET
    message = value.get("message") if type_ == "message" else None
    return Entry(
        type_,
        id=_text(value, "id"),
        parentId=parent,
        timestamp=_time(value.get("timestamp")),
        message=_picked_message(message) if isinstance(message, dict) else None,
        name=_text(value, "name"),
    )


def _picked_message(
    value: dict[str, Any],
) -> User | Assistant | ToolResult | Command | Custom | None:
    role = _text(value, "role")
    time = value.get("timestamp")
    stamp = time if isinstance(time, int | float) and not isinstance(time, bool) else None
    if role == "user":
        return User(timestamp=stamp)
    if role == "assistant":
        blocks = _picked_blocks(value.get("content"))
        return Assistant(timestamp=stamp, content=blocks, stopReason=_text(value, "stopReason"))
    if role == "toolResult":
        return ToolResult(
            timestamp=stamp,
            toolCallId=_text(value, "toolCallId"),
            toolName=_text(value, "toolName"),
        )
    if role == "bashExecution":
        return Command(timestamp=stamp)
    return Custom(timestamp=stamp) if role in CONTEXT_ROLES else None


def _picked_blocks(content: Any) -> list[Block]:
    if isinstance(content, str):
        return [Block("text", content)]
    if not isinstance(content, list):
        return []
    return [
        Block(_text(item, "type"), _text(item, "text"), _text(item, "id"), _text(item, "name"))
        for item in content
        if isinstance(item, dict)
    ]


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _time(value: Any) -> float | None:
    """Return a recorded time as the struct's own decoder would return it."""
    if isinstance(value, str):
        moment = instant(value)
        return None if isnan(moment) else moment * 1000
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def row_times(rows: Sequence[Entry]) -> list[float]:
    """Return the times of entries in seconds since the epoch; NaN when unknown."""
    times = [row.timestamp for row in rows]
    return instants(times if all(times) else list(map(_row_time, rows)))


def _row_time(row: Entry) -> datetime | float | None:
    if row.timestamp is None and row.message is not None:
        return row.message.timestamp
    return row.timestamp
