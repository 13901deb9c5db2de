"""The content of one slot, decoded from its line on demand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Raw, Struct

from hindnote.core.history.jsontext import (
    Unreadable,
    accepted,
    compact,
    nonempty,
    parse,
    placeholder,
    shaped,
)
from hindnote.core.history.projection import NestedCalls, SlotFacts, SlotKind
from hindnote.core.history.times import recorded
from hindnote.hosts.pi.format.shell import SHELLS, ending

ADDED_WORDS = ("image", "bytes", "bash", "command")
"""Words that ``facts`` adds to the texts of a file: placeholders of images, a command as a
call."""

PASSED_OVER = frozenset({"text", "thinking", "toolCall"})
"""Types of blocks whose text is shown elsewhere, or that have none to show."""


class _LooseMessage(Struct, gc=False):
    """Fields accept any type: a value of the wrong type is ignored instead of raising an error."""

    role: Any = None
    timestamp: Any = None
    content: Raw = Raw()
    summary: Any = None
    toolName: Any = None
    isError: Any = None
    details: Raw = Raw()
    nestedCalls: Raw = Raw()
    command: Any = None
    output: Any = None
    exitCode: Any = None
    cancelled: Any = None
    truncated: Any = None
    fullOutputPath: Any = None


class _LooseEntry(Struct, gc=False):
    type: Any = None
    id: Any = None
    timestamp: Any = None
    summary: Any = None
    content: Raw = Raw()
    message: Raw = Raw()


class _LooseBlock(Struct, gc=False):
    type: Any = None
    text: Any = None
    mimeType: Any = None
    data: Raw = Raw()
    name: Any = None
    arguments: Raw = Raw()


class _Nested(Struct, gc=False):
    calls: list[Raw]
    complete: Any = None


class _Named(Struct, gc=False):
    name: Any = None


class Line:
    """One entry's line, decoded once for all of its slots.

    Args:
        data: The line, which the index accepted.

    Raises:
        msgspec.MsgspecError: The line is not of this type.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._entry = accepted(data, _LooseEntry)
        self._message = shaped(self._entry.message, _LooseMessage) or _LooseMessage()

    def facts(self, kind: SlotKind, ordinal: int) -> SlotFacts:
        """Return the content of a slot.

        Args:
            kind: The slot's kind.
            ordinal: Number of the same entry's slots before it: 0 is an answer's text, n its nth
                call.
        """
        entry, message = self._entry, self._message
        common: dict[str, Any] = {
            "created_at": recorded(entry.timestamp) or recorded(message.timestamp),
            "entry_id": nonempty(entry.id),
        }
        if kind is SlotKind.CALL:
            return SlotFacts(**common, **self._call(ordinal))
        if kind is SlotKind.RESULT:
            return SlotFacts(**common, **_result(message))
        if kind is SlotKind.COMMAND:
            return SlotFacts(**common, **_command(message))
        text = joined(message.content) or joined(entry.content)
        return SlotFacts(
            **common, text=text or nonempty(entry.summary) or nonempty(message.summary) or ""
        )

    def _call(self, ordinal: int) -> dict[str, Any]:
        if not 0 < ordinal <= len(self._calls):
            return {}
        block = self._calls[ordinal - 1]
        raw = bytes(block.arguments)
        return {"tool": nonempty(block.name), "arguments": compact(raw) if raw else None}

    @cached_property
    def _calls(self) -> list[_LooseBlock]:
        return [block for block in _blocks(self._message.content) if block.type == "toolCall"]


def _blocks(content: Raw) -> Iterator[_LooseBlock]:
    if text := shaped(content, str):
        yield _LooseBlock("text", text)
    for raw in shaped(content, list[Raw]) or ():
        if block := shaped(raw, _LooseBlock):
            yield block


def joined(content: Raw) -> str:
    """Return the text of a message's content, block after block, with image placeholders."""
    parts = []
    for block in _blocks(content):
        if block.type == "text" and isinstance(block.text, str):
            parts.append(block.text)
        elif block.type == "image":
            parts.append(_image(block))
        elif nonempty(block.type) not in PASSED_OVER and (
            named := nonempty(block.text) or nonempty(block.type)
        ):
            # A type that this version does not know is shown by its name.
            parts.append(named if nonempty(block.text) else f"[{named}]")
    return "\n".join(parts)


def _image(block: _LooseBlock) -> str:
    named = f"image {block.mimeType}" if nonempty(block.mimeType) else "image"
    return placeholder(named, block.data)


def _result(message: _LooseMessage) -> dict[str, Any]:
    text = joined(message.content)
    failed = message.isError if isinstance(message.isError, bool) else None
    tool = nonempty(message.toolName)
    truncated, path = _truncation(message.details)
    if tool in SHELLS and not truncated and (cut := ending(text, failed, told=False).cut):
        truncated, path = True, cut.group(5)
    return {
        "tool": tool,
        "text": text,
        "failed": failed,
        "output_truncated": truncated,
        "full_output_path": path,
        "nested": _nested(message.nestedCalls),
    }


def _truncation(details: Raw) -> tuple[bool, str | None]:
    data = bytes(details)
    if b'"truncat' not in data and b'"fullOutputPath"' not in data:
        return False, None
    try:
        value = parse(data)
    except Unreadable:
        return False, None
    if not isinstance(value, dict):
        return False, None
    truncation, path = value.get("truncation"), nonempty(value.get("fullOutputPath"))
    cut = isinstance(truncation, dict) and truncation.get("truncated") is True
    # Scripts and MCP tools record only the path, and only for output that they truncated.
    return cut or path is not None, path


def _nested(raw: Raw) -> NestedCalls | None:
    nested = shaped(raw, _Nested)
    if nested is None:
        return None
    names = tuple(nonempty((shaped(call, _Named) or _Named()).name) or "" for call in nested.calls)
    records = tuple(compact(bytes(call)) for call in nested.calls)
    return NestedCalls(records, names, nested.complete is True)


def _command(message: _LooseMessage) -> dict[str, Any]:
    command = message.command
    code = message.exitCode
    known = isinstance(code, int) or message.cancelled is True
    return {
        "tool": "bash",
        "arguments": _arguments(command) if isinstance(command, str) else None,
        "text": nonempty(message.output) or "",
        "failed": (message.cancelled is True or code != 0) if known else None,
        "output_truncated": message.truncated is True,
        "full_output_path": nonempty(message.fullOutputPath),
    }


def _arguments(command: str) -> str:
    return msgspec.json.encode({"command": command}).decode()
