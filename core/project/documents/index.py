"""The index: SQLite with FTS5, brought up to date with the files before each question.

It is derived state: contents come from the Markdown files. ``opening`` keeps it on disk
between calls.
"""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import TYPE_CHECKING

from hindnote.core.project.documents.compare import Known, Refreshed, compare, split
from hindnote.core.project.documents.index_writer import UNSIGNED, follow
from hindnote.core.project.documents.integrity import Unsound

if TYPE_CHECKING:
    from hindnote.core.project.documents.walk import DocumentWalk

APPLICATION_ID = 0x68696E64
SCHEMA_VERSION = 4
SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, inode INTEGER NOT NULL, hash TEXT NOT NULL, title TEXT NOT NULL,
    covered INTEGER NOT NULL
);
CREATE TABLE contents (
    document INTEGER PRIMARY KEY, preview TEXT NOT NULL, metadata TEXT NOT NULL
);
CREATE TABLE fields (
    document INTEGER NOT NULL, key TEXT NOT NULL, value TEXT, shown TEXT, type TEXT NOT NULL
);
CREATE TABLE links (document INTEGER NOT NULL, target TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    title, metadata, body, tokenize = "unicode61 remove_diacritics 2"
);
"""


FileKey = tuple[int, int, int, int]
"""Device, inode, size and time of an index's file."""


class Index:
    """An index in memory.

    Args:
        connection: An open connection to a database with our schema.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.file: FileKey | None = None
        """The file that holds the same; None when there is none."""

        self._known: Known | None = None

    @property
    def in_memory(self) -> bool:
        """Whether the index vanishes with the call."""
        return self.file is None

    def known(self) -> Known:
        """Return what is indexed.

        Raises:
            Unsound: The index does not hold what was written into it.
        """
        if self._known is None:
            self._known = _read(self.connection)
        return self._known

    def refresh(
        self,
        walk: DocumentWalk,
        *,
        strict: bool,
        beside: AbstractContextManager[object],
    ) -> Refreshed:
        """Bring the index up to date with the files.

        Args:
            walk: The walk over the roots. What is indexed below them and not found is gone.
            strict: Whether to compare contents and not signatures alone.
            beside: Entered while files are looked at; it has the connection to itself then.
        """
        known = self.known()
        with beside:
            result = compare(walk, known, strict=strict)
        gone = list(result.gone(known, walk.prefixes()))
        result.others = any(prefix not in result.covered.folders for prefix in known) or bool(gone)
        result.changed = bool(result.changes or gone)
        if result.changed:
            follow(self.connection, sorted(result.changes, key=attrgetter("path")), gone)
            self.file = self._known = None
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
