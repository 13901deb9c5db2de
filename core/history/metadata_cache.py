"""Facts about files, remembered across processes; a cache that may vanish at any time.

One SQLite file under the platform's cache directory. It is never needed: what cannot
be read from it is found out again, what cannot be written to it is not remembered,
and a damaged one is thrown away.
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
"""Size, time of change in nanoseconds, inode: a file with the same stamp is the same."""

Facts = tuple[str, Stamp, str]
"""A file's path, its stamp, and what is known of it, as text."""

_VERSION = 1
_KEPT_SECONDS = 90 * 86_400
_PATIENCE = 0.5
"""Seconds to wait for another process; finding the facts out again is cheap."""

_LARGEST = 2**63 - 1

_TABLE = """
CREATE TABLE IF NOT EXISTS facts (
    kind TEXT, path TEXT, size INTEGER, changed INTEGER, inode INTEGER, told TEXT, stored REAL,
    seal INTEGER,
    PRIMARY KEY (kind, path)
) WITHOUT ROWID
"""


class FileFacts:
    """What is remembered of one kind of file. Safe to use from several processes.

    Args:
        kind: Names the kind of facts and the form of their text; a new form needs a
            new name.
        folder: Where the cache lies; by default the platform's cache directory.
    """

    def __init__(self, kind: str, folder: Path | None = None) -> None:
        self._kind = kind
        self._folder = folder
        self._opened: os.stat_result | None = None

    def load(self) -> dict[str, tuple[Stamp, str]]:
        """Return everything that is remembered, by path; empty when nothing can be read.

        A row that is not as it was written is as good as none.
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
        """Remember facts, if possible; what is old is forgotten."""
        now = time.time()
        rows = list(self._rows(facts, now))
        try:
            with closing(self._open()) as database, database:
                # What was stored in the future, by a wrong clock, would stay for good.
                database.execute(
                    "DELETE FROM facts WHERE stored NOT BETWEEN ? AND ?",
                    (now - _KEPT_SECONDS, now + _KEPT_SECONDS),
                )
                database.executemany("INSERT OR REPLACE INTO facts VALUES (?,?,?,?,?,?,?,?)", rows)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            self._failed(error)

    def _rows(self, facts: Iterable[Facts], now: float) -> Iterator[tuple[object, ...]]:
        """Yield the rows of what can be kept: names that are text, and numbers that fit."""
        kind = self._kind
        for path, stamp, told in facts:
            if max(stamp) <= _LARGEST:
                with suppress(UnicodeError):
                    yield (kind, path, *stamp, told, now, seal(kind, path, *stamp, told))

    def _file(self) -> Path:
        if self._folder is None:
            self._folder = cache_folder()
        # The folder may be a link; what is in it may not.
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
