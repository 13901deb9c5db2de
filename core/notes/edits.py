"""Edit a body: exact replacements, in order, all or nothing.

A line break in ``old_text`` matches LF and CRLF, and one in ``new_text`` becomes the line end used
at that place. To find both in linear time, the search runs over the body with CRLF converted to
LF, and positions are mapped back.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.notes.note import READ_LIMIT, WRITE_LIMIT
from hindnote.core.text.messages import quote

LINES_SHOWN = 20
"""Maximum number of line numbers in a refusal."""

COUNTING_LIMIT = 50_000_000
"""Approximate maximum number of characters compared to count overlapping occurrences; counting in
a long repetitive text would take minutes."""

_BREAK = re.compile(r"\r?\n")
_LONE = re.compile(r"(?<!\r)\n")


class Replacement(Struct, frozen=True):
    """One requested edit."""

    old: str
    new: str


def apply(
    body: str, edits: Sequence[Replacement], *, replace_all: bool, shown: str
) -> tuple[str, int]:
    """Return the edited body and the number of replacements.

    Args:
        body: The body as it is.
        edits: Applied in order, each to the result of the ones before it.
        replace_all: Replace every occurrence; otherwise each text must occur exactly once.
        shown: The address, for messages.

    Raises:
        Refused: ``no_match`` or ``ambiguous_edit``, naming the edit's index;
            ``too_large`` when the body would grow beyond the read limit.
    """
    applied = 0
    for index, edit in enumerate(edits):
        where = f"edits[{index}] of {quote(shown)}"
        if not edit.old:
            raise Refused("no_match", f"{where}: old_text is empty; give the text to replace")
        text = _Body(body)
        found = list(text.occurrences(edit.old, overlapping=not replace_all))
        if not found:
            raise Refused(
                "no_match",
                f"{where}: old_text {quote(edit.old)} does not occur in the body as the edits "
                "before it leave it; nothing was changed, read the note again",
            )
        if len(found) > 1 and not replace_all:
            raise Refused("ambiguous_edit", _ambiguous(where, edit.old, text, found))
        _check_growth(where, len(body) + len(found) * (len(edit.new) - len(edit.old)))
        body = text.replaced(found, len(_folded(edit.old)), edit.new)
        applied += len(found)
    return body, applied


def _check_growth(where: str, chars: int) -> None:
    """Refuse a too large body before it is built, since it may not fit into memory."""
    if chars > READ_LIMIT:
        raise Refused(
            "too_large",
            f"{where}: the body would have about {chars:,} characters, and a note may have "
            f"{WRITE_LIMIT:,} bytes; nothing was changed, put in less",
        )


def _ambiguous(where: str, old: str, text: _Body, found: Sequence[int]) -> str:
    lines = text.lines(found[:LINES_SHOWN])
    count = f"at least {len(found)}" if _costly(old, len(found)) else str(len(found))
    rest = f" and more, {count} in all" if len(found) > LINES_SHOWN else ""
    numbers = ", ".join(map(str, lines))
    return (
        f"{where}: old_text {quote(old)} occurs {count} times, on lines {numbers}{rest}; "
        "nothing was changed, give more of the text around it, or replace_all"
    )


def _costly(old: str, count: int) -> bool:
    """Return whether to stop counting, since each further occurrence costs its length."""
    return count > LINES_SHOWN and count * len(old) > COUNTING_LIMIT


def _folded(text: str) -> str:
    return text.replace("\r\n", "\n")


class _Body:
    """A body, searched with CRLF as LF; positions refer to the converted text."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._folded = _folded(body)
        # Positions, in the folded text, of the line ends that were CRLF.
        self._crlf = [
            match.start() - count for count, match in enumerate(re.finditer("\r\n", body))
        ]

    def occurrences(self, old: str, *, overlapping: bool) -> Iterator[int]:
        """Yield the start of each occurrence.

        Overlapping ones only while they are cheap to find.
        """
        wanted = _folded(old)
        step = 1 if overlapping else len(wanted)
        start, count = self._folded.find(wanted), 0
        while start >= 0:
            yield start
            count += 1
            if overlapping and _costly(old, count):
                return
            start = self._folded.find(wanted, start + step)

    def lines(self, positions: Sequence[int]) -> list[int]:
        """Return the 1-based line numbers of ascending positions."""
        numbers, line, before = [], 1, 0
        for position in positions:
            line += self._folded.count("\n", before, position)
            before = position
            numbers.append(line)
        return numbers

    def replaced(self, found: Sequence[int], length: int, new: str) -> str:
        """Return the body with the text at each position replaced."""
        pieces, end = [], 0
        for position in found:
            start, stop = self._original(position), self._original(position + length)
            pieces += [self._body[end:start], self._fitted(new, start, stop)]
            end = stop
        return "".join((*pieces, self._body[end:]))

    def _original(self, position: int) -> int:
        """Return the position in the original body; a CRLF before it counts as two characters."""
        return position + bisect_right(self._crlf, position - 1)

    def _fitted(self, new: str, start: int, stop: int) -> str:
        """Return a new text with the line ends that it replaces, then those of the surroundings."""
        if "\n" not in new:
            return new
        ends = _BREAK.findall(self._body, start, stop)
        last = ends[-1] if ends else self._line_end(start, stop)
        replaced = iter(ends)
        return _LONE.sub(lambda _: next(replaced, last), new)

    def _line_end(self, start: int, stop: int) -> str:
        after = self._body.find("\n", stop)
        at = after if after >= 0 else self._body.rfind("\n", 0, start)
        return "\r\n" if at > 0 and self._body[at - 1] == "\r" else "\n"
