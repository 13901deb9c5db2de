"""One line of a transcript, as much of it as the spine needs.

``decode`` reads a line into a ``Row``. A field of another type than Claude Code
writes counts as absent, so that an odd row costs its oddity and not its place in
the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import nan
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from hindnote.core.history.jsontext import Unreadable, may_be_deep, mend, parse
from hindnote.core.history.times import known_instant, seconds

CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system"})
"""Types of the rows that make up the conversation."""


QUEUE = "queue-operation"
"""Type of the rows that record what happens to prompts sent while a turn runs."""


class Block(msgspec.Struct, gc=False):
    """A content block. ``text`` is not decoded: the spine asks whether there is any."""

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
    """Where a prompt came from."""

    kind: str | None = None


class Attachment(msgspec.Struct, gc=False, rename="camel"):
    """What the host put beside the conversation."""

    type: str = ""
    command_mode: str | None = None
    prompt: Raw | UnsetType = UNSET
    origin: Origin | None = None


class Preserved(msgspec.Struct, gc=False, rename="camel"):
    """The rows that a compaction kept word for word, in order."""

    anchor_uuid: str | None = None
    uuids: list[str] = []


class Segment(msgspec.Struct, gc=False, rename="camel"):
    """The same as a chain, by its ends."""

    anchor_uuid: str | None = None
    head_uuid: str | None = None
    tail_uuid: str | None = None


class Compaction(msgspec.Struct, gc=False, rename="camel"):
    """What a compact boundary says of itself."""

    preserved_messages: Preserved | None = None
    preserved_segment: Segment | None = None


class Row(msgspec.Struct, gc=False, rename="camel"):
    """One row of the file. Fields in the order in which they are written decode fastest."""

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
    """Return a line's row.

    Raises:
        Unreadable: The line is no JSON object, or cannot be passed on.
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
    """Return the row on each of some lines; None when they are to be read one by one.

    That is when one of them is blank, damaged, nested deep or odd.
    """
    if any(map(may_be_deep, lines)):
        return None
    try:
        return list(map(_DECODER.decode, lines))
    except (msgspec.MsgspecError, RecursionError):
        return None


def times_of(rows: Sequence[Row]) -> list[float]:
    """Return when rows were written, in seconds since the epoch; NaN when that is unknown."""
    stamps = [row.timestamp for row in rows]
    try:
        # Nearly every row has a time with an offset, and so does this whole list.
        return list(map(datetime.timestamp, stamps))  # type: ignore[arg-type]
    except TypeError:
        return list(map(_instant, stamps))


def _instant(time: datetime | float | None) -> float:
    if isinstance(time, datetime):
        return time.timestamp()
    return nan if time is None else seconds(time)


StructT = TypeVar("StructT", bound=msgspec.Struct)


def _fitting(data: bytes | Raw, shape: type[StructT]) -> StructT:
    """Return the object in ``data``, fields of another type than ``shape`` has left out."""
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
    """Return a time that is written in another way than Claude Code writes it."""
    try:
        return known_instant(msgspec.json.decode(raw, type=str))
    except msgspec.ValidationError:
        return None
