"""JSON text that hosts wrote: read strictly, mended where it can be, kept verbatim.

``msgspec`` refuses a line with a lone surrogate, escaped or not, and skips over
numbers that JSON cannot carry when nobody asks for them. ``mend`` makes the first
readable; ``parse`` finds the second. What passes ``parse`` can be written out again
as valid JSON.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

MAX_DEPTH = 512
"""Levels of nesting that are read; every supported Python can walk that deep."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_SPELLED = re.compile(
    r"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4})|.)"
)
_DEEP = f"nested deeper than {MAX_DEPTH} levels"

_decode = msgspec.json.Decoder().decode

T = TypeVar("T")


class Unreadable(ValueError):
    """A line that holds no JSON value which could be passed on; the message says why."""


def parse(data: bytes) -> Any:
    """Return the value of one JSON text, its strings free of lone surrogates.

    Raises:
        Unreadable: Malformed, NaN or infinite, a number or a nesting out of bounds.
    """
    try:
        value = _decoded(data)
    except msgspec.MsgspecError as error:
        raise Unreadable(str(error)) from None
    except RecursionError:
        raise Unreadable(_DEEP) from None
    if len(data) > 2 * MAX_DEPTH and too_deep(value):
        raise Unreadable(_DEEP)
    return value


def _decoded(data: bytes) -> Any:
    try:
        return _decode(data)
    except msgspec.MsgspecError:
        return _decode(mend(data))


def shaped(raw: msgspec.Raw, shape: type[T]) -> T | None:
    """Return a part of a text that ``parse`` accepts; None when it is missing or of another shape.

    Args:
        raw: The part, as it was passed over while its surroundings were decoded.
        shape: Type of what is wanted.
    """
    try:
        return msgspec.json.decode(raw, type=shape)
    except (msgspec.ValidationError, RecursionError):
        return None
    except msgspec.MsgspecError:
        # Passing over looks at no string, so bytes that are no UTF-8 come to light here.
        mended = msgspec.Raw(mend(bytes(raw)))
    return shaped(mended, shape) if bytes(mended) != bytes(raw) else None


def accepted(line: bytes, shape: type[T]) -> T:
    """Return a line that ``parse`` accepts, in a shape whose fields take any value.

    Raises:
        msgspec.MsgspecError: It is of another shape.
    """
    try:
        return msgspec.json.decode(line, type=shape)
    except (msgspec.MsgspecError, RecursionError):
        return msgspec.json.decode(mend(line), type=shape)


def placeholder(name: str, coded: msgspec.Raw) -> str:
    """Return what stands in a text for data: ``[image image/png, 12,345 bytes]``.

    Args:
        name: What it is.
        coded: The data in base64, as the host recorded them; without size when they are no text.
    """
    data = bytes(coded)
    if not data.startswith(b'"'):
        return f"[{name}]"
    return f"[{name}, {len(data[1:-1].rstrip(b'=')) * 3 // 4:,} bytes]"


def too_deep(value: Any) -> bool:
    """Return whether JSON data nests deeper than ``MAX_DEPTH``."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, dict | list)
        ]
    return bool(level)


def mend(data: bytes) -> bytes:
    """Return ``data`` with each lone surrogate escape and each invalid byte as U+FFFD."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\\u" in data:
        data = _ESCAPE.sub(_mended, data)
    return data if data.isascii() else data.decode("utf-8", "replace").encode()


def _mended(match: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if match.group(1) else match.group()


def compact(raw: bytes) -> str:
    """Return a JSON text on one line: no blanks between tokens, keys and numbers verbatim.

    Escapes that only spell an ordinary character are resolved, so that a search
    finds the character; quotes, backslashes and what cannot be seen stay escaped.

    Args:
        raw: A JSON text that ``parse`` accepts.
    """
    text = msgspec.json.format(mend(raw), indent=-1).decode("utf-8", "replace")
    return _SPELLED.sub(_spelled_out, text) if "\\u" in text or "\\/" in text else text


def _spelled_out(match: re.Match[str]) -> str:
    escape = match.group(1)
    if escape is None:
        return "/" if match.group() == "\\/" else match.group()
    char = chr(int(escape[1:5], 16))
    if len(escape) > 5:
        low = int(escape[7:], 16) - 0xDC00
        char = chr(0x10000 + ((ord(char) - 0xD800) << 10) + low)
    return char if char.isprintable() and char not in '"\\' else match.group()
