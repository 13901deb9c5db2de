"""What the index keeps about a session and its passages, beside the terms."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Mapping, Sequence

from msgspec import Struct

Terms = Mapping[int, Sequence[int]]
"""By term: its postings, with passages numbered from 0."""


class Known(Struct, frozen=True):
    """One indexed session."""

    number: int
    stamp: str
    """What its file was like when it was indexed."""

    slots: int
    """Slots of its branch that are indexed for good, and a sum of them."""

    sum: int
    size: int
    """Bytes of its file, and a sum of them."""

    file_sum: int
    passages: int
    settled: int
    """Passages of those slots; further ones are the tail."""

    words: int
    tail: int | None = None
    """The segment of what is not settled."""


class Held(Struct):
    """What is known of each passage of a session."""

    seqs: array[int]
    lengths: array[int]
    kinds: bytes
    """What the caller knows a passage by: a role, say."""

    times: array[float]
    keys: array[int]
    """The same for copies of one event; 0 for none."""

    @classmethod
    def empty(cls) -> Held:
        """Return that of a session without passages."""
        return cls(array("q"), array("I"), b"", array("d"), array("q"))

    def first(self, count: int) -> Held:
        """Return the first passages."""
        parts = (self.seqs, self.lengths, self.kinds, self.times, self.keys)
        return Held(*(part[:count] for part in parts))  # type: ignore[arg-type]

    def __add__(self, other: Held) -> Held:
        """Return the passages of both."""
        return Held(
            self.seqs + other.seqs,
            self.lengths + other.lengths,
            self.kinds + other.kinds,
            self.times + other.times,
            self.keys + other.keys,
        )

    def pack(self) -> bytes:
        """Return all of it as bytes."""
        parts = (self.seqs, self.lengths, self.times, self.keys)
        return zlib.compress(b"".join([*(part.tobytes() for part in parts), self.kinds]), 1)

    @classmethod
    def unpack(cls, packed: bytes) -> Held:
        """Return what was packed.

        Raises:
            ValueError: It is not what was packed.
        """
        try:
            plain = zlib.decompress(packed)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        count, rest = divmod(len(plain), 29)
        if rest:
            raise ValueError("its length is not that of whole passages")
        made, at = cls.empty(), 0
        for part in (made.seqs, made.lengths, made.times, made.keys):
            part.frombytes(plain[at : at + count * part.itemsize])
            at += count * part.itemsize
        made.kinds = plain[at:]
        return made


class Entry(Struct):
    """One session to be written: as a whole, or what it has grown by."""

    name: str
    file: str
    stamp: str
    slots: int
    sum: int
    size: int
    file_sum: int
    held: Held
    """Of all its passages."""

    place: int
    """The first of its passages that is new."""

    settled: int
    """Passages up to which it is settled."""

    first: int
    """Number of its first new passage in the batch."""

    tail: Terms
    """Of the passages that are not settled."""

    seen: Known | None = None
    """What it has grown from; None for a session as a whole."""
