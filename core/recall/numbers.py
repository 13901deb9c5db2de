"""The numbers that stand for words in the index."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from hindnote.core.recall.schema import TERM_BITS
from hindnote.core.recall.words import terms_of

LONG = 48
"""Bytes of a piece from which on it is hardly met again, and not remembered."""


@lru_cache(100_000)
def term_of(word: str) -> int:
    """Return the number that stands for a word."""
    data = word.encode("utf-8", "replace")
    return int.from_bytes(blake2b(data, digest_size=TERM_BITS // 8).digest(), "big")


class _Numbers(dict[bytes, tuple[int, ...]]):
    """By piece of a text: the numbers that stand for its terms. Forgets all when it is full."""

    FULL = 150_000

    def __missing__(self, piece: bytes) -> tuple[int, ...]:
        numbers = tuple(map(term_of, terms_of(piece)))
        if len(piece) < LONG:
            if len(self) >= self.FULL:
                self.clear()
            self[piece] = numbers
        return numbers


numbers_of = _Numbers()


def forget() -> None:
    """Give back the memory of words that were met."""
    numbers_of.clear()
    term_of.cache_clear()
