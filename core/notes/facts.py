"""The facts about a note that a list shows, read cheaply from its file."""

from __future__ import annotations

import os
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hindnote.core.fs.handles import read_all
from hindnote.core.fs.stamps import Stamp, settled
from hindnote.core.notes import clock
from hindnote.core.notes.note import READ_LIMIT, Note
from hindnote.core.text import frontmatter

if TYPE_CHECKING:
    from hindnote.core.notes.address import Home

Problem = Literal[
    "invalid_frontmatter", "not_text", "too_large", "shadowed", "unclosed_frontmatter"
]
"""What may be wrong with a note's file."""


class Facts(Struct):
    """The facts about one note that a list shows."""

    home: Home
    path: str
    """Path within the home, in NFC."""

    address: str
    """As results show it."""

    updated: int
    """Milliseconds since the epoch."""

    chars: int = 0
    """Code points of the body."""

    created: int | None = None
    """Milliseconds since the epoch; set only for notes that a fork inherits."""

    archived_at: str | None = None
    problem: Problem | None = None
    stamp: Stamp | None = None
    """Stamp of the file when it was read; None if the file is so new that another change could
    leave its stamp the same."""


def newest_first(notes: list[Facts]) -> list[Facts]:
    """Return notes sorted by last update, newest first, then by address."""
    by_address = sorted(notes, key=attrgetter("address"))
    return sorted(by_address, key=attrgetter("updated"), reverse=True)


def read_facts(handle: int, home: Home, path: str) -> Facts:
    """Return the facts of an open file."""
    status = os.fstat(handle)
    data = read_all(handle, status.st_size) if status.st_size <= READ_LIMIT else None
    facts = facts_of(data, status.st_mtime_ns, home, path)
    facts.stamp = settled(status)
    return facts


def facts_of(data: bytes | None, mtime_ns: int, home: Home, path: str) -> Facts:
    """Return the facts of one note.

    Args:
        data: The file's bytes; None when it is too large.
        mtime_ns: Time of the file's last change.
        home: The home that contains it.
        path: Path within the home, in NFC.
    """
    changed = mtime_ns // clock.MILLISECOND_NS
    created = changed if home.owner is not None else None
    facts = Facts(home, path, home.prefix + path, changed, created=created)
    if data is None:
        facts.problem = "too_large"
        return facts
    try:
        text = data.decode()
    except UnicodeDecodeError:
        facts.problem = "not_text"
        return facts
    fences = frontmatter.fences(text)
    if fences is None:
        facts.chars = len(text)
        facts.problem = "unclosed_frontmatter" if frontmatter.opens(text) else None
        return facts
    start, end, body = fences
    # An inherited note needs its creation time, which ``glance`` does not return.
    updated = None if home.owner is not None else frontmatter.glance(text[start:end])
    if updated is None:
        return _parsed(facts, text)
    facts.chars = len(text) - body
    facts.updated = max(facts.updated, clock.parse_ms(updated) or 0)
    return facts


def _parsed(facts: Facts, text: str) -> Facts:
    note = Note.parse(text)
    facts.chars = len(note.body)
    facts.updated = max(facts.updated, note.time_of("updatedAt") or 0)
    facts.created = note.time_of("createdAt") or facts.created
    facts.archived_at = note.archived_at
    if note.error is not None:
        facts.problem = "unclosed_frontmatter" if note.parts is None else "invalid_frontmatter"
    return facts
