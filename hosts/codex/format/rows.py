"""One row of a rollout, decoded as far as the spine needs it.

A field of an unexpected type counts as absent, so an unusual row loses this field but keeps its
place in the conversation. The fields are those of codex-cli 0.171.0; events whose names end in
``_end`` are from older versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Raw, Struct, field

from hindnote.hosting import Unreadable, instant, may_be_deep, parse, recorded


class Told(Struct, gc=False):
    """Metadata about a message's parts."""

    content_item_kinds: list[str] | None = None


class Item(Struct, gc=False):
    """A completed item in an event."""

    type: str = ""
    id: str = ""
    status: str | None = None


class Payload(Struct, gc=False):
    """The payload of a row."""

    type: str = ""
    role: str = ""
    content: Raw = Raw()
    name: str = ""
    namespace: str | None = None
    call_id: str | None = None
    item: Item | None = None
    num_turns: int = 0
    exit_code: int | None = None
    success: bool | None = None
    result: Raw = Raw()
    internal_chat_message_metadata_passthrough: Told | None = None


class Row(Struct, gc=False):
    """One row. Decoding is fastest with the fields in the order in which Codex writes them."""

    timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | float | None = None
    type: str = ""
    payload: Payload = field(default_factory=Payload)


_decode = msgspec.json.Decoder(Row).decode


def read_rows(lines: Sequence[bytes]) -> list[Row] | None:
    """Return the rows of several lines; None when they must be read one by one.

    That is the case when a line is blank, damaged, deeply nested, or unusual.
    """
    if any(map(may_be_deep, lines)):
        return None
    try:
        return list(map(_decode, lines))
    except (msgspec.MsgspecError, RecursionError):
        return None


def read_row(line: bytes) -> Row:
    """Return the row on a line.

    Raises:
        Unreadable: The line is not a JSON object, or contains values that are not accepted.
    """
    if may_be_deep(line):
        # The decoder skips unknown fields without checking how deeply they are nested.
        parse(line)
    try:
        return _decode(line)
    except (msgspec.MsgspecError, RecursionError):
        value = parse(line)
    if not isinstance(value, dict):
        raise Unreadable("JSON, but no object")
    payload = value.get("payload")
    time = recorded(value.get("timestamp"))
    return Row(
        instant(time) if time else None,
        _text(value, "type"),
        _payload(payload) if isinstance(payload, dict) else Payload(),
    )


def _payload(value: dict[str, Any]) -> Payload:
    item, turns = value.get("item"), value.get("num_turns")
    told = value.get("internal_chat_message_metadata_passthrough")
    kinds = told.get("content_item_kinds") if isinstance(told, dict) else None
    code, success = value.get("exit_code"), value.get("success")
    return Payload(
        _text(value, "type"),
        _text(value, "role"),
        _raw(value.get("content")),
        _text(value, "name"),
        _text(value, "namespace") or None,
        _text(value, "call_id") or None,
        _item(item) if isinstance(item, dict) else None,
        turns if isinstance(turns, int) and _is_number(turns) else 0,
        code if _is_number(code) else None,
        success if isinstance(success, bool) else None,
        _raw(value.get("result")),
        Told([kind for kind in kinds if isinstance(kind, str)])
        if isinstance(kinds, list)
        else None,
    )


def _item(value: dict[str, Any]) -> Item:
    return Item(_text(value, "type"), _text(value, "id"), _text(value, "status") or None)


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31


def _raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value)) if value is not None else Raw()
