"""Find the days and months in a question. Events of that time rank higher; no event is excluded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from math import isfinite

from msgspec import Struct

_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH = "|".join(sorted({*_NAMES, *(name[:3] for name in _NAMES), "Sept"}, key=len, reverse=True))
_DAY = r"(?:[12]?\d|3[01])(?:st|nd|rd|th)?"
_NAMED = re.compile(
    rf"(?:\b(?P<before>{_DAY})\s+(?:of\s+)?)?\b(?P<month>{_MONTH})\b\.?"
    rf"(?:\s+(?P<after>{_DAY})\b(?!\d))?(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?"
)
_ISO = re.compile(r"\b((?:19|20)\d\d)-(0[1-9]|1[0-2])(?:-([0-2]\d|3[01]))?\b")
_LEADING = re.compile(
    r"\b(?:in|of|on|since|until|during|by|last|this|early|late|mid)\s+$", re.IGNORECASE
)

SAME_MONTH = 0.5
"""Fit of an event in the named month but on another day; an event on the named day has 1."""


class Date(Struct, frozen=True):
    """A month that a question names, perhaps with day and year."""

    month: int
    day: int | None = None
    year: int | None = None

    def fits(self, time: float) -> float:
        """Return how well a time fits the date, from 0 to 1."""
        if not isfinite(time):
            return 0.0
        try:
            moment = datetime.fromtimestamp(time, UTC)
        except (ValueError, OverflowError, OSError):
            return 0.0
        if moment.month != self.month or self.year not in (None, moment.year):
            return 0.0
        return 1.0 if self.day in (None, moment.day) else SAME_MONTH


def dates(text: str) -> Iterator[tuple[tuple[int, int], Date]]:
    """Yield the dates in a text, each with start and end.

    A month whose name is also another word, such as May, counts only next to a number or after a
    word such as ``in``.
    """
    for match in _ISO.finditer(text):
        yield match.span(), Date(int(match[2]), _number(match[3]), int(match[1]))
    for match in _NAMED.finditer(text):
        day = match["before"] or match["after"]
        clear = day or match["year"] or _LEADING.search(text[: match.start()])
        if clear or match["month"] not in ("May", "March", "Mar", "April", "June", "Jan", "August"):
            month = next(n for n, name in enumerate(_NAMES, 1) if name[:3] == match["month"][:3])
            yield match.span(), Date(month, _number(day), _number(match["year"]))


def _number(text: str | None) -> int | None:
    """Return the number that a day or year begins with."""
    return int(text.rstrip("stndrh")) if text else None
