"""Finding a query's literals in bodies, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.notes.operations.models import Match

if TYPE_CHECKING:
    from hindnote.core.text.matching import Matcher

MATCHES_SHOWN = 20
"""Matching lines of one note in a result, at most."""

TRUNCATED = " [truncated]"

LINE_SHOWN = 300
"""Code points of a line in a result, at most; a longer one is an excerpt around its match."""

_BEFORE = 60
"""Code points of a long line before its match."""


class Hits(Struct, frozen=True):
    """The matching lines of one body."""

    total: int
    first: tuple[Match, ...]


def hits(body: str, matcher: Matcher) -> Hits:
    """Return the matching lines of a body; a line ends in LF or CRLF."""
    if matcher.first(body) is None:
        return Hits(0, ())
    total, first, offset = 0, list[Match](), 0
    for number, line in enumerate(body.split("\n"), start=1):
        text = line.removesuffix("\r")
        found = matcher.first(text)
        if found is not None:
            total += 1
            if len(first) < MATCHES_SHOWN:
                first.append(excerpt(number, offset, text, found[0]))
        offset += len(line) + 1
    return Hits(total, tuple(first))


def excerpt(number: int, offset: int, line: str, at: int, start: int | None = None) -> Match:
    """Return a matching line, of a long one the part around its match.

    Args:
        number: The line's number.
        offset: Where the line begins in the body, in code points.
        line: The line.
        at: Where it matches, in code points of the line.
        start: Where to begin a part, by default a little before the match.
    """
    if len(line) <= LINE_SHOWN:
        return Match(line=number, offset_chars=offset + at, text=line)
    if start is None:
        start = max(0, min(at - _BEFORE, len(line) - LINE_SHOWN))
    text = line[start : start + LINE_SHOWN] + TRUNCATED
    where = {"excerpt_offset_chars": offset + start} if start else {}
    return Match(line=number, offset_chars=offset + at, text=text, truncated=True, **where)


def cut(match: Match, chars: int) -> Match:
    """Return a match whose text is cut to its first code points."""
    text = match.text.removesuffix(TRUNCATED) if match.truncated else match.text
    return match.model_copy(update={"text": text[:chars] + TRUNCATED, "truncated": True})
