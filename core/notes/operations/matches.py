"""Find a query's literals in bodies, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.notes.operations.models import Match

if TYPE_CHECKING:
    from hindnote.core.text.matching import Matcher

MATCHES_SHOWN = 20
"""Maximum number of matching lines of one note in a result."""

TRUNCATED = " [truncated]"

LINE_SHOWN = 300
"""Maximum length of a line in a result, in code points; a longer one is shortened to an
excerpt."""

_BEFORE = 60
"""Code points of a long line that an excerpt shows before its match."""


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
    """Return a matching line; for a long line, an excerpt around the match.

    Args:
        number: The line's number.
        offset: Position of the line in the body, in code points.
        line: The line.
        at: Position of the match in the line, in code points.
        start: Where the excerpt begins; by default a little before the match.
    """
    if len(line) <= LINE_SHOWN:
        return Match(line=number, offset_chars=offset + at, text=line)
    if start is None:
        start = max(0, min(at - _BEFORE, len(line) - LINE_SHOWN))
    text = line[start : start + LINE_SHOWN] + TRUNCATED
    where = {"excerpt_offset_chars": offset + start} if start else {}
    return Match(line=number, offset_chars=offset + at, text=text, truncated=True, **where)


def cut(match: Match, chars: int) -> Match:
    """Return a match with its text cut to a number of code points."""
    text = match.text.removesuffix(TRUNCATED) if match.truncated else match.text
    return match.model_copy(update={"text": text[:chars] + TRUNCATED, "truncated": True})
