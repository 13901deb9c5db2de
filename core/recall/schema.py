"""The index's file: where it lies, its tables, and what can be told about it from outside.

It is a disposable SQLite file with numbers in it and no text. A term is the hash of a
word. Sessions are indexed in batches, and each batch makes a *segment*, whose passages
are numbered from 0; a *stretch* of these numbers belongs to one session.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from msgspec import Struct

from hindnote.core.fs.throwaway_sqlite import cache_folder, connect, files_of
from hindnote.core.recall.records import Known

VERSION = 6
"""Of what is in the file, and of how words are made: a new form needs a new file."""

PATIENCE = 5.0
"""Seconds to wait for another process that writes."""

TERM_BITS = 40
"""Of the hash of a word. A block's id has its segment in the bits above: SQLite fills the
pages of a table that grows at its end, and leaves a third of them empty otherwise."""

LOG_LEFT = 1 << 20
"""Bytes that SQLite leaves of its log of what was written."""

_TABLES = """
CREATE TABLE IF NOT EXISTS counters (
    one INTEGER PRIMARY KEY, session INTEGER, segment INTEGER, generation INTEGER);
INSERT OR IGNORE INTO counters VALUES (1, 1, 1, 0);
CREATE TABLE IF NOT EXISTS sessions (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, stamp TEXT NOT NULL,
    slots INTEGER NOT NULL, sum INTEGER NOT NULL, size INTEGER NOT NULL,
    file_sum INTEGER NOT NULL, passages INTEGER NOT NULL,
    settled INTEGER NOT NULL, words INTEGER NOT NULL, tail INTEGER, held BLOB NOT NULL,
    seal INTEGER NOT NULL, UNIQUE (name, file));
CREATE TABLE IF NOT EXISTS segments (
    number INTEGER PRIMARY KEY, sessions INTEGER, passages INTEGER, tail INTEGER);
CREATE TABLE IF NOT EXISTS stretches (
    segment INTEGER, first INTEGER, count INTEGER, session INTEGER, place INTEGER,
    PRIMARY KEY (segment, first)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (id INTEGER PRIMARY KEY, packed BLOB NOT NULL);
"""


class Damaged(sqlite3.DatabaseError):
    """The file's rows are not as they were written."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class State(Struct, frozen=True):
    """What there is of an index."""

    file: Path
    size: int
    """Bytes of its files together; 0 when there is none."""

    changed: float
    """Seconds since the epoch."""

    known: dict[tuple[str, str], Known]
    """Its sessions, by name and file."""


def index_file() -> Path:
    """Return where the index lies."""
    return cache_folder() / f"recall-v{VERSION}.sqlite3"


def state(file: Path) -> State:
    """Return what there is of an index, without changing it; one that cannot be read has no sessions."""
    found = [one.stat() for one in files_of(file) if one.is_file()]
    known: dict[tuple[str, str], Known] = {}
    if found:
        uri = f"{file.as_uri()}?mode=ro"
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(uri, uri=True)) as database:
            known = known_sessions(database)
    return State(
        file,
        sum(one.st_size for one in found),
        max((one.st_mtime for one in found), default=0.0),
        known,
    )


def delete(file: Path) -> bool:
    """Delete an index; return whether there was one.

    Raises:
        OSError: It cannot be deleted.
    """
    there = [one for one in files_of(file) if one.exists()]
    for one in there:
        one.unlink(missing_ok=True)
    return bool(there)


def opened(file: Path | None) -> sqlite3.Connection:
    """Return a connection without tables to an index, for one thread at a time; None: in memory."""
    if file is None:
        return sqlite3.connect(":memory:", isolation_level=None)
    return connect(file, PATIENCE, isolation_level=None, check_same_thread=False)


def prepare(database: sqlite3.Connection, *, kept: bool) -> None:
    """Make what is missing of an index.

    Args:
        database: A connection to it.
        kept: Whether it is a file.
    """
    if kept:
        # Pages that joining segments sets free are given back; holds for a new file alone.
        database.execute("PRAGMA auto_vacuum=INCREMENTAL")
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(f"PRAGMA journal_size_limit={LOG_LEFT}")
        # A power failure may lose the newest sessions, which are then indexed again.
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute("PRAGMA secure_delete=ON")
    if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] < 5:
        database.executescript(_TABLES)


def known_sessions(database: sqlite3.Connection) -> dict[tuple[str, str], Known]:
    """Return the indexed sessions, by name and file."""
    rows = database.execute(
        "SELECT name, file, number, stamp, slots, sum, size, file_sum, passages, settled, words, tail "
        "FROM sessions"
    )
    return {(name, file): Known(*rest) for name, file, *rest in rows}
