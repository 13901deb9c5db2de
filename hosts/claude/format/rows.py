"""One line of a transcript, decoded as far as the spine needs it.

``decode`` turns a line into a ``Row``. A field of an unexpected type counts as absent, so an
unusual row loses this field but keeps its place in the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from hindnote.core.history.jsontext import Unreadable, may_be_deep, mend, parse
from hindnote.core.history.times import known_instant

CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system"})
"""Types of the rows that form the conversation."""


QUEUE = "queue-operation"
"""Type of the rows that record what happens to prompts sent during a running turn."""


class Block(msgspec.Struct, gc=False):
    """A content block. ``text`` stays undecoded, since only its presence matters here."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    text: Raw | UnsetType = UNSET


class Message(msgspec.Struct, gc=False):
    """The message of a user or assistant row."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None


class Origin(msgspec.Struct, gc=False, rename="camel"):
    """The origin of a prompt."""

    kind: str | None = None


class Attachment(msgspec.Struct, gc=False, rename="camel"):
    """Data that the host attached to the conversation."""

    type: str = ""
    command_mode: str | None = None
    prompt: Raw | UnsetType = UNSET
    origin: Origin | None = None


class Preserved(msgspec.Struct, gc=False, rename="camel"):
    """The rows that a compaction kept unchanged, in order."""

    anchor_uuid: str | None = None
    uuids: list[str] = []


class Segment(msgspec.Struct, gc=False, rename="camel"):
    """The rows that a compaction kept unchanged, given as the two ends of a chain."""

    anchor_uuid: str | None = None
    head_uuid: str | None = None
    tail_uuid: str | None = None


class Compaction(msgspec.Struct, gc=False, rename="camel"):
    """The metadata of a compact boundary."""

    preserved_messages: Preserved | None = None
    preserved_segment: Segment | None = None


class Row(msgspec.Struct, gc=False, rename="camel"):
    """One row of the file. The field order is the order in the file, which decodes fastest."""

    parent_uuid: str | None | UnsetType = UNSET
    is_sidechain: bool = False
    type: str = ""
    message: Message | None = None
    uuid: str | None = None
    timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | float | None = None
    subtype: str | None = None
    attachment: Attachment | None = None
    rendered: Raw | UnsetType = UNSET
    is_meta: bool = False
    is_compact_summary: bool = False
    is_api_error_message: bool = False
    origin: Origin | None = None
    source_tool_assistant_uuid: str | None = msgspec.field(
        default=None, name="sourceToolAssistantUUID"
    )
    logical_parent_uuid: str | None = None
    compact_metadata: Compaction | None = None
    operation: str | None = None
    content: Raw | UnsetType = UNSET
    reason: Raw | UnsetType = UNSET
    request_id: str | None = None
    api_block_index: int | None = None
    leaf_uuid: str | None | UnsetType = UNSET
    explicit: bool = False
    custom_title: str | None = None
    summary: str | None = None


_DECODER = msgspec.json.Decoder(Row)
_OBJECT = msgspec.json.Decoder(dict[str, Raw])
_NESTED: dict[str, type[msgspec.Struct]] = {
    "message": Message,
    "attachment": Attachment,
    "origin": Origin,
    "compact_metadata": Compaction,
    "preserved_messages": Preserved,
    "preserved_segment": Segment,
}


def decode(line: bytes) -> Row:
    """Return the decoded row of a line.

    Raises:
        Unreadable: The line is not a JSON object, or ``parse`` does not accept it.
    """
    if may_be_deep(line):
        # The decoder skips what nobody asks for, however deep it is.
        parse(line)
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        pass
    if not isinstance(parse(line), dict):
        raise Unreadable("not an object")
    return _fitting(mend(line), Row)


def decode_all(lines: Sequence[bytes]) -> list[Row] | None:
    """Return the row on each line; None when the lines must be decoded one by one.

    This is so when one of them is blank, damaged, deeply nested or has an unexpected type.
    """
    if any(map(may_be_deep, lines)):
        return None
    try:
        return list(map(_DECODER.decode, lines))
    except (msgspec.MsgspecError, RecursionError):
        return None


StructT = TypeVar("StructT", bound=msgspec.Struct)


def _fitting(data: bytes | Raw, shape: type[StructT]) -> StructT:
    """Return the object in ``data`` without the fields whose type does not fit ``shape``."""
    try:
        parts = _OBJECT.decode(data)
    except msgspec.ValidationError:
        return shape()
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(shape):
        raw = parts.get(field.encode_name)
        if raw is None:
            continue
        try:
            kept[field.name] = msgspec.json.decode(raw, type=field.type)
        except msgspec.ValidationError:
            if field.name == "timestamp":
                kept[field.name] = _recorded_time(raw)
            elif field.name in _NESTED:
                kept[field.name] = _fitting(raw, _NESTED[field.name])
            elif field.name == "content" and bytes(raw).startswith(b"["):
                blocks = msgspec.json.decode(raw, type=list[Raw])
                kept[field.name] = [_fitting(block, Block) for block in blocks]
    return shape(**kept)


def _recorded_time(raw: Raw) -> float | None:
    """Return a time that is recorded in another format than Claude Code's."""
    try:
        return known_instant(msgspec.json.decode(raw, type=str))
    except msgspec.ValidationError:
        return None
