"""The index: a disposable SQLite file with numbers in it and no text.

A term is the hash of a word. For each term and session there is one row, with the
passages that hold it and how often. A session is replaced as a whole, in one
transaction; what a killed process left half done is not there.
"""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from msgspec import Struct

from hindnote.core.fs.throwaway_sqlite import connect, drop_damaged, drop_other_kinds

VERSION = 1
"""Of what is in the file, and of how words are made: a new form needs a new file."""

PATIENCE = 5.0
"""Seconds to wait for another process that writes."""

MOST = 255
"""How often a term counts in one passage, at most."""

_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, stamp TEXT NOT NULL,
    passages INTEGER NOT NULL, words INTEGER NOT NULL, terms BLOB NOT NULL, seqs BLOB NOT NULL,
    lengths BLOB NOT NULL, kinds BLOB NOT NULL, times BLOB NOT NULL, keys BLOB NOT NULL,
    stored REAL NOT NULL, UNIQUE (name, file));
CREATE TABLE IF NOT EXISTS postings (
    term INTEGER, session INTEGER, places BLOB NOT NULL, PRIMARY KEY (term, session)
) WITHOUT ROWID;
"""


class Damaged(sqlite3.DatabaseError):
    """The file's rows are not as they were written."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Passage(Struct):
    """One passage as it is indexed."""

    seq: int
    kind: int
    """What the caller knows it by: a role, say."""

    time: float
    key: int
    """The same for copies of one event; 0 for none."""

    words: list[str]


class Known(Struct):
    """One indexed session."""

    number: int
    stamp: str
    passages: int
    words: int


class Held(Struct):
    """What is known of each passage of a session."""

    seqs: array[int]
    lengths: array[int]
    kinds: bytes
    times: array[float]
    keys: array[int]


@lru_cache(200_000)
def term_of(word: str) -> int:
    """Return the number that stands for a word."""
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=6).digest(), "big")


def index_file() -> Path:
    """Return where the index lies."""
    from platformdirs import user_cache_path

    folder = user_cache_path("hindnote")
    # The standard has relative ones ignored, which name a folder of the project at hand.
    folder = folder if folder.is_absolute() else Path.home() / ".cache" / "hindnote"
    return folder.resolve() / f"recall-v{VERSION}.sqlite3"


class State(Struct, frozen=True):
    """What there is of an index."""

    file: Path
    size: int
    """Bytes of its files together; 0 when there is none."""

    changed: float
    """Seconds since the epoch."""

    known: dict[tuple[str, str], Known]
    """Its sessions, by name and file."""


def state(file: Path) -> State:
    """Return what there is of an index, without changing it; one that cannot be read has no sessions."""
    found = [one.stat() for one in _files(file) if one.is_file()]
    known: dict[tuple[str, str], Known] = {}
    if found:
        uri = f"{file.as_uri()}?mode=ro"
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(uri, uri=True)) as database:
            known = _known(database)
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
    there = [one for one in _files(file) if one.exists()]
    for one in there:
        one.unlink(missing_ok=True)
    return bool(there)


def _files(file: Path) -> list[Path]:
    # The database goes last: without the others it is whole or damaged, and then made anew.
    return [file.with_name(file.name + suffix) for suffix in ("-wal", "-shm", "-journal", "")]


def _known(database: sqlite3.Connection) -> dict[tuple[str, str], Known]:
    rows = database.execute("SELECT name, file, number, stamp, passages, words FROM sessions")
    return {(name, file): Known(*rest) for name, file, *rest in rows}


class Index:
    """One connection to the index; in memory where no file can be used.

    Args:
        file: The index's file; None for one that lives as long as this object.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._opened: os.stat_result | None = None
        self._database = sqlite3.connect(":memory:") if file is None else self._connect(file)
        self._database.executescript(_TABLES)

    def _connect(self, file: Path) -> sqlite3.Connection:
        file.parent.mkdir(parents=True, exist_ok=True)
        drop_other_kinds(file)
        with suppress(FileNotFoundError):
            self._opened = file.lstat()
        database = connect(file, PATIENCE, mode=0o600)
        try:
            database.execute("PRAGMA journal_mode=WAL")
            # A power failure may lose the newest sessions, which are then indexed again.
            database.execute("PRAGMA synchronous=NORMAL")
        except BaseException:
            database.close()
            raise
        return database

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def failed(self, error: Exception) -> None:
        """Close the connection, and throw the file away when an error tells that it is damaged."""
        self._database.close()
        if self._file is not None:
            drop_damaged(self._file, self._opened, error)

    def known(self) -> dict[tuple[str, str], Known]:
        """Return the indexed sessions, by name and file."""
        return _known(self._database)

    def replace(
        self, name: str, file: str, stamp: str, passages: Sequence[Passage], now: float
    ) -> Known:
        """Index a session, in place of what the index had of it."""
        places: dict[int, array[int]] = {}
        for place, passage in enumerate(passages):
            counts: dict[int, int] = {}
            for word in passage.words:
                term = term_of(word)
                counts[term] = counts.get(term, 0) + 1
            for term, count in counts.items():
                places.setdefault(term, array("I")).append(place << 8 | min(count, MOST))
        lengths = array("I", [len(passage.words) for passage in passages])
        with self._database as database:
            database.execute("BEGIN IMMEDIATE")
            self._remove("name = ? AND file = ?", (name, file))
            row = (
                *(
                    name,
                    file,
                    stamp,
                    len(passages),
                    sum(lengths),
                    array("q", sorted(places)).tobytes(),
                ),
                array("q", [passage.seq for passage in passages]).tobytes(),
                lengths.tobytes(),
                bytes(passage.kind for passage in passages),
                array("d", [passage.time for passage in passages]).tobytes(),
                array("q", [passage.key for passage in passages]).tobytes(),
                now,
            )
            marks = ",".join("?" * len(row))
            number = database.execute(f"INSERT INTO sessions VALUES (NULL,{marks})", row).lastrowid
            assert number is not None
            database.executemany(
                "INSERT INTO postings VALUES (?,?,?)",
                ((term, number, places[term].tobytes()) for term in sorted(places)),
            )
        return Known(number, stamp, len(passages), sum(lengths))

    def forget(self, numbers: Iterable[int]) -> None:
        """Remove sessions and their terms."""
        with self._database as database:
            database.execute("BEGIN IMMEDIATE")
            for number in numbers:
                self._remove("number = ?", (number,))

    def _remove(self, condition: str, values: tuple[object, ...]) -> None:
        found = self._database.execute(
            f"SELECT number, terms FROM sessions WHERE {condition}", values
        )
        for number, blob in found.fetchall():
            terms = _array("q", blob)
            self._database.executemany(
                "DELETE FROM postings WHERE term = ? AND session = ?",
                ((term, number) for term in terms),
            )
            self._database.execute("DELETE FROM sessions WHERE number = ?", (number,))

    def postings(self, word: str) -> Iterator[tuple[int, array[int]]]:
        """Yield the sessions that hold a word: number, and ``place << 8 | count`` of each passage."""
        query = "SELECT session, places FROM postings WHERE term = ?"
        for session, blob in self._database.execute(query, (term_of(word),)):
            yield session, _array("I", blob)

    def held(self, number: int) -> Held:
        """Return what is known of a session's passages."""
        query = "SELECT seqs, lengths, kinds, times, keys FROM sessions WHERE number = ?"
        seqs, lengths, kinds, times, keys = self._database.execute(query, (number,)).fetchone()
        return Held(
            _array("q", seqs), _array("I", lengths), kinds, _array("d", times), _array("q", keys)
        )


def _array(code: str, blob: bytes) -> Any:
    made = array(code)
    try:
        made.frombytes(blob)
    except (ValueError, TypeError) as error:
        raise Damaged(str(error)) from error
    return made
