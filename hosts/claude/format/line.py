"""The content of one slot, decoded from its row on demand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from msgspec import Raw, Struct

from hindnote.core.history.jsontext import accepted, compact, placeholder, shaped
from hindnote.core.history.projection import SlotFacts, SlotKind
from hindnote.core.history.times import recorded
from hindnote.hosts.claude.format.blocks import described, is_failure
from hindnote.hosts.claude.format.kinds import THOUGHTS, is_result
from hindnote.hosts.claude.format.rows import QUEUE

_PERSISTED = re.compile(r"\A<persisted-output>\n[^\n]*\bFull output saved to: ([^\n]+)\n")
"""Beginning of a result that the host truncated, after saving its full text to a file."""

ADDED_WORDS = ("bytes",)
"""Words that ``facts`` adds to the texts of a file, in placeholders for media."""


class _LooseMessage(Struct, gc=False):
    content: Raw = Raw()


class _Attachment(Struct, gc=False):
    type: Any = None
    prompt: Raw = Raw()


class _Error(Struct, gc=False):
    formatted: Any = None
    message: Any = None


class _LooseRow(Struct, gc=False, rename="camel"):
    """Fields accept any type: a value of the wrong type is ignored instead of raising an error."""

    type: Any = None
    uuid: Any = None
    timestamp: Any = None
    message: Raw = Raw()
    attachment: Raw = Raw()
    rendered: Raw = Raw()
    error: Raw = Raw()
    content: Raw = Raw()
    tool_use_result: Raw = Raw()


class _Source(Struct, gc=False):
    media_type: Any = None
    data: Raw = Raw()


class _LooseBlock(Struct, gc=False):
    type: Any = None
    text: Any = None
    name: Any = None
    input: Raw = Raw()
    content: Raw = Raw()
    is_error: Any = None
    source: Raw = Raw()
    whole: Raw = Raw()
    """The undecoded block, set when it is taken from its list."""


class _Rendered(Struct, gc=False):
    content: Raw = Raw()


class _Record(Struct, gc=False, rename="camel"):
    """The tool's own record of its run."""

    persisted_output_path: Any = None
    truncated: Any = None


class Line:
    """One row's line, decoded once for all of its slots.

    Args:
        data: The line, which the spine accepted.

    Raises:
        msgspec.MsgspecError: The line is not of this type.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._row = accepted(data, _LooseRow)

    def facts(
        self,
        kind: SlotKind,
        ordinal: int,
        tool: str | None,
        further: Iterable[tuple[Line, int]] = (),
    ) -> SlotFacts:
        """Return the content of a slot.

        Args:
            kind: The slot's kind.
            ordinal: Number of the same row's slots before it.
            tool: Name of a result's tool, which the row itself does not contain.
            further: Lines and ordinals of an answer's other text blocks.
        """
        row = self._row
        common: dict[str, Any] = {
            "created_at": recorded(row.timestamp),
            "entry_id": _entry_id(row, ordinal),
        }
        if kind is SlotKind.CALL:
            return SlotFacts(**common, **_call(self._block(ordinal)))
        if kind is SlotKind.RESULT:
            return SlotFacts(**common, tool=tool, **_result(self._block(ordinal), row))
        if kind is SlotKind.ASSISTANT:
            parts = [self._answer(ordinal), *(line._answer(at) for line, at in further)]
            return SlotFacts(**common, text="\n".join(part for part in parts if part))
        return SlotFacts(**common, text=_spoken(row))

    def _answer(self, ordinal: int) -> str:
        block = self._block(ordinal)
        return "" if block.type in THOUGHTS else _shown(block)

    def _block(self, ordinal: int) -> _LooseBlock:
        return self._blocks[ordinal] if ordinal < len(self._blocks) else _LooseBlock()

    @cached_property
    def _blocks(self) -> list[_LooseBlock]:
        return _blocks(_content(self._row))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _entry_id(row: _LooseRow, ordinal: int) -> str | None:
    if not isinstance(row.uuid, str):
        return None
    return f"{row.uuid}/{ordinal}" if ordinal else row.uuid


# -- content -------------------------------------------------------------------


def _content(row: _LooseRow) -> Raw:
    message = shaped(row.message, _LooseMessage)
    return message.content if message else Raw()


def _blocks(content: Raw) -> list[_LooseBlock]:
    """Return the blocks of a message's content, one per slot; a plain text is one block."""
    text = shaped(content, str)
    if text is not None:
        return [_LooseBlock("text", text)]
    found = []
    for raw in shaped(content, list[Raw]) or ():
        block = shaped(raw, _LooseBlock) or _LooseBlock()
        block.whole = raw
        found.append(block)
    return found


def _joined(blocks: Iterable[_LooseBlock]) -> str:
    """Return the text of blocks, each on its own lines, with placeholders for media."""
    return "\n".join(part for block in blocks if (part := _shown(block)))


def _shown(block: _LooseBlock) -> str:
    """Return the text of a block, or a placeholder: ``[image image/png, 12,345 bytes]``."""
    if block.type == "text":
        return _text(block.text)
    source = shaped(block.source, _Source)
    if source is None:
        return described(block.whole)
    named = f"{_text(block.type)} {_text(source.media_type)}".strip()
    return placeholder(named, source.data)


def _spoken(row: _LooseRow) -> str:
    """Return the text of a row from the person or the program."""
    if row.type == "attachment":
        return _attached(row)
    if row.type == "system":
        return _told(row)
    if row.type == QUEUE:
        return "\n".join(_shown(block) for block in _blocks(row.content))
    return _joined(block for block in _blocks(_content(row)) if not is_result(_text(block.type)))


def _attached(row: _LooseRow) -> str:
    attachment = shaped(row.attachment, _Attachment) or _Attachment()
    if attachment.type == "queued_command":
        return _joined(_blocks(attachment.prompt))
    shown = shaped(row.rendered, list[Raw]) or ()
    return "\n".join(
        _joined(_blocks(item.content)) for raw in shown if (item := shaped(raw, _Rendered))
    )


def _told(row: _LooseRow) -> str:
    error = shaped(row.error, _Error)
    if error is not None:
        return _text(error.formatted) or _text(error.message)
    return shaped(row.content, str) or ""


# -- tools ---------------------------------------------------------------------


def _call(block: _LooseBlock) -> dict[str, Any]:
    raw = bytes(block.input)
    return {"tool": _text(block.name) or None, "arguments": compact(raw) if raw else None}


def _result(block: _LooseBlock, row: _LooseRow) -> dict[str, Any]:
    # The result of a tool on the API's side is one object, or a list of objects.
    single = bytes(block.content).startswith(b"{")
    text = described(block.content) if single else _joined(_blocks(block.content))
    record = shaped(row.tool_use_result, _Record) or _Record()
    notice = _PERSISTED.match(text)
    path = _text(record.persisted_output_path) or (notice.group(1) if notice else "")
    return {
        "text": text,
        # Claude Code omits ``is_error`` on success.
        "failed": block.is_error is True or (single and is_failure(block.content)),
        "output_truncated": bool(path) or record.truncated is True,
        "full_output_path": path or None,
    }
