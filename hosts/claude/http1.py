"""The small part of HTTP/1.1 that one host needs: requests with a content length, and responses."""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress

HEAD_LIMIT = 64 * 1024
"""Maximum size of a request's line and header fields, in bytes."""

SIZE_DIGITS = 18
"""Maximum number of digits in a content length. Python parses no number of more than 4,300."""

DISCARD_SECONDS = 1.0
"""How long to read from a client after its answer."""

_REASONS = {
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    404: "Not Found",
    408: "Request Timeout",
    411: "Length Required",
}
_REASONS |= {413: "Content Too Large", 422: "Unprocessable Content", 500: "Internal Server Error"}


class BadRequest(Exception):
    """A request that cannot be read, with the status code of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def read_request(connection: socket.socket, body_limit: int) -> tuple[str, str, bytes]:
    """Read one request and return method, target and body.

    Args:
        connection: The client's connection.
        body_limit: Maximum size of its body, in bytes.

    Raises:
        BadRequest: It is invalid or too large.
        OSError: The client has disconnected.
    """
    received = bytearray()
    while (end := received.find(b"\r\n\r\n")) < 0:
        if len(received) > HEAD_LIMIT:
            raise BadRequest(413, "the header is too large")
        _receive(connection, received, "the header does not end")
    lines = bytes(received[:end]).decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(400, "not an HTTP/1.1 request")
    size = _body_size(lines[1:])
    if size > body_limit:
        raise BadRequest(413, f"the body has {size} bytes; at most {body_limit} are read")
    body = received[end + 4 :]
    while len(body) < size:
        _receive(connection, body, f"the body has {len(body)} of the {size} bytes announced")
    return words[0], words[1], bytes(body[:size])


def discard(connection: socket.socket) -> None:
    """Read and discard what a client sends after its answer, for a short time.

    Closing a connection with unread bytes resets it, possibly before the client has read its
    answer.
    """
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(DISCARD_SECONDS)
        deadline = time.monotonic() + DISCARD_SECONDS
        while connection.recv(65536) and time.monotonic() < deadline:
            pass


def _receive(connection: socket.socket, into: bytearray, missing: str) -> None:
    """Read more of a request.

    Raises:
        BadRequest: The client sends nothing more, or not in time.
        OSError: The client has disconnected.
    """
    try:
        chunk = connection.recv(65536)
    except TimeoutError:
        raise BadRequest(408, f"{missing}, and nothing more came in time") from None
    if not chunk:
        raise BadRequest(400, missing)
    into += chunk


def _body_size(fields: list[str]) -> int:
    """Return the content length in a request's header fields."""
    sizes = set()
    for line in fields:
        name, _, value = line.partition(":")
        if name.lower() == "transfer-encoding":
            raise BadRequest(411, "say how long the body is")
        if name.lower() == "content-length":
            sizes.add(_size(value.strip(" \t")))
    if len(sizes) > 1:
        raise BadRequest(400, "the request has several content lengths")
    return sizes.pop() if sizes else 0


def _size(value: str) -> int:
    if not value.isascii() or not value.isdecimal():
        raise BadRequest(400, "the content length is no number")
    digits = value.lstrip("0") or "0"
    if len(digits) > SIZE_DIGITS:
        raise BadRequest(413, f"the body has a length of {len(digits)} digits")
    return int(digits)


def response(status: int, body: bytes) -> bytes:
    """Return a whole response."""
    head = (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def failure(status: int, message: str) -> bytes:
    """Return the response to an invalid request, in the form of the helper's failures."""
    told = {"failure": {"kind": "request", "message": message}}
    return response(status, json.dumps(told).encode())
