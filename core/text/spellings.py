"""List the canonically equivalent spellings of a short string.

Unicode can write one text in several ways: ``é`` as one code point or as ``e`` with a mark, ``Å``
as U+00C5 or U+212B, two marks in either order. A search that lists the spellings of its *query*
can run over the original text, so its offsets need no mapping from a normalized copy.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice

SPELLINGS_LIMIT = 1_000
"""Maximum number of spellings listed for one cluster; beyond it only its own, its composed and its
decomposed form."""

# Every block that contains characters with a canonical decomposition, with some room around: a
# scan of all code points would make a first search 0.2 s slower.
_BLOCKS = (
    (0xC0, 0x3400),
    (0xF900, 0xFB50),
    (0x10000, 0x17000),
    (0x1D100, 0x1D200),
    (0x2F800, 0x2FA20),
)

_HANGUL_LEADS = range(0x1100, 0x1113)
_HANGUL_FOLLOWERS = frozenset(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))))


def fold(text: str) -> str:
    """Return ``text`` in lower case, except for characters whose lower case is longer."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def clusters(text: str) -> Iterator[str]:
    """Split ``text`` before each character that cannot combine with the one before it."""
    start = 0
    for index in range(1, len(text)):
        if not _follows(text[index]):
            yield text[start:index]
            start = index
    if text:
        yield text[start:]


def spellings(cluster: str) -> frozenset[str]:
    """Return the spellings that are canonically equivalent to one cluster, ignoring case.

    Contains the cluster itself; each other one stands for all its variants in case.
    """
    decomposed = _decomposed(cluster)
    found = frozenset(islice(_spell(decomposed), SPELLINGS_LIMIT + 1))
    if len(found) > SPELLINGS_LIMIT:
        found = frozenset({decomposed, unicodedata.normalize("NFC", decomposed)})
    return found | {cluster}


def _decomposed(text: str) -> str:
    """Return the folded canonical decomposition, with its marks in canonical order."""
    return unicodedata.normalize("NFD", fold(unicodedata.normalize("NFD", text)))


def _follows(char: str) -> bool:
    first = unicodedata.normalize("NFD", char)[0]
    if unicodedata.combining(first):
        return True
    return not first.isascii() and first in _tables()[1]


@cache
def _tables() -> tuple[dict[str, list[tuple[str, str]]], frozenset[str]]:
    """Return composites by the first code point of their decomposition, and all followers."""
    composites: dict[str, list[tuple[str, str]]] = {}
    followers = set(_HANGUL_FOLLOWERS)
    for block in _BLOCKS:
        for char in map(chr, range(*block)):
            mapping = unicodedata.decomposition(char)
            if mapping and not mapping.startswith("<"):
                full = _decomposed(char)
                composites.setdefault(full[0], []).append((char, full))
                followers.update(unicodedata.normalize("NFD", char)[1:])
    return composites, frozenset(followers)


def _spell(rest: str) -> Iterator[str]:
    """Yield each spelling of a folded decomposition."""
    if not rest:
        yield ""
        return
    for first, behind in _openings(rest):
        for tail in _spell(behind):
            yield first + tail


@lru_cache(maxsize=4_096)
def _openings(rest: str) -> tuple[tuple[str, str], ...]:
    """Return each code point that a spelling can begin with, and the rest left to spell."""
    found = []
    for part in dict.fromkeys(rest):
        behind = _without(rest, part)
        if behind is not None:
            found.append((part, behind))
        for composite, full in _tables()[0].get(part, ()):
            behind = _without(rest, full)
            if behind is not None:
                found.append((composite, behind))
    if ord(rest[0]) in _HANGUL_LEADS:
        # Hangul syllables are composed by arithmetic; no table lists them.
        for length in (2, 3):
            syllable = unicodedata.normalize("NFC", rest[:length])
            if len(rest) >= length and len(syllable) == 1:
                found.append((syllable, rest[length:]))
    return tuple(found)


def _without(rest: str, full: str) -> str | None:
    """Return ``rest`` without the characters of ``full``; None if it does not contain them."""
    left = rest
    for char in full:
        before, there, behind = left.partition(char)
        if not there:
            return None
        left = before + behind
    return left if unicodedata.normalize("NFD", full + left) == rest else None
