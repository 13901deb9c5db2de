r"""Ruling sessions out by the bytes of their files, before any is decoded.

Of each literal of a query a *needle* is taken: letters that stand in the file's
bytes whenever the literal stands in a document of the session. The reasoning, on
which no hit may be lost:

- Documents are made of the file's JSON strings, of JSON texts from the file, and of
  a few words that the core and the decoder add. So a needle is no part of such a
  word, and it holds letters only: numbers may be printed anew, other characters may
  be escaped or stand where two parts were joined.
- A letter stands in JSON as itself, or as a ``\u`` escape. A file with an escape
  that could be a letter, or one of the short ones, is never ruled out.
- What folds to an ASCII letter and is none (``K``, ``ſ``, ``İ``, ``ı``) counts as a
  possible match, unless the needle has no such letter.
- Of a needle beyond ASCII every spelling in every case is looked for.
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
"""Letters that the core's own parts of a document add."""

SHORTEST = 3
"""Letters of an ASCII needle, at least."""

PLAIN_FROM = 5
"""Letters from which a needle without twins is taken, though one with twins is longer."""

WIDE_CLUSTERS = 32
VARIANTS_LIMIT = 64
"""Ways of writing one needle beyond ASCII, at most."""

CHUNK = 4 << 20
OVERLAP = 1 << 10
"""Bytes read again with the next chunk; no needle is longer."""

_TWINS = ("\u212a".encode(), "\u017f".encode(), "\u0130".encode(), "\u0131".encode())
_TWINNED = re.compile("[ksi]")

# Escapes of control characters without a short form; anything else that is spelled
# as \uXXXX could be a letter, or print as a short escape with a letter in it.
_TELLING = re.compile(rb"\\u(?!00(?:0[0-7bBeEfF]|1))")
_TELLING_RG = r"\\u(?:[1-9a-fA-F]|0[1-9a-fA-F]|00[2-9a-fA-F]|000[89aAcCdD])"

_CASED_BELOW = 0x1F000


class Needles(Struct, frozen=True):
    """What a file must hold one of, to hold a match of a query."""

    ascii: tuple[bytes, ...] = ()
    """Lower-case; to be found in lower-cased bytes."""

    wide: tuple[bytes, ...] = ()
    """To be found as they stand."""

    twinned: bool = False
    """Whether one of the ASCII ones has letters that others fold to."""

    @classmethod
    def of(cls, matcher: Matcher, words: Iterable[str]) -> Needles | None:
        """Return the needles of a query; None when one of its literals has none.

        Args:
            matcher: The query.
            words: Lower-case ASCII words that documents may add to what the file holds.
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
        """Return whether a file may hold a match; true when it cannot be read."""
        try:
            with os.fdopen(open_file(path), "rb", buffering=0) as file:
                return any(map(self.in_bytes, _chunks(file.read)))
        except OSError:
            return True

    def in_bytes(self, data: bytes) -> bool:
        """Return whether bytes of a JSON Lines file may hold a match."""
        # Plain loops: this is asked of every line that a search comes by.
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
        """Return a regular expression for ripgrep, for bytes that ``in_bytes`` may accept."""
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
    return any(_unescaped(data, match.start()) for match in _TELLING.finditer(data))


def _unescaped(data: bytes, position: int) -> bool:
    """Return whether the backslash at a position is no second half of an escaped one."""
    start = position
    while start and data[start - 1] == ord("\\"):
        start -= 1
    return start == 0 or (position - start) % 2 == 0


# -- needles -------------------------------------------------------------------


def _ascii_needle(literal: str, added: Sequence[str]) -> str | None:
    """Return the most telling run of ASCII letters in a literal."""
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
    """Return each way of writing some clusters beyond ASCII; none when there are too many."""
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
    """Return each string that a cluster of a query matches."""
    found = {
        "".join(cased)
        for spelling in spellings(cluster)
        for cased in product(*map(_cases, spelling))
    }
    return tuple(sorted(found))


@cache
def _cases(char: str) -> tuple[str, ...]:
    """Return the code points that one matches when case is ignored."""
    return tuple({char, *re.findall(re.escape(char), _cased(), re.IGNORECASE)})


@cache
def _cased() -> str:
    """Return every code point that has another one in another case."""
    return "".join(
        char
        for char in map(chr, range(_CASED_BELOW))
        if char.lower() != char or char.upper() != char or char.casefold() != char
    )
