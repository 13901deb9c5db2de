"""The index: SQLite with FTS5, updated from the files before each query.

It is derived from the Markdown files. ``index_file`` stores it on disk between calls.
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
"""Device, inode, size and modification time of an index file."""


class Index:
    """An index in memory.

    Args:
        connection: An open connection to a database with our schema.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.file: FileKey | None = None
        """The file with the same content; None when there is none."""

        self._known: Known | None = None

    @property
    def in_memory(self) -> bool:
        """Whether the index is lost after the call."""
        return self.file is None

    def known(self) -> Known:
        """Return the indexed documents.

        Raises:
            Unsound: The content of the index is invalid.
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
        """Update the index from the files.

        Args:
            walk: The walk over the roots. Indexed documents below them that are not found are
                removed.
            strict: Whether to compare contents instead of only signatures.
            beside: A context that is active during the comparison, with exclusive use of the
                connection.
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
