"""The matcher that notes and history share: literal texts, any of which may match.

Ignores case by one-to-one folding, and matches canonically equivalent spellings. The regular
expression contains all spellings of the query and runs over the original text, so offsets are code
points of the original. A lower-cased or normalized copy could differ in length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hindnote.core.text.spellings import clusters, spellings

# Single code points that match an ASCII one, by folding or as another spelling of it.
_TO_ASCII = str.maketrans("\u212a\u017f\u0130\u0131\u037e\u1fef", "ksii;`")
_ASCII_SPELLINGS = {";": "[;\u037e]", "`": "[`\u1fef]"}


def stringified(query: str | Sequence[str] | None) -> str | None:
    """Return a hint when a query is the JSON text of a list; None for any other query.

    Some models send a JSON list as one string where the list itself is meant.
    """
    if not isinstance(query, str) or not query.lstrip().startswith("["):
        return None
    try:
        found = json.loads(query)
    except (ValueError, RecursionError):
        return None
    if not found or not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        return None
    return (
        "the query is one text that holds a JSON list, and was searched for as it stands; to search "
        "for any of several texts give query as a list"
    )


class Matcher(Struct, frozen=True):
    """Finds any of several literals in a text."""

    literals: tuple[str, ...]
    """The literals given, without empty ones and duplicates, longest first."""

    _pattern: re.Pattern[str]
    _ascii: tuple[str, ...]
    """The literals that can match in an ASCII text, in lower case."""

    @classmethod
    def from_query(cls, query: str | Sequence[str] | None) -> Matcher | None:
        """Return the matcher for a query; None when the query filters nothing.

        Args:
            query: One literal or several. Empty ones are ignored; if none is left (omitted, empty
                string, empty list), nothing is filtered.
        """
        asked = [query] if isinstance(query, str) else query or []
        literals = sorted(dict.fromkeys(literal for literal in asked if literal), key=_longest)
        if not literals:
            return None
        plain = (literal.translate(_TO_ASCII).lower() for literal in literals)
        return cls(
            literals=tuple(literals),
            _pattern=re.compile("|".join(map(_expression, literals)), re.IGNORECASE),
            _ascii=tuple(dict.fromkeys(literal for literal in plain if literal.isascii())),
        )

    def first(self, text: str) -> tuple[int, int] | None:
        """Return start and end of the first match, in code points; None without a match."""
        if text.isascii():
            # Lower-casing ASCII keeps the length, and a plain search is far faster than the regex.
            return self._first_ascii(text.lower())
        match = self._pattern.search(text)
        return match.span() if match else None

    def count(self, text: str) -> int:
        """Return the number of non-overlapping matches."""
        if text.isascii() and len(self._ascii) < 2:
            return sum(text.lower().count(literal) for literal in self._ascii)
        return sum(1 for _ in self.spans(text))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each non-overlapping match, from left to right."""
        for match in self._pattern.finditer(text):
            yield match.span()

    def _first_ascii(self, lowered: str) -> tuple[int, int] | None:
        best: tuple[int, int] | None = None
        for literal in self._ascii:
            # A match that starts after the best one so far cannot win.
            end = len(lowered) if best is None else best[0] + len(literal) - 1
            start = lowered.find(literal, 0, end)
            if start >= 0:
                best = (start, start + len(literal))
        return best


def _longest(literal: str) -> int:
    return -len(literal)


def _expression(literal: str) -> str:
    """Return the regular expression that matches every spelling of one literal."""
    if literal.isascii():
        return "".join(_ASCII_SPELLINGS.get(char) or re.escape(char) for char in literal)
    return "".join(_alternatives(cluster) for cluster in clusters(literal))


def _alternatives(cluster: str) -> str:
    if cluster.isascii():
        return "".join(_ASCII_SPELLINGS.get(char) or re.escape(char) for char in cluster)
    found = sorted(spellings(cluster), key=lambda one: (-len(one), one))
    shown = [re.escape(one) if one == cluster else _spelled(one) for one in found]
    return shown[0] if len(shown) == 1 else f"(?:{'|'.join(shown)})"


def _spelled(spelling: str) -> str:
    # Case folding would turn U+0130 into a plain "i"; as a spelling it stands for "i" with its
    # dot.
    return re.escape(spelling).replace("\u0130", "(?-i:\u0130)")
