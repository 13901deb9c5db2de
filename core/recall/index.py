"""Read and update the index.

Every change is one transaction, so a killed process leaves nothing half done. When a session
grows, only its new passages are added. Passages at its end that may still change, such as a
running call, are in a segment of their own (the *tail*), which the next update replaces. A process
that stays keeps its connection and the list of sessions until another process writes.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct, field

from hindnote.core.fs.throwaway_sqlite import drop_damaged, make_way
from hindnote.core.recall.numbers import term_of
from hindnote.core.recall.postings import Block, unpack
from hindnote.core.recall.records import Entry, Held, Known, Terms
from hindnote.core.recall.schema import TERM_BITS, Damaged, known_sessions, opened, prepare
from hindnote.core.recall.segments import Segments, Stretch
from hindnote.core.system import process

_SELECT = "SELECT id, packed FROM blocks WHERE id <= ? ORDER BY id DESC LIMIT 1"


class View(Struct):
    """The content of the index, without its terms."""

    generation: int
    known: dict[tuple[str, str], Known]
    stretches: dict[int, list[Stretch]]
    """By segment."""

    held: dict[int, tuple[str, Held]] = field(default_factory=dict)
    """Each session's stamp and facts about its passages, by session number."""


class _Kept(Struct):
    """A connection that this process keeps open."""

    database: sqlite3.Connection
    status: os.stat_result
    view: View | None


_kept: dict[Path, _Kept] = {}


class Index:
    """One connection to the index, to be used by one thread at a time.

    Args:
        file: The index's file; None for an index in memory.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._opened = None if file is None else make_way(file)
        self._view: View | None = None
        kept = None if file is None else _kept.pop(file, None)
        if kept is not None and self._is_same(kept.status):
            self._database, self._view = kept.database, kept.view
            return
        if kept is not None:
            kept.database.close()
        self._database = opened(file)
        try:
            prepare(self._database, kept=file is not None)
        except Exception as error:
            self.failed(error)
            raise

    def _is_same(self, status: os.stat_result) -> bool:
        return self._opened is not None and os.path.samestat(self._opened, status)

    def close(self) -> None:
        """Keep the connection for the next call of this process."""
        if self._file is not None and self._opened is not None and process.stays():
            with suppress(OSError):
                # Another process may have replaced the file while this one opened it.
                if self._is_same(status := self._file.lstat()):
                    _kept[self._file] = _Kept(self._database, status, self._view)
                    return
        self._database.close()

    def failed(self, error: Exception) -> None:
        """Close the connection, and delete the file if the error shows that it is damaged."""
        self._database.close()
        if self._file is not None:
            drop_damaged(self._file, self._opened, error)

    # -- reading ---------------------------------------------------------------

    def known(self) -> dict[tuple[str, str], Known]:
        """Return the indexed sessions, by name and file, as of the last ``refresh``."""
        return self._seen().known

    def refresh(self) -> None:
        """Read what other processes have written."""
        self._now()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Read a single state of the index during the block, even if other processes write."""
        self._database.execute("BEGIN")
        try:
            self._now()
            yield
        finally:
            with suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")

    def postings(self, word: str) -> Iterator[tuple[int, int, list[int]]]:
        """Yield the sessions that contain a word, with a shift and postings; call it in ``still``.

        A posting's passage number plus the shift is the passage's place in the session. A session
        may be yielded more than once.
        """
        term = term_of(word)
        for segment, stretches in self._seen().stretches.items():
            found = self._block(segment, term).of(term)
            if found:
                yield from _by_session(found, stretches)

    def _block(self, segment: int, term: int) -> Block:
        """Return the only block of a segment that can contain a term."""
        first = segment << TERM_BITS
        row = self._database.execute(_SELECT, (first | term,)).fetchone()
        return _NOTHING if row is None or row[0] < first else _unpacked(row[1])

    def held(self, known: Known) -> Held:
        """Return the facts about a session's passages.

        Raises:
            Damaged: The stored data is not what was written.
        """
        kept = self._seen().held
        stamp, found = kept.get(known.number, ("", None))
        if found is None or stamp != known.stamp:
            found = self._read_held(known)
            kept[known.number] = known.stamp, found
        return found

    def _read_held(self, known: Known) -> Held:
        row = self._database.execute(
            "SELECT held, seal FROM sessions WHERE number = ? AND stamp = ?",
            (known.number, known.stamp),
        ).fetchone()
        if row is None:
            # Another process has meanwhile indexed it again.
            return Held.empty()
        if zlib.crc32(row[0]) != row[1]:
            raise Damaged("what is known of a session is not as it was written")
        try:
            return Held.unpack(row[0])
        except ValueError as error:
            raise Damaged(str(error)) from error

    def _seen(self) -> View:
        return self._now() if self._view is None else self._view

    def _now(self) -> View:
        """Return the content of the index; it is read again after another connection wrote."""
        (generation,) = self._database.execute("SELECT generation FROM counters").fetchone()
        if self._view is None or self._view.generation != generation:
            held = {} if self._view is None else self._view.held
            self._view = View(
                generation, known_sessions(self._database), _stretches(self._database), held
            )
        return self._view

    # -- writing ---------------------------------------------------------------

    def write(self, entries: list[Entry], base: Terms) -> None:
        """Write sessions in one transaction: whole ones, and the new passages of known ones.

        Args:
            entries: The sessions.
            base: The terms of all their new passages that will not change.
        """
        with self._writing() as segments:
            known, gone, new = self._now().known, set[int](), list[Entry]()
            for entry in entries:
                old = known.get((entry.name, entry.file))
                if (old and old.stamp == entry.stamp) or (entry.seen and old != entry.seen):
                    # Another process has meanwhile indexed it.
                    continue
                if old is not None and entry.seen is None:
                    gone.add(old.number)
                elif old is not None and old.tail is not None:
                    segments.drop(old.tail)
                new.append(entry)
            if gone:
                self._purge(gone, segments)
            numbers = [
                entry.seen.number if entry.seen else segments.next("session") for entry in new
            ]
            segments.add_batch(new, numbers, base, whole=len(new) == len(entries))
            for entry, number in zip(new, numbers, strict=True):
                self._write_session(entry, number, segments)
        if segments.small():
            with self._writing() as segments:
                segments.join(segments.small())
        self._give_back()

    def _write_session(self, entry: Entry, number: int, segments: Segments) -> None:
        count = len(entry.held.seqs)
        tail = segments.add(
            entry.tail, [Stretch(0, count - entry.settled, number, entry.settled)], tail=True
        )
        held = entry.held.pack()
        words = sum(entry.held.lengths)
        known = Known(
            *(number, entry.stamp, entry.slots, entry.sum, entry.size, entry.file_sum),
            *(count, entry.settled, words, tail),
        )
        self._database.execute(
            f"INSERT OR REPLACE INTO sessions VALUES ({','.join('?' * 14)})",
            (
                *(number, entry.name, entry.file, entry.stamp, entry.slots, entry.sum),
                *(entry.size, entry.file_sum),
                *(count, entry.settled, words, tail, held, zlib.crc32(held)),
            ),
        )
        view = self._now()
        view.known[entry.name, entry.file] = known
        view.held[number] = entry.stamp, entry.held

    def forget(self, numbers: Iterable[int]) -> None:
        """Remove sessions and their terms."""
        with self._writing() as segments:
            self._purge(set(numbers), segments)
        self._give_back()

    def _purge(self, sessions: set[int], segments: Segments) -> None:
        marks = ",".join("?" * len(sessions))
        self._database.execute(f"DELETE FROM sessions WHERE number IN ({marks})", tuple(sessions))
        segments.take_out(sessions)
        view = self._now()
        for key in [key for key, one in view.known.items() if one.number in sessions]:
            del view.known[key]
        for number in sessions:
            view.held.pop(number, None)

    @contextmanager
    def _writing(self) -> Iterator[Segments]:
        """Run the block as one transaction. Afterwards the data in memory equals the file."""
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            view = self._now()
            yield Segments(database, view.stretches)
            database.execute("UPDATE counters SET generation = generation + 1")
            database.execute("COMMIT")
            view.generation += 1
        except BaseException:
            self._view = None
            with suppress(sqlite3.Error):
                database.execute("ROLLBACK")
            raise

    def _give_back(self) -> None:
        """Return free pages to the file system when there are many."""
        (free,) = self._database.execute("PRAGMA freelist_count").fetchone()
        if free > FREE_MOST:
            # The statement frees one page per step. Python runs all steps only in a script.
            self._database.executescript("PRAGMA incremental_vacuum")


FREE_MOST = 32
"""Number of free pages that the file may keep."""

_NOTHING = Block([], [], [])


def _unpacked(packed: bytes) -> Block:
    try:
        return unpack(packed)
    except (ValueError, OverflowError) as error:
        raise Damaged(str(error)) from error


def _stretches(database: sqlite3.Connection) -> dict[int, list[Stretch]]:
    found: dict[int, list[Stretch]] = {}
    rows = database.execute(
        "SELECT segment, first, count, session, place FROM stretches ORDER BY segment, first"
    )
    for segment, *stretch in rows:
        found.setdefault(segment, []).append(Stretch(*stretch))
    return found


def _by_session(
    postings: list[int], stretches: list[Stretch]
) -> Iterator[tuple[int, int, list[int]]]:
    at, last = 0, len(postings)
    for first, size, session, place in stretches:
        # Passages before the stretch belong to no session.
        at = bisect_left(postings, first << 2, at)
        stop = bisect_left(postings, (first + size) << 2, at)
        if stop > at:
            yield session, place - first, postings[at:stop]
        at = stop
        if at == last:
            return
