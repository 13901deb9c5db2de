"""How the index writes down which passages hold a term, and how often.

Each passage of the index has a number. A *run* is of one term: for each passage the
distance of its number from the one before, times four, plus how often the term occurs
there (0: once, to 3: four times or more). Runs are stored as the integers of MessagePack,
a long one compressed, of which the negative number of its postings tells.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from msgspec import msgpack

MOST = 4
"""How often a term counts in one passage, at most."""

LONG = 64
"""Bytes from which on a run is compressed."""

_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(list[int]).decode


def pack(postings: Iterable[int]) -> tuple[int, bytes]:
    """Return how many postings there are, and their run.

    Args:
        postings: Passages' numbers times four plus how often, ascending.
    """
    run, last = [], 0
    for one in postings:
        run.append(one - last)
        last = one & ~3
    count = len(run)
    packed = _encode(run)[1 if count < 16 else 3 if count < 65_536 else 5 :]
    if len(packed) >= LONG and len(squeezed := zlib.compress(packed, 1)) < len(packed):
        return -count, squeezed
    return count, packed


def unpack(count: int, run: bytes) -> list[int]:
    """Return the postings of a run.

    Raises:
        ValueError: The run is not as it was packed.
    """
    if count < 0:
        try:
            count, run = -count, zlib.decompress(run)
        except zlib.error as error:
            raise ValueError(str(error)) from error
    found, last = [], 0
    for number in _decode(b"\xdd" + count.to_bytes(4, "big") + run):
        last += number
        found.append(last)
        last &= ~3
    return found
