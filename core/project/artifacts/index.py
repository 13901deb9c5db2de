"""The index: SQLite with FTS5, brought up to date with the files before each question.

It is derived state: contents come from the Markdown files. ``opening`` tells where it
is kept, and when it is thrown away and made again.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import TYPE_CHECKING, Self

from hindnote.core.project.artifacts.compare import Known, Refreshed, compare, split
from hindnote.core.project.artifacts.following import UNSIGNED, follow
from hindnote.core.project.artifacts.sound import Unsound

if TYPE_CHECKING:
    from hindnote.core.project.artifacts.walk import Walk
    from hindnote.core.project.effects import EffectLog

APPLICATION_ID = 0x68696E64
SCHEMA_VERSION = 3
SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE state (token BLOB NOT NULL);
INSERT INTO state VALUES (randomblob(16));
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, inode INTEGER NOT NULL, hash TEXT NOT NULL, title TEXT NOT NULL,
    covered INTEGER NOT NULL
);
CREATE TABLE contents (
    document INTEGER PRIMARY KEY, preview TEXT NOT NULL, metadata TEXT NOT NULL,
    seal INTEGER NOT NULL
);
CREATE TABLE fields (
    document INTEGER NOT NULL, key TEXT NOT NULL, value TEXT, shown TEXT, type TEXT NOT NULL
);
CREATE TABLE links (document INTEGER NOT NULL, target TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    title, metadata, body, tokenize = "unicode61 remove_diacritics 2"
);
"""

Stamp = tuple[str, int, int, int, bytes]
"""Path, inode, size and time of the index's file, and a token that each change renews."""

_REMEMBERED = 4
_KNOWN: dict[Stamp, Known] = {}
"""What was read from an index file that has not changed since; derived state at its most."""


class Index:
    """An open index. Use as a context manager.

    Args:
        connection: An open connection to a database with our schema.
        state: Handle of the state folder, locked; None for one in memory.
        stamp: What changes whenever the index's file does; None for one in memory.
    """

    def __init__(
        self, connection: sqlite3.Connection, state: int | None, stamp: Stamp | None
    ) -> None:
        self.connection = connection
        self.stamp = stamp
        self._state = state

    @property
    def in_memory(self) -> bool:
        """Whether the index vanishes with the call."""
        return self.stamp is None

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection, then let go of the state folder."""
        try:
            self.connection.close()
        finally:
            if self._state is not None:
                os.close(self._state)

    def version(self) -> int:
        """Return a number that differs once another connection has written."""
        found: int = self.connection.execute("PRAGMA data_version").fetchone()[0]
        return found

    def known(self) -> Known:
        """Return what is indexed; remembered as long as the index's file stays the same.

        Raises:
            Unsound: The index does not hold what was written into it.
        """
        if self.stamp is None:
            return _read(self.connection)
        found = _KNOWN.get(self.stamp)
        if found is None:
            found = _read(self.connection)
            if len(_KNOWN) >= _REMEMBERED:
                _KNOWN.clear()
            _KNOWN[self.stamp] = found
        return found

    def refresh(
        self,
        walk: Walk,
        *,
        strict: bool,
        effects: EffectLog,
        beside: AbstractContextManager[object],
    ) -> Refreshed:
        """Bring the index up to date with the files.

        Args:
            walk: The walk over the roots. What is indexed below them and not found is gone.
            strict: Whether to compare contents and not signatures alone.
            effects: Log of the call.
            beside: Entered while files are looked at; it has the connection to itself then.
        """
        known = self.known()
        with beside:
            result = compare(walk, known, strict=strict)
        gone = list(result.gone(known, walk.prefixes()))
        result.others = any(prefix not in result.covered.folders for prefix in known) or bool(gone)
        if result.changes or gone:
            if not self.in_memory:
                effects.may_touch_cache()
            follow(self.connection, sorted(result.changes, key=attrgetter("path")), gone)
            if not self.in_memory:
                effects.touched_cache()
        return result


def _read(connection: sqlite3.Connection) -> Known:
    found: Known = {}
    rows = connection.execute("SELECT path, size, mtime, inode, hash FROM documents")
    for path, size, mtime, inode, told in rows:
        if not (isinstance(path, str) and isinstance(inode, int)):
            raise Unsound("a document in it is not as it was written")
        prefix, name = split(path)
        found.setdefault(prefix, {})[name] = (size, mtime, inode & UNSIGNED, told)
    return found
