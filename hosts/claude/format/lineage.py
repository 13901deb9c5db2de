"""The sessions from which a transcript was forked, according to its copied rows.

A fork (``--fork-session``, ``/branch``) begins with rows copied from its parent session. Claude
Code 2.1 copies them with ``requestSessionId`` on each assistant row; other versions put
``forkedFrom`` on every copied row. Both name the session that first wrote the row, so the fork of
a fork names its whole ancestry, oldest session first.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from hindnote.core.history.ends import Read, first_lines

COPIED_WITHIN = 1 << 28
"""Number of bytes at the beginning of a file that are searched for copied rows."""

FIRST_WITHIN = 1 << 20
"""Number of bytes at the beginning of a file that must contain the first copied row."""

# Quotes inside a JSON string are escaped, so none of these can match inside one.
_MARKS = (b'"requestSessionId"', b'"forkedFrom"')
_MARK = re.compile(
    rb'"(?:requestSessionId"\s*:\s*|forkedFrom"\s*:\s*\{\s*"sessionId"\s*:\s*)"([^"\\]+)"'
)
_ANSWER = re.compile(rb'"type"\s*:\s*"assistant"')


class Origin(Struct, frozen=True):
    """A session from which rows were copied."""

    session: str

    forked: str | None
    """Recorded time of the fork's first own row; None when it has none yet."""


class Lineage(Struct, frozen=True):
    """The sessions from which one was forked."""

    ancestors: tuple[Origin, ...]
    """Nearest first."""

    is_final: bool = False
    """Whether appended rows cannot change them any more."""


class _LineageRow(Struct):
    timestamp: Any = None


_decode = msgspec.json.Decoder(_LineageRow).decode


def find_lineage(session: str, read: Read, size: int) -> Lineage:
    """Return the sessions from which a session was forked.

    The copied rows end at the session's own first answer, so nothing after it is read.

    Args:
        session: Its id.
        read: Reads the file.
        size: Size of the file in bytes.
    """
    copied = _begins_copied(session, read, size)
    if not copied:
        return Lineage((), is_final=copied is not None or size >= FIRST_WITHIN)
    forked: dict[str, str | None] = {}
    latest = None
    for line in first_lines(read, size, COPIED_WITHIN):
        named = _named(line)
        if named is not None and named != session:
            # Whatever was read since the last such row was copied as well.
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
    """Return whether the first answer of a file was copied; None when there is no answer yet."""
    for line in first_lines(read, size, FIRST_WITHIN):
        named = _named(line)
        if named is not None and named != session:
            return True
        if _ANSWER.search(line):
            return False
    return None


def _named(line: bytes) -> str | None:
    """Return the session that first wrote a copied row; None for a row that was not copied."""
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
