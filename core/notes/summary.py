"""The index of an identity's notes, as plain data for whoever shows it at a window's start."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.notes import catalogue, clock
from hindnote.core.notes.address import Address
from hindnote.core.notes.facts import newest_first
from hindnote.core.notes.reader import Reader

if TYPE_CHECKING:
    from hindnote.core.notes.address import Home
    from hindnote.core.plugins.models import Identity

MAP = "MAP.md"
"""The note of a home that its owner keeps as a map of the others."""


class IndexedNote(Struct, frozen=True):
    """One live note."""

    address: str
    chars: int
    """Code points of the body."""

    updated_at: str
    updated_ms: int
    """The same in milliseconds since the epoch, to tell its age."""


class HomeIndex(Struct, frozen=True):
    """One home of the identity."""

    name: str
    """``session``, or the head: ``@project``, ``@human``, ``@self``, ``@model``."""

    available: bool
    """False when the home is there and cannot be opened; then the rest is empty."""

    map: str | None
    """Body of the home's ``MAP.md``; None without one, and when it is archived."""

    freshest: tuple[IndexedNote, ...]
    """The notes changed last, newest first, ``MAP.md`` left out."""

    total: int
    """Live notes in all, ``MAP.md`` included."""

    unreadable: int


def index(identity: Identity, project_key: str | None, freshest: int = 10) -> tuple[HomeIndex, ...]:
    """Return the index of each home of an identity; without a session, of all but its notebook.

    Args:
        identity: Who asks, and the notes home.
        project_key: Key of the project, if there is one.
        freshest: Notes of each home, at most.
    """
    notes = Reader(identity, project_key)
    by_name = groupby(notes.homes.default(), attrgetter("name"))
    return tuple(_home(notes, list(homes), freshest) for _, homes in by_name)


def _home(notes: Reader, homes: list[Home], freshest: int) -> HomeIndex:
    """Return the index of a home, of the notebooks that it reads through to included."""
    home = homes[0]
    found = catalogue.contents(notes.tree, homes)
    live = newest_first([facts for facts in found.notes if facts.archived_at is None])
    others = [facts for facts in live if facts.path != MAP]
    return HomeIndex(
        name=home.name,
        available=home.name not in found.unavailable,
        map=_map(notes, home) if len(others) < len(live) else None,
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
