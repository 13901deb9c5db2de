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
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from hindnote.core.project.artifacts.document import Document, read_document, spaced
from hindnote.core.project.markdown import decode
from hindnote.core.project.outcome import Declined
from hindnote.core.project.roots import STATE_DIRECTORY, Workspace
from hindnote.core.project.state import digest, open_state

if TYPE_CHECKING:
    from hindnote.core.project.artifacts.walk import Entry
    from hindnote.core.project.effects import EffectLog

INDEX_NAME = "artifacts.sqlite3"
APPLICATION_ID = 0x68696E64
SCHEMA_VERSION = 1
BUSY_SECONDS = 5.0

_SIDECARS = ("", "-journal", "-wal", "-shm")
_RACY_NS = 50_000_000
"""A file changed this shortly before it was read may change again unnoticed."""

_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, inode INTEGER NOT NULL, hash TEXT NOT NULL, title TEXT NOT NULL,
    preview TEXT NOT NULL, covered INTEGER NOT NULL, metadata TEXT NOT NULL
);
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


class Unsound(Exception):
    """The index on disk cannot be trusted; it is to be made again."""


class Unusable(Exception):
    """No index can be kept on disk; the message says why."""


class Index:
    """An open index. Use as a context manager.

    Args:
        connection: An open connection to a database with our schema.
        in_memory: Whether it vanishes with the call.
    """

    def __init__(self, connection: sqlite3.Connection, *, in_memory: bool) -> None:
        self.connection = connection
        self.in_memory = in_memory

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.connection.close()

    def signatures(self) -> dict[str, tuple[tuple[int, int, int], str]]:
        """Return signature and content hash of every indexed document by path."""
        rows = self.connection.execute("SELECT path, size, mtime, inode, hash FROM documents")
        return {path: ((size, mtime, inode), told) for path, size, mtime, inode, told in rows}

    def refresh(
        self, entries: Iterable[Entry], covered: Iterable[str], *, strict: bool, effects: EffectLog
    ) -> Refreshed:
        """Bring the index up to date with the files.

        Args:
            entries: The walk over the roots.
            covered: Prefixes of paths that the walk covers; what is indexed below them
                and was not found is gone.
            strict: Whether to compare contents and not signatures alone.
            effects: Log of the call.
        """
        known = self.signatures()
        result = Refreshed()
        changes: list[_Change] = []
        for entry in entries:
            change = _look(entry, known.get(entry.path), strict=strict)
            if isinstance(change, OSError):
                result.unreadable += 1
                continue
            result.paths[entry.path] = entry.scope
            if change is not None:
                changes.append(change)
        below = tuple(covered)
        gone = [path for path in known if path not in result.paths and path.startswith(below)]
        result.refreshed = sum(change.document is not None for change in changes)
        if changes or gone:
            if not self.in_memory:
                effects.may_touch_cache()
            self._write(changes, gone)
            if not self.in_memory:
                effects.touched_cache()
        return result

    def _write(self, changes: Iterable[_Change], gone: Iterable[str]) -> None:
        connection = self.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            for path in gone:
                self._forget(path)
            for change in changes:
                if change.document is None:
                    connection.execute(
                        "UPDATE documents SET size = ?, mtime = ?, inode = ? WHERE path = ?",
                        (*change.signature, change.path),
                    )
                else:
                    self._forget(change.path)
                    self._add(change, change.document)
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _forget(self, path: str) -> None:
        found = self.connection.execute("SELECT id FROM documents WHERE path = ?", (path,))
        for (number,) in found.fetchall():
            for table, column in (
                ("documents", "id"),
                ("fields", "document"),
                ("links", "document"),
                ("words", "rowid"),
            ):
                self.connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))

    def _add(self, change: _Change, document: Document) -> None:
        execute = self.connection.execute
        number = execute(
            "INSERT INTO documents (path, size, mtime, inode, hash, title, preview, covered, "
            "metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                change.path,
                *change.signature,
                change.hash,
                document.title,
                document.preview,
                document.covered,
                json.dumps(document.metadata, ensure_ascii=False),
            ),
        ).lastrowid
        self.connection.executemany(
            "INSERT INTO fields VALUES (?, ?, ?, ?, ?)",
            [(number, *field) for field in document.fields],
        )
        self.connection.executemany(
            "INSERT INTO links VALUES (?, ?)", [(number, target) for target in document.links]
        )
        words = " \n".join(field.shown for field in document.fields if field.shown)
        execute(
            "INSERT INTO words (rowid, title, metadata, body) VALUES (?, ?, ?, ?)",
            (number, spaced(document.title), spaced(words), spaced(document.preview)),
        )


class Refreshed:
    """What a refresh found."""

    __slots__ = ("paths", "refreshed", "unreadable")

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}
        """Scope of every document found, by path."""

        self.refreshed = 0
        self.unreadable = 0


class _Change:
    """One document to be written; without a ``document``, its signature alone."""

    __slots__ = ("document", "hash", "path", "signature")

    def __init__(
        self, path: str, signature: tuple[int, int, int], told: str, document: Document | None
    ) -> None:
        self.path = path
        self.signature = signature
        self.hash = told
        self.document = document


def _look(
    entry: Entry, known: tuple[tuple[int, int, int], str] | None, *, strict: bool
) -> _Change | OSError | None:
    """Return what must be written for a file, None for nothing, or why it cannot be read."""
    same = known is not None and known[0] == entry.signature
    if same and not strict:
        return None
    started = time.time_ns()
    try:
        content = entry.read()
    except OSError as error:
        return error
    told = digest(content)
    size, mtime, inode = entry.signature
    # A time of change that cannot be relied on never equals the next one.
    signature = (size, -1 if mtime > started - _RACY_NS else mtime, inode)
    if known is not None and known[1] == told:
        return None if same else _Change(entry.path, signature, told, None)
    text = decode(content)
    if text is None:
        return OSError("not UTF-8")
    return _Change(entry.path, signature, told, read_document(entry.path, text))


# -- opening ----------------------------------------------------------------------


def open_in_memory() -> Index:
    """Return an empty index that vanishes with the call."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(_SCHEMA)
    return Index(connection, in_memory=True)


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
        connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
    except (OSError, sqlite3.Error, Declined) as error:
        raise Unusable(getattr(error, "message", str(error))) from error
    try:
        _prepare(connection, made=made)
    except BaseException:
        connection.close()
        raise
    if made:
        effects.touched_cache()
    elif effects.cache == "possible":
        effects.cache = "none"
    return Index(connection, in_memory=False), made


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
