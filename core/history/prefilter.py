r"""Rule out sessions by the bytes of their files, without decoding them.

For each literal of a query a *needle* is chosen: letters that the file's bytes must contain if a
document of the session contains the literal. No hit may be lost, because:

- Documents consist of the file's JSON strings, of JSON texts from the file, and of
  a few words that the core and the decoder add. So a needle is not part of such a
  word, and contains only letters: numbers may be printed differently, other characters
  may be escaped, or occur where two parts were joined.
- JSON writes a letter as itself or as a ``\u`` escape. A file with an escape
  that could be a letter, or one of the short ones, is never ruled out.
- Non-ASCII characters that fold to an ASCII letter (``K``, ``ſ``, ``İ``, ``ı``)
  count as a possible match, unless the needle has no such letter.
- A non-ASCII needle is searched for in every spelling and every case.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby, product
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.history.files import open_file
from hindnote.core.text.spellings import clusters, spellings

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.text.matching import Matcher

CORE_WORDS = (
    "call",
    "arguments",
    "status",
    "ok",
    "error",
    "pending",
    "unanswered",
    "unknown",
    "output",
    "full",
    "nested",
    "calls",
    "complete",
    "incomplete",
)
"""Words that the core itself adds to documents."""

SHORTEST = 3
"""Minimum length of an ASCII needle, in letters."""

PLAIN_FROM = 5
"""Minimum length at which a needle without twins is preferred to a longer one with twins."""

WIDE_CLUSTERS = 32
VARIANTS_LIMIT = 64
"""Maximum number of ways to write one non-ASCII needle."""

CHUNK = 4 << 20
OVERLAP = 1 << 10
"""Bytes of each chunk that are read again with the next one; no needle is longer."""

_TWINS = ("\u212a".encode(), "\u017f".encode(), "\u0130".encode(), "\u0131".encode())
_TWINNED = re.compile("[ksi]")

# Matches all escapes except those of control characters without a short form: any other \uXXXX
# could be a letter, or be printed as a short escape that contains a letter.
_TELLING = re.compile(rb"\\u(?!00(?:0[0-7bBeEfF]|1))")
_TELLING_RG = r"\\u(?:[1-9a-fA-F]|0[1-9a-fA-F]|00[2-9a-fA-F]|000[89aAcCdD])"

_CASED_BELOW = 0x1F000


class Needles(Struct, frozen=True):
    """Byte strings of which a file must contain one to contain a match of a query."""

    ascii: tuple[bytes, ...] = ()
    """In lower case; searched for in lower-cased bytes."""

    wide: tuple[bytes, ...] = ()
    """Searched for as they are."""

    twinned: bool = False
    """Whether one of the ASCII needles has letters to which other characters fold."""

    @classmethod
    def of(cls, matcher: Matcher, words: Iterable[str]) -> Needles | None:
        """Return the needles of a query; None if some literal has no needle.

        Args:
            matcher: The query.
            words: Lower-case ASCII words that documents may add to the file's content.
        """
        added = (*CORE_WORDS, *words)
        ascii_ones: list[str] = []
        wide: list[bytes] = []
        for literal in matcher.literals:
            letters = _ascii_needle(literal, added)
            if letters is not None:
                ascii_ones.append(letters)
            elif spelled := _wide_needle(literal):
                wide.extend(spelled)
            else:
                return None
        return cls(
            tuple(letters.encode() for letters in ascii_ones),
            tuple(wide),
            any(map(_TWINNED.search, ascii_ones)),
        )

    def may_hold(self, path: Path) -> bool:
        """Return whether a file may contain a match; True when it cannot be read."""
        try:
            with os.fdopen(open_file(path), "rb", buffering=0) as file:
                return any(map(self.in_bytes, _chunks(file.read)))
        except OSError:
            return True

    def in_bytes(self, data: bytes) -> bool:
        """Return whether bytes of a JSON Lines file may contain a match."""
        # Plain loops, since this is called for every line that a search reads.
        for needle in self.wide:
            if needle in data:
                return True
        if self.twinned and not data.isascii() and any(twin in data for twin in _TWINS):
            return True
        if self.ascii:
            lowered = data.lower()
            for needle in self.ascii:
                if needle in lowered:
                    return True
        return b"\\u" in data and _has_telling_escape(data)

    def pattern(self) -> str:
        """Return a ripgrep pattern that matches all bytes which ``in_bytes`` may accept."""
        parts = [f"(?i-u:{needle.decode()})" for needle in self.ascii]
        wide = (*self.wide, *(_TWINS if self.twinned else ()))
        parts.extend("(?-u:" + "".join(f"\\x{byte:02X}" for byte in one) + ")" for one in wide)
        return "|".join([*parts, f"(?-u:{_TELLING_RG})"])


def _chunks(read: Callable[[int], bytes | None]) -> Iterator[bytes]:
    before = b""
    while chunk := read(CHUNK):
        yield before + chunk
        before = chunk[-OVERLAP:]


def _has_telling_escape(data: bytes) -> bool:
    # Also one whose backslash is itself escaped: a string may hold a JSON text of its own.
    return _TELLING.search(data) is not None


# -- needles -------------------------------------------------------------------


def _ascii_needle(literal: str, added: Sequence[str]) -> str | None:
    """Return the run of ASCII letters in a literal that excludes most files."""
    best = ""
    for single, run in groupby(clusters(literal), lambda one: one.isascii() and one.isalpha()):
        letters = "".join(run).lower()
        if not single or len(letters) < SHORTEST or _within(letters, added):
            continue
        plain = max(_TWINNED.split(letters), key=len)
        if len(plain) >= PLAIN_FROM and not _within(plain, added):
            letters = plain
        best = max(best, letters, key=len)
    return best[: OVERLAP // 2] or None


def _within(letters: str, added: Sequence[str]) -> bool:
    return any(letters in word for word in added)


def _wide_needle(literal: str) -> list[bytes]:
    """Return all ways to write some non-ASCII clusters; empty when there are too many."""
    spelled: list[tuple[str, ...]] = []
    for cluster in clusters(literal):
        if cluster.isascii() or not unicodedata.category(cluster[0]).startswith("L"):
            if spelled:
                break
            continue
        ways = _ways(cluster)
        count = len(ways)
        for earlier in spelled:
            count *= len(earlier)
        if count > VARIANTS_LIMIT or len(spelled) == WIDE_CLUSTERS:
            break
        spelled.append(ways)
    return ["".join(ways).encode() for ways in product(*spelled)] if spelled else []


def _ways(cluster: str) -> tuple[str, ...]:
    """Return every string that one cluster of a query matches."""
    found = {
        "".join(cased)
        for spelling in spellings(cluster)
        for cased in product(*map(_cases, spelling))
    }
    return tuple(sorted(found))


@cache
def _cases(char: str) -> tuple[str, ...]:
    """Return the code points that match this one when case is ignored."""
    return tuple({char, *re.findall(re.escape(char), _cased(), re.IGNORECASE)})


@cache
def _cased() -> str:
    """Return every code point that has a counterpart in another case."""
    return "".join(
        char
        for char in map(chr, range(_CASED_BELOW))
        if char.lower() != char or char.upper() != char or char.casefold() != char
    )
