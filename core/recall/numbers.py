"""Replace words by numbers: the index stores hashes of words."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from hindnote.core.recall.schema import TERM_BITS
from hindnote.core.recall.words import terms_of

LONG = 48
"""Length in bytes from which on a piece is not cached, because it hardly occurs again."""


@lru_cache(100_000)
def term_of(word: str) -> int:
    """Return the number that stands for a word."""
    data = word.encode("utf-8", "replace")
    return int.from_bytes(blake2b(data, digest_size=TERM_BITS // 8).digest(), "big")


class _Numbers(dict[bytes, tuple[int, ...]]):
    """Cache of the term numbers of a text's pieces. It is emptied when it is full."""

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
    """Empty the caches of words."""
    numbers_of.clear()
    term_of.cache_clear()
