"""Content blocks of types that hindnote does not know: shown as far as they can be read.

The API adds types faster than anyone follows: ``advisor_tool_result``, ``web_search_result``,
``tool_reference``, ``search_result``, ``container_upload``… Whatever a block is, it is named
in its place, with the names and texts that it holds; what is encoded is left out.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from hindnote.core.history.jsontext import Unreadable, parse

_NAMES = ("title", "tool_name", "name", "url", "uri", "file_id", "error_code")
"""Fields that say what a block is about; they are short."""

_TEXTS = ("text", "stdout", "stderr", "output", "error_message", "content", "resource")
"""Fields that hold what there is to read: a text, a block or a list of blocks."""

_DEEPEST = 16
"""Levels of blocks within blocks that are looked into; the API has three."""


def described(raw: Raw) -> str:
    """Return the names and texts in a block or a list of blocks; empty for what is neither."""
    try:
        return _described(parse(bytes(raw)))
    except Unreadable:
        return ""


def is_failure(raw: Raw) -> bool:
    """Return whether the content of a result says that the tool failed."""
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
    """Return a row's block in its place, and the record that belongs to it.

    ``toolUseResult`` is one for a row; where a row has several results it is nobody's.

    Args:
        row: The row, of any shape.
        ordinal: Blocks of the row before it.
    """
    message = row.get("message") if isinstance(row, dict) else None
    blocks = message.get("content") if isinstance(message, dict) else None
    if not isinstance(blocks, list) or ordinal >= len(blocks):
        return None, None
    results = sum(isinstance(one, dict) and one.get("type") == "tool_result" for one in blocks)
    return blocks[ordinal], row.get("toolUseResult") if results == 1 else None
