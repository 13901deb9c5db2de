"""JSON text that hosts wrote: strict parsing, repair of lone surrogates, and verbatim output.

``msgspec`` rejects a line with a lone surrogate, escaped or not, and skips numbers out of JSON's
range in fields that are not requested. ``mend`` repairs the first; ``parse`` detects the second.
Text that ``parse`` accepts can be written out again as valid JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

MAX_DEPTH = 512
"""Maximum nesting depth; every supported Python can recurse that deep."""

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
    """A line that is not an acceptable JSON value; the message says why."""


def parse(data: bytes) -> Any:
    """Return the value of one JSON text, with lone surrogates replaced.

    Raises:
        Unreadable: Malformed, NaN or infinite, or a number or nesting beyond the limits.
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
    """Return a part of a text that ``parse`` accepts; None if it is missing or has another type.

    Args:
        raw: The part, left undecoded when its surroundings were decoded.
        shape: The type to decode it as.
    """
    try:
        return msgspec.json.decode(raw, type=shape)
    except (msgspec.ValidationError, RecursionError):
        return None
    except msgspec.MsgspecError:
        # An undecoded part was not checked for valid UTF-8, so an invalid byte is detected only
        # here.
        mended = msgspec.Raw(mend(bytes(raw)))
    return shaped(mended, shape) if bytes(mended) != bytes(raw) else None


def accepted(line: bytes, shape: type[T]) -> T:
    """Decode a line that ``parse`` accepts into a type whose fields accept any value.

    Raises:
        msgspec.MsgspecError: It does not have this type.
    """
    try:
        return msgspec.json.decode(line, type=shape)
    except (msgspec.MsgspecError, RecursionError):
        return msgspec.json.decode(mend(line), type=shape)


def nonempty(value: Any) -> str | None:
    """Return a decoded value if it is a text with at least one character, else None."""
    return value if isinstance(value, str) and value else None


def decoded_by(decode: Callable[[bytes], T], line: bytes) -> T | None:
    """Return a line decoded, mended first if it has lone surrogates or invalid UTF-8.

    Args:
        decode: Decodes a line as one type; raises ``msgspec.MsgspecError``.
        line: Any bytes.

    Returns:
        None when it cannot be decoded.
    """
    try:
        return decode(line)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        return decode(mend(line))
    except (msgspec.MsgspecError, RecursionError):
        return None


def placeholder(name: str, coded: msgspec.Raw) -> str:
    """Return the placeholder for data in a text: ``[image image/png, 12,345 bytes]``.

    Args:
        name: The kind of data.
        coded: The data in base64 as recorded; without size when this is not a string.
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


def may_be_deep(line: bytes) -> bool:
    """Return whether a line has more brackets than levels are allowed, in its texts or outside."""
    size = len(line)
    if size <= 2 * MAX_DEPTH:
        return False
    # Up to Python 3.12 ``count`` takes twice as long: it alone looks at one byte at a time.
    objects = size - len(line.replace(b"{", b""))
    return objects + size - len(line.replace(b"[", b"")) > MAX_DEPTH


def mend(data: bytes) -> bytes:
    """Return ``data`` with each lone surrogate escape and each invalid byte replaced by U+FFFD."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\\u" in data:
        data = _ESCAPE.sub(_mended, data)
    return data if data.isascii() else data.decode("utf-8", "replace").encode()


def _mended(match: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if match.group(1) else match.group()


def compact(raw: bytes) -> str:
    """Return a JSON text on one line without spaces between tokens; keys and numbers verbatim.

    Escapes of ordinary characters are decoded, so that a search finds the character; quotes,
    backslashes and invisible characters stay escaped.

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
