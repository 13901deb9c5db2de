"""Content blocks of unknown types: shown as far as they can be read.

The API adds types faster than hindnote can follow: ``advisor_tool_result``, ``web_search_result``,
``tool_reference``, ``search_result``, ``container_upload``… Any such block is shown in its place
by its type, with the names and texts that it contains; encoded data is left out.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from hindnote.core.history.jsontext import Unreadable, parse

_NAMES = ("title", "tool_name", "name", "url", "uri", "file_id", "error_code")
"""Short fields that describe a block."""

_TEXTS = ("text", "stdout", "stderr", "output", "error_message", "content", "resource")
"""Fields with readable content: a text, a block or a list of blocks."""

_DEEPEST = 16
"""Maximum nesting depth of blocks that is read; the API has three levels."""


def described(raw: Raw) -> str:
    """Return the names and texts in a block or a list of blocks; empty for any other value."""
    try:
        return _described(parse(bytes(raw)))
    except Unreadable:
        return ""


def is_failure(raw: Raw) -> bool:
    """Return whether the content of a result has an error code."""
    try:
        value = parse(bytes(raw))
    except Unreadable:
        return False
    return isinstance(value, dict) and "error_code" in value


def _described(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join([part for item in value if (part := _described(item, depth + 1))])
    if not isinstance(value, dict):
        return ""
    names = [name for key in _NAMES if isinstance(name := value.get(key), str) and name]
    texts = [text for key in _TEXTS if (text := _described(value.get(key), depth + 1))]
    type_ = value.get("type")
    if isinstance(type_, str) and type_ and (names or not texts):
        head = f"[{type_} {', '.join(names)}]" if names else f"[{type_}]"
        return "\n".join((head, *texts))
    return "\n".join((*names, *texts))


def result_of(row: Any, ordinal: int) -> tuple[Any, Any]:
    """Return the block of a row at a position, and the row's tool record if it belongs to it.

    A row has at most one ``toolUseResult``; if the row has several results, it belongs to none.

    Args:
        row: The row, of any type.
        ordinal: Number of the row's blocks before it.
    """
    message = row.get("message") if isinstance(row, dict) else None
    blocks = message.get("content") if isinstance(message, dict) else None
    if not isinstance(blocks, list) or ordinal >= len(blocks):
        return None, None
    results = sum(isinstance(one, dict) and one.get("type") == "tool_result" for one in blocks)
    return blocks[ordinal], row.get("toolUseResult") if results == 1 else None
