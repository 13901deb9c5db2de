"""How often each note was read, and when last: kept beside the notes, never in them.

A count is worth nothing next to the read that it counts, so what goes wrong here
is dropped: a read-only home, a busy database. A damaged one is thrown away, and the
counts begin anew.
"""

from __future__ import annotations

import atexit
import errno
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from msgspec import Struct

from hindnote.core.notes import clock
from hindnote.core.notes.locks import state_folder
from hindnote.core.outcome import Refused
from hindnote.core.text.frontmatter import Json

NAME = "access.sqlite3"
BUSY_SECONDS = 0.2

_TABLE = """
CREATE TABLE IF NOT EXISTS access (
    path TEXT PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL
) WITHOUT ROWID
"""
_TOUCH = """
INSERT INTO access VALUES (:path, :seed + 1, :now)
ON CONFLICT (path) DO UPDATE SET last = excluded.last, count = CASE
    WHEN typeof(count) = 'integer' AND count BETWEEN 0 AND :most THEN count + 1
    ELSE excluded.count END
"""
_MOST = 2**53
"""Reads that nobody counts up to: beyond, a count begins anew."""


def touch(home: Path, segments: tuple[str, ...], values: Mapping[str, Json]) -> None:
    """Count one read.

    Args:
        home: The notes home.
        segments: Segments of the note's file under the notes home.
        values: The note's metadata, whose ``accessCount`` seeds the count.
    """
    seed = values.get("accessCount")
    counted = isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < _MOST
    with _dropped(), _open(state_folder(home) / NAME) as database:
        database.execute(
            _TOUCH,
            {
                "path": "/".join(segments),
                "seed": seed if counted else 0,
                "now": clock.now_ms(),
                "most": _MOST,
            },
        )


def move(home: Path, source: tuple[str, ...], target: tuple[str, ...]) -> None:
    """Take a note's count along when it is renamed."""
    with _dropped(), _open(state_folder(home) / NAME) as database:
        database.execute(
            "UPDATE OR REPLACE access SET path = ? WHERE path = ?",
            ("/".join(target), "/".join(source)),
        )


class _Kept(Struct, frozen=True):
    """The connection that the next count will most likely want: opening one costs a read's time."""

    file: Path
    status: os.stat_result
    """Of the file, since another one may stand under its name by now."""

    database: sqlite3.Connection


_lock = Lock()
_kept: _Kept | None = None


@contextmanager
def _open(file: Path) -> Iterator[sqlite3.Connection]:
    with _lock:
        status = _status(file)
        try:
            with _connection(file, status) as database:
                yield database
        except (sqlite3.Error, UnicodeDecodeError) as error:
            close()
            # Imported when something is wrong, which is next to never.
            from hindnote.core.disposable import drop_damaged

            drop_damaged(file, status, error)
            raise


def _connection(file: Path, status: os.stat_result | None) -> sqlite3.Connection:
    global _kept
    if _kept is not None and _kept.file == file and _same(_kept.status, status):
        return _kept.database
    close()
    # Imported once in a process, as a connection is opened once.
    from hindnote.core.disposable import connect, drop_other_kinds

    drop_other_kinds(file)
    # The lock above keeps threads apart.
    database = connect(file, BUSY_SECONDS, check_same_thread=False)
    try:
        # Losing counts in a crash is fine; waiting for the disk is not. Nor are files beside
        # this one: whoever truncates a write-ahead log's kills all that have it mapped.
        database.execute("PRAGMA journal_mode = MEMORY")
        database.execute("PRAGMA synchronous = OFF")
        database.execute(_TABLE)
        made = _status(file)
    except BaseException:
        database.close()
        raise
    if made is None or not (status is None or _same(made, status)):
        database.close()
        raise FileNotFoundError(errno.ENOENT, "taken away while it was opened", str(file))
    _kept = _Kept(file, made, database)
    return database


def _status(file: Path) -> os.stat_result | None:
    """Return the status of the file; None when there is none, whatever else has its name."""
    try:
        status = file.lstat()
    except FileNotFoundError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _same(made: os.stat_result, status: os.stat_result | None) -> bool:
    return status is not None and os.path.samestat(made, status)


@atexit.register
def close() -> None:
    """Close the connection that is kept; the next count opens another."""
    global _kept
    if _kept is not None:
        _kept.database.close()
        _kept = None


@contextmanager
def _dropped() -> Iterator[None]:
    with suppress(sqlite3.Error, UnicodeDecodeError, OSError, Refused):
        yield
