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
                first.append(Match(line=number, offset_chars=offset + found[0], text=text))
        offset += len(line) + 1
    return Hits(total, tuple(first))


def cut(match: Match, chars: int) -> Match:
    """Return a match whose line is cut to its first code points."""
    return Match(
        line=match.line,
        offset_chars=match.offset_chars,
        text=match.text[:chars] + TRUNCATED,
        truncated=True,
    )
