"""Facts about files, cached across processes; the cache may be deleted at any time.

It is one SQLite file in the platform's cache directory, and optional: facts that cannot be read
from it are determined again, facts that cannot be written are not cached, and a damaged file is
deleted.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from hindnote.core.fs.throwaway_sqlite import cache_folder, connect, drop_damaged, make_way, seal

Stamp = tuple[int, int, int]
"""Size, modification time in nanoseconds, inode: a file with the same stamp is unchanged."""

Facts = tuple[str, Stamp, str]
"""A file's path, its stamp, and its facts as text."""

_VERSION = 1
_KEPT_SECONDS = 90 * 86_400
_PATIENCE = 0.5
"""Seconds to wait for another process; determining the facts again is cheap."""

_LARGEST = 2**63 - 1

_TABLE = """
CREATE TABLE IF NOT EXISTS facts (
    kind TEXT, path TEXT, size INTEGER, changed INTEGER, inode INTEGER, told TEXT, stored REAL,
    seal INTEGER,
    PRIMARY KEY (kind, path)
) WITHOUT ROWID
"""


class FileFacts:
    """The cached facts about one kind of file. Several processes may use it at once.

    Args:
        kind: Names the kind of facts and their format; a new format needs a new name.
        folder: Folder of the cache; by default the platform's cache directory.
    """

    def __init__(self, kind: str, folder: Path | None = None) -> None:
        self._kind = kind
        self._folder = folder
        self._opened: os.stat_result | None = None

    def load(self) -> dict[str, tuple[Stamp, str]]:
        """Return all cached facts by path; empty when nothing can be read.

        Rows whose checksum is wrong are ignored.
        """
        query = "SELECT path, size, changed, inode, told, seal FROM facts WHERE kind = ?"
        try:
            with closing(self._open()) as database:
                rows = database.execute(query, (self._kind,)).fetchall()
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            self._failed(error)
            return {}
        kind = self._kind
        return {
            path: ((size, changed, inode), told)
            for path, size, changed, inode, told, sealed in rows
            if sealed == seal(kind, path, size, changed, inode, told)
        }

    def store(self, facts: Iterable[Facts]) -> None:
        """Cache facts, if possible, and delete old ones."""
        now = time.time()
        rows = list(self._rows(facts, now))
        try:
            with closing(self._open()) as database, database:
                # A row dated in the future, because of a wrong clock, would never expire.
                database.execute(
                    "DELETE FROM facts WHERE stored NOT BETWEEN ? AND ?",
                    (now - _KEPT_SECONDS, now + _KEPT_SECONDS),
                )
                database.executemany("INSERT OR REPLACE INTO facts VALUES (?,?,?,?,?,?,?,?)", rows)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            self._failed(error)

    def _rows(self, facts: Iterable[Facts], now: float) -> Iterator[tuple[object, ...]]:
        """Yield the rows that SQLite can store: paths that are valid Unicode, numbers that fit."""
        kind = self._kind
        for path, stamp, told in facts:
            if max(stamp) <= _LARGEST:
                with suppress(UnicodeError):
                    yield (kind, path, *stamp, told, now, seal(kind, path, *stamp, told))

    def _file(self) -> Path:
        if self._folder is None:
            self._folder = cache_folder()
        # The folder itself may be a link; links inside it are not followed.
        return self._folder.resolve() / f"files-v{_VERSION}.sqlite3"

    def _open(self) -> sqlite3.Connection:
        file = self._file()
        self._opened = None
        self._opened = make_way(file)
        database = connect(file, _PATIENCE)
        try:
            database.execute(_TABLE)
        except BaseException:
            database.close()
            raise
        return database

    def _failed(self, error: Exception) -> None:
        drop_damaged(self._file(), self._opened, error)
