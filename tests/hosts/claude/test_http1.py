"""Requests of every shape: each gets an answer that says what is wrong."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helper_process import served
from hypothesis import example, given
from hypothesis import strategies as st

from hindnote.hosts.claude import http1, server
from hindnote.hosts.claude.helper import BODY_LIMIT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


@pytest.fixture(scope="module")
def address() -> Iterator[Path]:
    path = Path("/tmp") / f"hindnote-test-{os.getpid()}-http" / "s"
    with served(path):
        yield path


def answered(address: Path, request: bytes, *, ends: bool = False) -> tuple[int, str]:
    """Return the status that a request gets, and what it says.

    Args:
        address: Where to ask.
        request: All that is sent.
        ends: Say that nothing more will come, as no client has to.
    """
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(address))
        client.sendall(request)
        if ends:
            client.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["failure"]["message"]


SIZES = st.one_of(
    st.integers().map(str),
    st.integers(min_value=1, max_value=60_000).map(lambda count: "9" * count),
    st.integers(min_value=1, max_value=60_000).map(lambda count: "0" * count + "3"),
    st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=40),
    st.sampled_from(["", "+3", "-0", "3.0", "3e0", "0x3", "3, 3", "\xb2", "1_0", " 3\t", "None"]),
)


@given(sizes=st.lists(SIZES, max_size=3), body=st.binary(max_size=10), ends=st.just(True))
@example(sizes=["9" * 4_301], body=b"", ends=False)
@example(sizes=["-1"], body=b"abc", ends=False)
@example(sizes=["3", "4"], body=b"abcd", ends=False)
@example(sizes=["3", "03"], body=b"abc", ends=False)
def test_a_content_length_of_any_shape_gets_an_answer(
    address: Path, sizes: list[str], body: bytes, ends: bool
) -> None:
    fields = "".join(f"Content-Length: {size}\r\n" for size in sizes).encode("latin-1")

    status, told = answered(address, b"POST / HTTP/1.1\r\n" + fields + b"\r\n" + body, ends=ends)

    assert status in (400, 413)
    assert told


@pytest.mark.parametrize(
    ("sizes", "status", "said"),
    [
        (["9" * 4_301], 413, "a length of 4301 digits"),
        (["9" * 18], 413, f"at most {BODY_LIMIT}"),
        (["0" * 5_000 + "2"], 400, "no JSON"),
        (["2", "2"], 400, "no JSON"),
        (["2", "3"], 400, "several content lengths"),
        (["\xb2"], 400, "no number"),
        (["5"], 400, "the body has 2 of the 5 bytes announced"),
    ],
)
def test_the_answer_says_what_is_wrong_with_the_length(
    address: Path, sizes: list[str], status: int, said: str
) -> None:
    fields = "".join(f"Content-Length: {size}\r\n" for size in sizes).encode("latin-1")
    request = b"POST / HTTP/1.1\r\n" + fields + b"\r\n{]"

    found, told = answered(address, request, ends=True)

    assert (found, said in told) == (status, True), told


def test_a_client_that_sends_more_than_is_read_gets_its_answer(address: Path) -> None:
    body = b"x" * (3 * BODY_LIMIT)
    head = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)

    assert answered(address, head + body)[0] == 413


def test_a_request_that_does_not_go_on_gets_an_answer(
    address: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.01)

    for begun in (b"", b"POST / HT", b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n{"):
        status, told = answered(address, begun)
        assert (status, "nothing more came in time" in told) == (408, True)


def test_a_client_that_never_stops_sending_is_not_listened_to_for_ever(
    address: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http1, "DISCARD_SECONDS", 0.05)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(address))
        client.sendall(b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while True:
                client.sendall(b"x" * 65536)
