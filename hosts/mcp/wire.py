"""JSON-RPC on lines: bytes to values, values to bytes, and the id of a line beyond reading.

Nothing here is heavier than the standard library's ``json``: a program may wait no
longer than a second for the first answer.
"""

from __future__ import annotations

import json
import re
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
"""Since 2026-07-28: the request names a version of the protocol that is not served."""

_DIGITS = 4_300
"""Python refuses to read integers with more digits."""


class Failed(Exception):
    """A request ends in a protocol error.

    Args:
        code: One of the codes above.
        message: One line for the program and its person.
        data: What the protocol asks for beside it.
    """

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Unreadable(Exception):
    """A line is no JSON text.

    Args:
        message: What is wrong with it.
        id: The id of the request that it was to be, if one can be found.
    """

    def __init__(self, message: str, id: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.id = id


def read(line: bytes) -> Any:
    """Return the value of one line.

    A number with more digits than Python reads is infinity, which no field allows.

    Raises:
        Unreadable: It is not UTF-8, no JSON, or nested too deeply.
    """
    try:
        return _decoder.decode(line.decode().strip())
    except UnicodeDecodeError:
        raise Unreadable("the line is not UTF-8", _salvaged(line)) from None
    except RecursionError:
        raise Unreadable("the line is nested too deeply", _salvaged(line)) from None
    except ValueError as error:
        raise Unreadable(f"the line is not JSON: {error}", _salvaged(line)) from None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


_decoder = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)


def write(message: Any) -> bytes:
    """Return one message as a line, its end included."""
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        # An id may hold half a character; as an escape it goes back as it came.
        return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def is_id(value: Any) -> bool:
    """Return whether a request may have this id: a string or a finite number."""
    if isinstance(value, float):
        return value - value == 0
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def result(id: Any, value: dict[str, Any]) -> dict[str, Any]:
    """Return the response to a request that was carried out."""
    return {"jsonrpc": "2.0", "id": id, "result": value}


def error(id: Any, failed: Failed) -> dict[str, Any]:
    """Return the response to a request that failed; its id is null when it is not known."""
    told: dict[str, Any] = {"code": failed.code, "message": failed.message}
    if failed.data is not None:
        told["data"] = failed.data
    return {"jsonrpc": "2.0", "id": id if is_id(id) else None, "error": told}


# A string without its end goes on to the end of the line, so that each letter is seen once.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def _salvaged(line: bytes) -> Any:
    """Return the id at the top of an object that cannot be read; None when none is found.

    Programs write the id before or after the parameters, which may hold other ids.
    """
    depth = 0
    before = ["", ""]
    for match in _TOKEN.finditer(line.decode("utf-8", "replace")):
        token = match.group()
        if depth == 1 and before == ['"id"', ":"]:
            return _scalar(token)
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        before = [before[1], token]
    return None


def _scalar(token: str) -> Any:
    try:
        value = _decoder.decode(token)
    except ValueError:
        return None
    return value if is_id(value) else None
