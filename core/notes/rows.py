"""Notes as the tables of a database hold them, and who changes them there."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hindnote.core.fs.names import same_elsewhere
from hindnote.core.notes import statements
from hindnote.core.notes.address import Home
from hindnote.core.notes.facts import facts_of
from hindnote.core.notes.note import version_of

if TYPE_CHECKING:
    from hindnote.core.database.connection import Database
    from hindnote.core.notes.statements import Key

_ANY_HOME = Home("session", "", (), owner="")
"""A home for which the facts of a note include the time of its creation."""


class Row(Struct, frozen=True):
    """A note as it was read from the table."""

    data: bytes | None
    """None when it is too large to be read."""

    size: int
    mtime_ns: int
    born_ms: int | None
    change: uuid.UUID
    """Id of its last change."""


class Kept(Struct, frozen=True):
    """One change of a note, as it is kept."""

    version: str
    """The note's version after the change."""

    at_ms: int
    kind: str
    """``write`` or ``move``."""

    size: int
    """The note's size in bytes after the change."""

    moved_from: str | None
    """Where a moved note was before, as its path under the notes home."""

    role: str
    """The person's role in the database."""

    machine: str
    host: str | None
    session: str | None
    agent: str | None
    model: str | None


class Writer(Struct, frozen=True):
    """A database, and who changes notes in it."""

    database: Database
    who: dict[str, str | None]
    """Machine, host, session, agent and model."""


def described(key: Key, data: bytes, mtime_ns: int) -> dict[str, Any]:
    """Return a note's columns: where it is, its bytes, and the facts that a list shows."""
    facts = facts_of(data, mtime_ns, _ANY_HOME, key.path)
    return {
        "home": key.home,
        "path": key.path,
        "folded": same_elsewhere(key.path),
        "data": data,
        "version": version_of(data),
        "modified_ns": mtime_ns,
        "updated_ms": facts.updated,
        "created_ms": facts.created,
        "chars": facts.chars,
        "archived_at": facts.archived_at,
        "problem": facts.problem,
    }


def settled(writer: Writer, change: uuid.UUID) -> list[tuple[str]]:
    """Find out whether a change was carried out; if not, make sure that it never will be.

    Returns:
        The change's kind; ``void`` when it was not carried out.
    """
    values = {"id": change, "machine": writer.who["machine"]}
    kinds = writer.database.read(statements.SETTLE, values)
    return [(kind,) for (kind,) in kinds]
