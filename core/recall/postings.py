"""How the index writes down which passages hold which terms, and how often.

A *posting* is the number of a passage, times four, plus how often the term occurs there
(0: once, to 3: four times or more). Postings of several terms make a *block*, the
smallest piece that is read: the terms, how many postings each has, and the postings, all
as differences from the one before. The bytes of these integers are sorted by their place,
all lowest bytes first, since the higher ones are nearly all 0, and compressed.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from operator import sub

from msgspec import Struct

MOST = 4
"""Maximum count of a term in one passage."""

BLOCK = 4_000
"""Number of postings after which a block ends."""

LEVEL = 6
"""Compression level; level 9 takes five times as long and saves 1 %."""


class Block(Struct, frozen=True):
    """Terms and their postings."""

    terms: list[int]
    ends: list[int]
    """End of each term's postings."""

    postings: list[int]

    def of(self, term: int) -> list[int]:
        """Return the postings of a term; empty if the block does not contain it."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return []
        return self.postings[self.ends[at - 1] if at else 0 : self.ends[at]]

    def items(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each term with its postings."""
        for term, (start, end) in zip(self.terms, pairwise(chain((0,), self.ends)), strict=True):
            yield term, self.postings[start:end]


def blocks(found: Iterable[tuple[int, Sequence[int]]]) -> Iterator[tuple[int, bytes]]:
    """Yield packed blocks, each with its first term.

    Args:
        found: Terms in ascending order, each with its postings in ascending order.
    """
    terms: list[int] = []
    runs: list[Sequence[int]] = []
    size = 0
    for term, postings in found:
        terms.append(term)
        runs.append(postings)
        size += len(postings)
        if size >= BLOCK:
            yield terms[0], _packed(terms, runs)
            terms, runs, size = [], [], 0
    if terms:
        yield terms[0], _packed(terms, runs)


def _packed(terms: list[int], runs: list[Sequence[int]]) -> bytes:
    postings = list(chain.from_iterable(runs))
    plain = b"".join(
        (
            len(terms).to_bytes(4, "little"),
            _by_place(_differences("q", terms)),
            _by_place(array("i", map(len, runs))),
            _by_place(_differences("i", postings)),
        )
    )
    return zlib.compress(plain, LEVEL)


def unpack(packed: bytes) -> Block:
    """Return an unpacked block.

    Raises:
        ValueError: The bytes are not a packed block.
    """
    try:
        plain = zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    first = 4 + 12 * int.from_bytes(plain[:4], "little")
    middle = first - 4 * int.from_bytes(plain[:4], "little")
    terms = list(accumulate(_from_places("q", plain[4:middle])))
    ends = list(accumulate(_from_places("i", plain[middle:first])))
    postings = list(accumulate(_from_places("i", plain[first:])))
    if len(ends) != len(terms) or (ends[-1] if ends else 0) != len(postings):
        raise ValueError("its parts do not fit together")
    return Block(terms, ends, postings)


def _differences(kind: str, numbers: list[int]) -> array[int]:
    return array(kind, map(sub, numbers, chain((0,), numbers)))


def _by_place(numbers: array[int]) -> bytes:
    data, size = numbers.tobytes(), numbers.itemsize
    return b"".join(data[place::size] for place in range(size))


def _from_places(kind: str, data: bytes) -> array[int]:
    numbers: array[int] = array(kind)
    size = numbers.itemsize
    count, rest = divmod(len(data), size)
    if rest:
        raise ValueError("its length is not that of whole numbers")
    plain = bytearray(len(data))
    for place in range(size):
        plain[place::size] = data[place * count : (place + 1) * count]
    numbers.frombytes(plain)
    return numbers
