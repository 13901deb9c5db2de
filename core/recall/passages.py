"""Choose the part of a text that is shown for a question."""

from __future__ import annotations

from collections.abc import Collection

from hindnote.core.recall.words import placed_among

SHIFT = 24
"""Maximum number of code points by which the start is moved to the beginning of a word."""


def best_start(text: str, terms: Collection[str], limit: int) -> int:
    """Return the start of the ``limit`` code points that contain most of some terms.

    Different terms count more than repeated ones; among equal parts the first is chosen. A text
    that fits begins at 0.
    """
    if len(text) <= limit:
        return 0
    hits = list(placed_among(text, frozenset(terms)))
    best, found = 0, (0, 0)
    last = 0
    for first, ((start, _), _) in enumerate(hits):
        last = max(last, first)
        while last < len(hits) and hits[last][0][1] <= start + limit:
            last += 1
        inside = hits[first:last]
        value = (len({term for _, term in inside}), len(inside))
        if value > found:
            best, found = _centred(start, inside, len(text), limit), value
    return _at_word(text, best)


def _centred(start: int, inside: list[tuple[tuple[int, int], str]], total: int, limit: int) -> int:
    """Return a start with a third of the remaining room before the first hit."""
    spare = limit - (inside[-1][0][1] - start) if inside else limit
    return min(max(0, start - spare // 3), total - limit)


def _at_word(text: str, start: int) -> int:
    """Return the start moved behind the next blank, by at most ``SHIFT``."""
    if start == 0 or text[start - 1].isspace():
        return start
    for place in range(start, min(start + SHIFT, len(text))):
        if text[place].isspace():
            return place + 1
    return start


def spoken_cut(text: str, start: int, limit: int) -> str:
    """Return up to ``limit`` code points from ``start``.

    The end is moved back to the end of a word if one is near.
    """
    piece = text[start : start + limit]
    if start + limit >= len(text) or text[start + limit].isspace():
        return piece
    cut = max(piece.rfind(" "), piece.rfind("\n"))
    return piece[:cut] if cut >= len(piece) - SHIFT and cut > 0 else piece
