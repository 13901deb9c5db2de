"""The index: SQLite with FTS5 under ``.hindnote/``, rebuilt whenever it is not sound.

It is derived state: contents come from the Markdown files, and whatever is missing,
foreign, of another schema or damaged is thrown away and made again. Where it cannot
be kept on disk at all, the same index is made in memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import TYPE_CHECKING, Self

from hindnote.core.project.artifacts.compare import Change, Known, Refreshed, compare, split
from hindnote.core.project.artifacts.document import spaced
from hindnote.core.project.outcome import Declined
from hindnote.core.project.roots import STATE_DIRECTORY, Workspace
from hindnote.core.project.state import open_state

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.project.artifacts.document import Document
    from hindnote.core.project.artifacts.walk import Walk
    from hindnote.core.project.effects import EffectLog

INDEX_NAME = "artifacts.sqlite3"
APPLICATION_ID = 0x68696E64
SCHEMA_VERSION = 1
BUSY_SECONDS = 5.0

_SIDECARS = ("", "-journal", "-wal", "-shm")
_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, inode INTEGER NOT NULL, hash TEXT NOT NULL, title TEXT NOT NULL,
    covered INTEGER NOT NULL
);
CREATE INDEX partly_covered ON documents (path) WHERE NOT covered;
CREATE TABLE contents (document INTEGER PRIMARY KEY, preview TEXT NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE fields (
    document INTEGER NOT NULL, key TEXT NOT NULL, value TEXT, shown TEXT, type TEXT NOT NULL
);
CREATE INDEX fields_by_value ON fields (key, value, document);
CREATE INDEX fields_by_document ON fields (document);
CREATE TABLE links (document INTEGER NOT NULL, target TEXT NOT NULL);
CREATE INDEX links_by_document ON links (document);
CREATE INDEX links_by_target ON links (target);
CREATE VIRTUAL TABLE words USING fts5 (
    title, metadata, body, tokenize = "unicode61 remove_diacritics 2"
);
"""


Stamp = tuple[str, int, int, int, bytes]

_REMEMBERED = 4
_KNOWN: dict[Stamp, Known] = {}
"""What was read from an index file that has not changed since; derived state at its most."""


_TABLES = {
    "documents": "id",
    "contents": "document",
    "fields": "document",
    "links": "document",
    "words": "rowid",
}
"""Every table, and its column with the document's number."""


class Unsound(Exception):
    """The index on disk cannot be trusted; it is to be made again."""


class Unusable(Exception):
    """No index can be kept on disk; the message says why."""


class Index:
    """An open index. Use as a context manager.

    Args:
        connection: An open connection to a database with our schema.
        stamp: What changes whenever the index's file does; None for one in memory.
    """

    def __init__(self, connection: sqlite3.Connection, stamp: Stamp | None) -> None:
        self.connection = connection
        self.stamp = stamp

    @property
    def in_memory(self) -> bool:
        """Whether the index vanishes with the call."""
        return self.stamp is None

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.connection.close()

    def version(self) -> int:
        """Return a number that differs once another connection has written."""
        found: int = self.connection.execute("PRAGMA data_version").fetchone()[0]
        return found

    def known(self) -> Known:
        """Return what is indexed; remembered as long as the index's file stays the same."""
        found = None if self.stamp is None else _KNOWN.get(self.stamp)
        if found is not None:
            return found
        found = {}
        rows = self.connection.execute("SELECT path, size, mtime, inode, hash FROM documents")
        for path, *row in rows:
            prefix, name = split(path)
            found.setdefault(prefix, {})[name] = tuple(row)
        if self.stamp is not None:
            while len(_KNOWN) >= _REMEMBERED:
                _KNOWN.pop(next(iter(_KNOWN)), None)
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
            self._write(sorted(result.changes, key=attrgetter("path")), gone)
            if not self.in_memory:
                effects.touched_cache()
        return result

    def _write(self, changes: Sequence[Change], gone: Iterable[str]) -> None:
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been here between the look and this transaction.
            empty = execute("SELECT NOT EXISTS (SELECT 1 FROM documents)").fetchone()[0]
            if not empty:
                self._forget(gone)
                self._forget(change.path for change in changes if change.document)
            for change in changes:
                if change.document is None:
                    execute(
                        "UPDATE documents SET size = ?, mtime = ?, inode = ? WHERE path = ?",
                        (*change.signature, change.path),
                    )
            self._add([(change, change.document) for change in changes if change.document])
            execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                execute("ROLLBACK")
            raise

    def _forget(self, paths: Iterable[str]) -> None:
        execute = self.connection.execute
        for path in paths:
            found = execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchall()
            for (number,) in found:
                for table, column in _TABLES.items():
                    execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))

    def _add(self, added: Sequence[tuple[Change, Document]]) -> None:
        many = self.connection.executemany
        first = self.connection.execute("SELECT coalesce(max(id), 0) + 1 FROM documents")
        numbered = list(enumerate(added, first.fetchone()[0]))
        many(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    number,
                    change.path,
                    *change.signature,
                    change.hash,
                    document.title,
                    document.covered,
                )
                for number, (change, document) in numbered
            ),
        )
        many(
            "INSERT INTO contents VALUES (?, ?, ?)",
            (
                (number, document.preview, json.dumps(document.metadata, ensure_ascii=False))
                for number, (_, document) in numbered
            ),
        )
        many(
            "INSERT INTO fields VALUES (?, ?, ?, ?, ?)",
            ((number, *field) for number, (_, document) in numbered for field in document.fields),
        )
        many(
            "INSERT INTO links VALUES (?, ?)",
            ((number, target) for number, (_, document) in numbered for target in document.links),
        )
        many(
            "INSERT INTO words (rowid, title, metadata, body) VALUES (?, ?, ?, ?)",
            ((number, *_words(document)) for number, (_, document) in numbered),
        )


def _words(document: Document) -> tuple[str, str, str]:
    values = " \n".join(field.shown for field in document.fields if field.shown)
    return spaced(document.title), spaced(values), spaced(document.preview)


# -- opening ----------------------------------------------------------------------


def open_in_memory() -> Index:
    """Return an empty index that vanishes with the call."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(_SCHEMA)
    return Index(connection, None)


def open_on_disk(workspace: Workspace, effects: EffectLog, *, rebuild: bool) -> tuple[Index, bool]:
    """Return the workspace's index, and whether it was made anew.

    Args:
        workspace: Whose index to open.
        effects: Log of the call.
        rebuild: Whether to throw away what is there.

    Raises:
        Unusable: No index can be kept there.
    """
    try:
        effects.may_touch_cache()
        state = open_state(workspace)
        try:
            made = _clear(state) if rebuild else _clear_if_no_file(state)
        finally:
            os.close(state)
        file = workspace.path / STATE_DIRECTORY / INDEX_NAME
        made = made or not file.exists() or file.stat().st_size == 0
        connection = sqlite3.connect(
            file,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            # Used by one thread after the other, never by two at once.
            check_same_thread=False,
        )
    except (OSError, sqlite3.Error, Declined) as error:
        raise Unusable(getattr(error, "message", str(error))) from error
    try:
        _prepare(connection, made=made)
        stamp = _stamp(file)
    except OSError as error:
        connection.close()
        raise Unusable(f"it was taken away meanwhile: {error}") from error
    except BaseException:
        connection.close()
        raise
    if made:
        effects.touched_cache()
    elif effects.cache == "possible":
        effects.cache = "none"
    return Index(connection, stamp), made


def _stamp(file: Path) -> Stamp:
    found = file.stat()
    with file.open("rb") as opened:
        header = opened.read(100)
    # SQLite counts its transactions in these bytes of the header.
    return (str(file), found.st_ino, found.st_size, found.st_mtime_ns, header[24:28])


def _prepare(connection: sqlite3.Connection, *, made: bool) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
    # Nothing of a search is ever written outside the workspace.
    connection.execute("PRAGMA temp_store = MEMORY")
    if made:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        return
    told = [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    ]
    tables = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE name IN ('documents', 'fields', 'links', 'words')"
    ).fetchone()[0]
    if told != [APPLICATION_ID, SCHEMA_VERSION] or tables != 4:
        raise Unsound("it is not an index of this version")


def _clear(state: int) -> bool:
    for suffix in _SIDECARS:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(INDEX_NAME + suffix, dir_fd=state)
    return True


def _clear_if_no_file(state: int) -> bool:
    """Throw the index away when any file of it is a link or no file; tell whether it was."""
    for suffix in _SIDECARS:
        with contextlib.suppress(FileNotFoundError):
            found = os.stat(INDEX_NAME + suffix, dir_fd=state, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                return _clear(state)
    return False


def judged(error: sqlite3.DatabaseError) -> Exception:
    """Return what an error of SQLite means for the index: unsound, or unusable on disk."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    unsound = {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_FORMAT,
    }
    kind = Unsound if code in unsound else Unusable
    return kind(str(error))
