"""The index: a disposable SQLite file with numbers in it and no text.

A term is the hash of a word. Sessions are indexed in batches, and each batch makes a
*segment*, written in one transaction; small segments are joined later. What a killed
process left half done is not there. A session that grew adds what is new: what may still
change at its end, a call that is running, lies in a segment of its own (its *tail*),
which the next call replaces.
"""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from hashlib import blake2b
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from msgspec import Struct

from hindnote.core.fs.throwaway_sqlite import (
    cache_folder,
    connect,
    drop_damaged,
    files_of,
    make_way,
)
from hindnote.core.recall.postings import pack, unpack
from hindnote.core.recall.words import terms

VERSION = 4
"""Of what is in the file, and of how words are made: a new form needs a new file."""

PATIENCE = 5.0
"""Seconds to wait for another process that writes."""

JOINED = 8
"""So many segments of about one size are joined to one."""

SMALL, LARGE = 64, 512
"""Sessions from which on a segment is of medium size, and from which on it is never joined."""

_TABLES = """
CREATE TABLE IF NOT EXISTS counters (
    one INTEGER PRIMARY KEY, session INTEGER, segment INTEGER, passage INTEGER);
INSERT OR IGNORE INTO counters VALUES (1, 1, 1, 0);
CREATE TABLE IF NOT EXISTS sessions (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, stamp TEXT NOT NULL,
    slots INTEGER NOT NULL, sum INTEGER NOT NULL, passages INTEGER NOT NULL,
    settled INTEGER NOT NULL, words INTEGER NOT NULL, tail INTEGER, held BLOB NOT NULL,
    seal INTEGER NOT NULL, UNIQUE (name, file));
CREATE TABLE IF NOT EXISTS segments (number INTEGER PRIMARY KEY, sessions INTEGER, tail INTEGER);
CREATE TABLE IF NOT EXISTS stretches (
    segment INTEGER, first INTEGER, count INTEGER, session INTEGER, place INTEGER,
    PRIMARY KEY (segment, first)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS postings (
    id INTEGER PRIMARY KEY, count INTEGER NOT NULL, run BLOB NOT NULL);
"""

TERM_BITS = 40
"""Of the hash of a word. A row of postings has its segment in the bits above: SQLite fills the
pages of a table that grows at its end, and leaves a third of them empty otherwise."""

Terms = Mapping[int, list[int]]
"""By term: postings as those of ``postings.pack``, with passages numbered from 0."""


class Damaged(sqlite3.DatabaseError):
    """The file's rows are not as they were written."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Known(Struct, frozen=True):
    """One indexed session."""

    number: int
    stamp: str
    """What its file was like when it was indexed."""

    slots: int
    """Slots of its branch that are indexed for good, and a sum of them."""

    sum: int
    passages: int
    settled: int
    """Passages of those slots; further ones are the tail."""

    words: int
    tail: int | None = None
    """The tail's segment."""


class Held(Struct):
    """What is known of each passage of a session."""

    seqs: array[int]
    lengths: array[int]
    kinds: bytes
    """What the caller knows a passage by: a role, say."""

    times: array[float]
    keys: array[int]
    """The same for copies of one event; 0 for none."""

    @classmethod
    def empty(cls) -> Held:
        """Return that of a session without passages."""
        return cls(array("q"), array("I"), b"", array("d"), array("q"))

    def first(self, count: int) -> Held:
        """Return the first passages."""
        parts = (self.seqs, self.lengths, self.kinds, self.times, self.keys)
        return Held(*(part[:count] for part in parts))  # type: ignore[arg-type]

    def __add__(self, other: Held) -> Held:
        """Return the passages of both."""
        return Held(
            self.seqs + other.seqs,
            self.lengths + other.lengths,
            self.kinds + other.kinds,
            self.times + other.times,
            self.keys + other.keys,
        )

    def pack(self) -> bytes:
        """Return all of it as bytes."""
        parts = (self.seqs, self.lengths, self.times, self.keys)
        return zlib.compress(b"".join([*(part.tobytes() for part in parts), self.kinds]), 1)

    @classmethod
    def unpack(cls, packed: bytes) -> Held:
        """Return what was packed.

        Raises:
            ValueError: It is not what was packed.
        """
        try:
            plain = zlib.decompress(packed)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        count, rest = divmod(len(plain), 29)
        if rest:
            raise ValueError("its length is not that of whole passages")
        made, at = cls.empty(), 0
        for part in (made.seqs, made.lengths, made.times, made.keys):
            part.frombytes(plain[at : at + count * part.itemsize])
            at += count * part.itemsize
        made.kinds = plain[at:]
        return made


class Entry(Struct):
    """One session to be written: as a whole, or what it has grown by."""

    name: str
    file: str
    stamp: str
    slots: int
    sum: int
    held: Held
    """Of all its passages."""

    place: int
    """The first of its passages that is new."""

    settled: int
    """Passages up to which it is settled."""

    first: int
    """Number of its first new passage in the batch."""

    tail: Terms
    """Of the passages that are not settled."""

    seen: Known | None = None
    """What it has grown from; None for a session as a whole."""


class State(Struct, frozen=True):
    """What there is of an index."""

    file: Path
    size: int
    """Bytes of its files together; 0 when there is none."""

    changed: float
    """Seconds since the epoch."""

    known: dict[tuple[str, str], Known]
    """Its sessions, by name and file."""


class _Numbers(dict[str, tuple[int, ...]]):
    """By chunk of a text: the numbers that stand for its terms. Forgets all when it is full."""

    FULL = 200_000

    def __missing__(self, chunk: str) -> tuple[int, ...]:
        if len(self) >= self.FULL:
            self.clear()
        numbers = self[chunk] = tuple(map(term_of, terms(chunk)))
        return numbers


numbers_of = _Numbers()
_held: dict[tuple[Path | None, int, str], Held] = {}
_HELD_MOST = 4_000


def term_of(word: str) -> int:
    """Return the number that stands for a word."""
    return int.from_bytes(
        blake2b(word.encode("utf-8", "replace"), digest_size=TERM_BITS // 8).digest(), "big"
    )


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
    there = [one for one in files_of(file) if one.exists()]
    for one in there:
        one.unlink(missing_ok=True)
    return bool(there)


def _known(database: sqlite3.Connection) -> dict[tuple[str, str], Known]:
    rows = database.execute(
        "SELECT name, file, number, stamp, slots, sum, passages, settled, words, tail FROM sessions"
    )
    return {(name, file): Known(*rest) for name, file, *rest in rows}


class Index:
    """One connection to the index.

    Args:
        file: The index's file; None for one in memory, that lives as long as this object.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._opened = None if file is None else make_way(file)
        if file is None:
            self._database = sqlite3.connect(":memory:", isolation_level=None)
        else:
            self._database = connect(file, PATIENCE, isolation_level=None)
        try:
            self._prepare()
        except Exception as error:
            self.failed(error)
            raise

    def _prepare(self) -> None:
        database = self._database
        if self._file is not None:
            # Pages that joining segments sets free are given back; holds for a new file alone.
            database.execute("PRAGMA auto_vacuum=INCREMENTAL")
            database.execute("PRAGMA journal_mode=WAL")
            # A power failure may lose the newest sessions, which are then indexed again.
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute("PRAGMA secure_delete=ON")
        if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] < 5:
            database.executescript(_TABLES)

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def failed(self, error: Exception) -> None:
        """Close the connection, and throw the file away when an error tells that it is damaged."""
        self._database.close()
        if self._file is not None:
            drop_damaged(self._file, self._opened, error)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
            self._database.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise

    # -- reading ---------------------------------------------------------------

    def known(self) -> dict[tuple[str, str], Known]:
        """Return the indexed sessions, by name and file."""
        return _known(self._database)

    def postings(self, word: str) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Yield the sessions that hold a word, each with its passages and how often they do."""
        query = "SELECT count, run FROM postings WHERE id = ?"
        term = term_of(word)
        for segment, stretches in self._stretches.items():
            for count, run in self._database.execute(query, (segment << TERM_BITS | term,)):
                yield from _by_session(_unpacked(count, run), stretches)

    @cached_property
    def _stretches(self) -> dict[int, list[tuple[int, int, int, int]]]:
        """By segment: first passage, count, session and that passage's place in it."""
        found: dict[int, list[tuple[int, int, int, int]]] = {}
        rows = self._database.execute(
            "SELECT segment, first, count, session, place FROM stretches ORDER BY segment, first"
        )
        for segment, *stretch in rows:
            found.setdefault(segment, []).append(tuple(stretch))
        return found

    def held(self, known: Known) -> Held:
        """Return what is known of a session's passages."""
        key = (self._file, known.number, known.stamp)
        if self._file is None or key not in _held:
            row = self._database.execute(
                "SELECT held, seal FROM sessions WHERE number = ? AND stamp = ?",
                (known.number, known.stamp),
            ).fetchone()
            if row is None:
                # Another process has indexed it again meanwhile.
                return Held.empty()
            if zlib.crc32(row[0]) != row[1]:
                raise Damaged("what is known of a session is not as it was written")
            try:
                found = Held.unpack(row[0])
            except ValueError as error:
                raise Damaged(str(error)) from error
            if len(_held) >= _HELD_MOST:
                _held.clear()
            _held[key] = found
        return _held[key]

    # -- writing ---------------------------------------------------------------

    def write(self, entries: list[Entry], base: dict[int, list[int]]) -> None:
        """Write sessions in one transaction: as a whole, or what those known already grew by.

        Args:
            entries: The sessions.
            base: The terms of what is settled and new of all of them.
        """
        with self._writing() as database:
            known, gone, new = _known(database), set[int](), list[Entry]()
            for entry in entries:
                old = known.get((entry.name, entry.file))
                if (old and old.stamp == entry.stamp) or (entry.seen and old != entry.seen):
                    # Another process has indexed it meanwhile.
                    continue
                if old is not None and entry.seen is None:
                    gone.add(old.number)
                elif old is not None and old.tail is not None:
                    self._drop_segment(old.tail)
                new.append(entry)
            if len(new) < len(entries):
                base = _only(base, new)
            self._purge(gone)
            numbers = [entry.seen.number if entry.seen else self._next("session") for entry in new]
            self._segment(
                base,
                [
                    (entry.first, entry.settled - entry.place, number, entry.place)
                    for entry, number in zip(new, numbers, strict=True)
                ],
            )
            for entry, number in zip(new, numbers, strict=True):
                count = len(entry.held.seqs)
                stretch = (0, count - entry.settled, number, entry.settled)
                tail = self._segment(entry.tail, [stretch], tail=True)
                held = entry.held.pack()
                row = (
                    *(number, entry.name, entry.file, entry.stamp, entry.slots, entry.sum),
                    *(count, entry.settled, sum(entry.held.lengths), tail, held, zlib.crc32(held)),
                )
                marks = ",".join("?" * len(row))
                database.execute(f"INSERT OR REPLACE INTO sessions VALUES ({marks})", row)
        self._join()
        self._give_back()
        self._changed()

    def _give_back(self) -> None:
        # The statement frees one page a step; Python takes all steps of a script alone.
        self._database.executescript("PRAGMA incremental_vacuum")

    def _next(self, counter: str, count: int = 1) -> int:
        (number,) = self._database.execute(f"SELECT {counter} FROM counters").fetchone()
        self._database.execute(f"UPDATE counters SET {counter} = {counter} + ?", (count,))
        return int(number)

    def _changed(self) -> None:
        self.__dict__.pop("_stretches", None)

    def forget(self, numbers: Iterable[int]) -> None:
        """Remove sessions and their terms."""
        with self._writing():
            self._purge(set(numbers))
        self._give_back()
        self._changed()

    def _segment(
        self, found: Terms, stretches: list[tuple[int, int, int, int]], *, tail: bool = False
    ) -> int | None:
        """Write a segment; return its number, None when there is nothing to write.

        Args:
            found: Its terms.
            stretches: First passage, count, session and place of the first one.
            tail: Whether it is a session's tail.
        """
        stretches = [stretch for stretch in stretches if stretch[1]]
        if not stretches:
            return None
        number = self._next("segment")
        last = stretches[-1]
        base = self._next("passage", last[0] + last[1])
        self._database.execute(
            "INSERT INTO segments VALUES (?,?,?)", (number, len(stretches), tail)
        )
        self._database.executemany(
            "INSERT INTO stretches VALUES (?,?,?,?,?)",
            ((number, first + base, *rest) for first, *rest in stretches),
        )
        self._insert(
            number, ((term, (one + (base << 2) for one in found[term])) for term in sorted(found))
        )
        return number

    def _insert(self, segment: int, rows: Iterable[tuple[int, Iterable[int]]]) -> None:
        self._database.executemany(
            "INSERT INTO postings VALUES (?,?,?)",
            ((segment << TERM_BITS | term, *pack(postings)) for term, postings in rows),
        )

    def _drop_segment(self, number: int) -> None:
        self._database.execute("DELETE FROM postings WHERE id BETWEEN ? AND ?", _ids(number))
        self._database.execute("DELETE FROM stretches WHERE segment = ?", (number,))
        self._database.execute("DELETE FROM segments WHERE number = ?", (number,))

    def _purge(self, sessions: set[int]) -> None:
        """Remove sessions, and rewrite the segments that hold terms of theirs."""
        if not sessions:
            return
        marks, database = ",".join("?" * len(sessions)), self._database
        values = tuple(sessions)
        database.execute(f"DELETE FROM sessions WHERE number IN ({marks})", values)
        segments = database.execute(
            f"SELECT DISTINCT segment FROM stretches WHERE session IN ({marks})", values
        ).fetchall()
        database.execute(f"DELETE FROM stretches WHERE session IN ({marks})", values)
        for (segment,) in segments:
            left = database.execute(
                "SELECT first, count FROM stretches WHERE segment = ? ORDER BY first", (segment,)
            ).fetchall()
            if left:
                self._rewrite(segment, left)
                database.execute(
                    "UPDATE segments SET sessions = ? WHERE number = ?", (len(left), segment)
                )
            else:
                self._drop_segment(segment)

    def _rewrite(self, segment: int, left: list[tuple[int, int]]) -> None:
        """Take all but some stretches out of a segment's terms."""
        rows = self._database.execute(
            "SELECT id, count, run FROM postings WHERE id BETWEEN ? AND ?", _ids(segment)
        ).fetchall()
        firsts = [first for first, _ in left]
        changed, empty = [], []
        for row, count, run in rows:
            found = _unpacked(count, run)
            kept = [one for one in found if _is_within(one >> 2, firsts, left)]
            if not kept:
                empty.append((row,))
            elif len(kept) < len(found):
                changed.append((*pack(kept), row))
        self._database.executemany("UPDATE postings SET count = ?, run = ? WHERE id = ?", changed)
        self._database.executemany("DELETE FROM postings WHERE id = ?", empty)

    def _join(self) -> None:
        """Join segments of about one size where there are many."""
        for low, high in ((0, SMALL), (SMALL, LARGE)):
            with self._writing() as database:
                rows = database.execute(
                    "SELECT segment FROM segments JOIN stretches ON segment = number WHERE NOT tail"
                    " AND sessions >= ? AND sessions < ? GROUP BY segment ORDER BY min(first)",
                    (low, high),
                ).fetchall()
                if len(rows) >= JOINED:
                    self._join_all([number for (number,) in rows])

    def _join_all(self, segments: list[int]) -> None:
        """Make one segment of several, whose passages' numbers do not overlap."""
        database, marks = self._database, ",".join("?" * len(segments))
        number = self._next("segment")
        query = "SELECT id & ?, count, run FROM postings WHERE id BETWEEN ? AND ? ORDER BY id"
        cursors = [
            database.execute(query, (_TERM, *_ids(segment))).fetchall() for segment in segments
        ]

        def joined() -> Iterator[tuple[int, Iterable[int]]]:
            # Of the same term, the rows come in the order of the segments.
            for term, same in groupby(merge(*cursors, key=itemgetter(0)), itemgetter(0)):
                yield term, [one for _, count, run in same for one in _unpacked(count, run)]

        self._insert(number, joined())
        database.execute(
            f"UPDATE OR FAIL stretches SET segment = {number} WHERE segment IN ({marks})", segments
        )
        for segment in segments:
            self._drop_segment(segment)
        (count,) = database.execute(
            "SELECT count(*) FROM stretches WHERE segment = ?", (number,)
        ).fetchone()
        database.execute("INSERT INTO segments VALUES (?,?,0)", (number, count))


_TERM = (1 << TERM_BITS) - 1


def _ids(segment: int) -> tuple[int, int]:
    """Return the first and the last id that a row of a segment may have."""
    return segment << TERM_BITS, segment << TERM_BITS | _TERM


def _unpacked(count: int, run: bytes) -> list[int]:
    try:
        return unpack(count, run)
    except (ValueError, OverflowError) as error:
        raise Damaged(str(error)) from error


def _is_within(passage: int, firsts: list[int], stretches: list[tuple[int, int]]) -> bool:
    at = bisect_right(firsts, passage) - 1
    return at >= 0 and passage < stretches[at][0] + stretches[at][1]


def _only(base: dict[int, list[int]], entries: list[Entry]) -> dict[int, list[int]]:
    """Return the terms of some entries of a batch alone."""
    stretches = [(entry.first, entry.settled - entry.place) for entry in entries]
    firsts = [first for first, _ in stretches]
    kept = {
        term: [one for one in postings if _is_within(one >> 2, firsts, stretches)]
        for term, postings in base.items()
    }
    return {term: postings for term, postings in kept.items() if postings}


def _by_session(
    postings: list[int], stretches: list[tuple[int, int, int, int]]
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield postings by session, as places in it and counts."""
    at, last = 0, len(postings)
    for first, count, session, place in stretches:
        end = (first + count) << 2
        # What lies before the stretch belongs to no session.
        at = bisect_left(postings, first << 2, at)
        stop = bisect_left(postings, end, at)
        if stop > at:
            shift = place - first
            yield session, [((one >> 2) + shift, (one & 3) + 1) for one in postings[at:stop]]
        at = stop
        if at == last:
            return
