"""A summary of an identity's notes, as plain data for the boot block."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.notes import clock
from hindnote.core.notes.address import Address
from hindnote.core.notes.facts import newest_first
from hindnote.core.notes.reader import Reader

if TYPE_CHECKING:
    from hindnote.core.notes.address import Home
    from hindnote.core.plugins.models import Identity

MAP = "MAP.md"
"""The note in which a home's owner describes the other notes."""


class IndexedNote(Struct, frozen=True):
    """One unarchived note."""

    address: str
    chars: int
    """Code points of the body."""

    updated_at: str
    updated_ms: int
    """The same time in milliseconds since the epoch."""


class HomeIndex(Struct, frozen=True):
    """One home of the identity."""

    name: str
    """``session``, or the head: ``@project``, ``@human``, ``@self``, ``@model``."""

    available: bool
    """False when the home exists but cannot be opened; then the other fields are empty."""

    map: str | None
    """Body of the home's ``MAP.md``; None when there is none or it is archived."""

    freshest: tuple[IndexedNote, ...]
    """The most recently updated notes, newest first, without ``MAP.md``."""

    total: int
    """Number of all unarchived notes, including ``MAP.md``."""

    unreadable: int
    map_by: str | None = None
    """Who last wrote the map, when others than this person can write it; else None."""


def index(identity: Identity, project_key: str | None, freshest: int = 10) -> tuple[HomeIndex, ...]:
    """Return the summary of each home; without a session, without its notebook.

    Args:
        identity: Who is calling, and the notes home.
        project_key: Key of the project, if there is one.
        freshest: Maximum number of notes listed per home.
    """
    notes = Reader(identity, project_key)
    by_name = groupby(notes.homes.default(), attrgetter("name"))
    return tuple(_home(notes, list(homes), freshest) for _, homes in by_name)


def _home(notes: Reader, homes: list[Home], freshest: int) -> HomeIndex:
    """Return the summary of a home, including the notebooks from which it inherits."""
    home = homes[0]
    found = notes.files.contents(homes)
    live = newest_first([facts for facts in found.notes if facts.archived_at is None])
    others = [facts for facts in live if facts.path != MAP]
    return HomeIndex(
        name=home.name,
        available=home.name not in found.unavailable,
        map=_map(notes, home) if len(others) < len(live) else None,
        map_by=_map_writer(notes, home) if len(others) < len(live) else None,
        freshest=tuple(
            IndexedNote(facts.address, facts.chars, clock.format_ms(facts.updated), facts.updated)
            for facts in others[:freshest]
        ),
        total=len(live),
        unreadable=found.unreadable,
    )


def _map(notes: Reader, home: Home) -> str | None:
    try:
        return notes.read(Address(home, (MAP,))).note.body
    except Refused:
        return None


def _map_writer(notes: Reader, home: Home) -> str | None:
    changes = notes.files.kept((*home.folder, MAP), most=1) if home.kind == "project" else None
    return f"{changes[0].role} on {changes[0].machine}" if changes else None
