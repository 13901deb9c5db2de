"""JSON-RPC lines: parse them, print them, and find the id in a line that cannot be parsed.

Uses nothing slower to import than the standard library's ``json``, since a program may wait only a
second for the first answer.
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
"""Since 2026-07-28: the request's protocol version is not supported."""

_DIGITS = 4_300
"""Python refuses to parse integers with more digits."""


class Failed(Exception):
    """A request that ends in a protocol error.

    Args:
        code: One of the codes above.
        message: One line for the program and its user.
        data: Further data that the protocol requires for this error.
    """

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Unreadable(Exception):
    """A line that is not a JSON text.

    Args:
        message: What is wrong with it.
        id: The id of the intended request, if one can be found.
    """

    def __init__(self, message: str, id: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.id = id


def read(line: bytes) -> Any:
    """Return the parsed value of one line.

    A number with more digits than Python can parse becomes infinity, which no field accepts.

    Raises:
        Unreadable: It is not UTF-8, not JSON, or nested too deeply.
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
    """Return one message as a line, including its line end."""
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        # An id may contain a lone surrogate; an escape returns it unchanged.
        return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def is_id(value: Any) -> bool:
    """Return whether a value is a valid request id: a string or a finite number."""
    if isinstance(value, float):
        return value - value == 0
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def result(id: Any, value: dict[str, Any]) -> dict[str, Any]:
    """Return the response to a successful request."""
    return {"jsonrpc": "2.0", "id": id, "result": value}


def error(id: Any, failed: Failed) -> dict[str, Any]:
    """Return the response to a failed request; its id is null when it is not known."""
    told: dict[str, Any] = {"code": failed.code, "message": failed.message}
    if failed.data is not None:
        told["data"] = failed.data
    return {"jsonrpc": "2.0", "id": id if is_id(id) else None, "error": told}


# A string without its end extends to the end of the line, so that each character is read once.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def _salvaged(line: bytes) -> Any:
    """Return the top-level id of an object that cannot be parsed; None when none is found.

    Programs write the id before or after the parameters, which may contain other ids.
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
