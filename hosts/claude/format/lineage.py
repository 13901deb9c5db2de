"""Which sessions a transcript of Claude Code was forked from, as its copied rows say.

A fork (``--fork-session``, ``/branch``) begins with the rows of the session that it was made
from. Claude Code 2.1 copies them with ``requestSessionId`` on each assistant row; other
versions put ``forkedFrom`` on every copied row. Both name the session that wrote the row
first, so the fork of a fork names its whole line, the oldest session first.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from hindnote.core.history.ends import Read, first_lines

COPIED_WITHIN = 1 << 28
"""Bytes at the beginning of a file among which copied rows are looked for."""

FIRST_WITHIN = 1 << 20
"""Bytes at the beginning of a file among which the first of them is."""

# A quote within a text is escaped, so none of these is ever found inside of one.
_MARKS = (b'"requestSessionId"', b'"forkedFrom"')
_MARK = re.compile(
    rb'"(?:requestSessionId"\s*:\s*|forkedFrom"\s*:\s*\{\s*"sessionId"\s*:\s*)"([^"\\]+)"'
)
_ANSWER = re.compile(rb'"type"\s*:\s*"assistant"')


class Origin(Struct, frozen=True):
    """A session that rows were copied from."""

    session: str

    forked: str | None
    """When the fork of it wrote its first row, as recorded; None when it has written none."""


class Lineage(Struct, frozen=True):
    """The sessions that one was forked from."""

    ancestors: tuple[Origin, ...]
    """The nearest first."""

    is_final: bool = False
    """Whether nothing that is appended can change them."""


class _LineageRow(Struct):
    timestamp: Any = None


_decode = msgspec.json.Decoder(_LineageRow).decode


def find_lineage(session: str, read: Read, size: int) -> Lineage:
    """Return the sessions that a session was forked from.

    Its own first answer ends what was copied, so nothing behind it is read.

    Args:
        session: Its id.
        read: Reads the file.
        size: Bytes of the file.
    """
    copied = _begins_copied(session, read, size)
    if not copied:
        return Lineage((), is_final=copied is not None or size >= FIRST_WITHIN)
    forked: dict[str, str | None] = {}
    latest = None
    for line in first_lines(read, size, COPIED_WITHIN):
        named = _named(line)
        if named is not None and named != session:
            # What was read since the last such row was copied as well.
            forked.pop(named, None)
            forked[named] = None
            latest = named
            continue
        if latest is not None and forked[latest] is None:
            forked[latest] = _timestamp(line)
        if _ANSWER.search(line):
            return Lineage(_nearest_first(forked), is_final=True)
    return Lineage(_nearest_first(forked))


def _begins_copied(session: str, read: Read, size: int) -> bool | None:
    """Return whether the first answer of a file was copied; None where there is none yet."""
    for line in first_lines(read, size, FIRST_WITHIN):
        named = _named(line)
        if named is not None and named != session:
            return True
        if _ANSWER.search(line):
            return False
    return None


def _named(line: bytes) -> str | None:
    """Return the session that wrote a copied row first; None for a row that was not copied."""
    found = _MARK.search(line) if any(mark in line for mark in _MARKS) else None
    return None if found is None else found.group(1).decode("utf-8", "replace")


def _nearest_first(forked: dict[str, str | None]) -> tuple[Origin, ...]:
    return tuple(Origin(session, time) for session, time in reversed(forked.items()))


def _timestamp(line: bytes) -> str | None:
    try:
        time = _decode(line).timestamp
    except (msgspec.MsgspecError, RecursionError):
        return None
    return time if isinstance(time, str) and time else None
