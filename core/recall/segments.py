"""The segments of the index: terms of many sessions, written at once and joined later.

Each segment numbers its passages from 0. Small ones are joined where there are many.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from hindnote.core.recall.postings import blocks, unpack
from hindnote.core.recall.records import Entry, Terms
from hindnote.core.recall.schema import TERM_BITS, Damaged

JOINED = 8
"""So many small segments are joined to one."""

SMALL = 2_000
"""Passages of a segment below which it is joined; larger ones stay, so that joining is quick."""

_TERM = (1 << TERM_BITS) - 1


class Stretch(NamedTuple):
    """Passages of a segment that are of one session and follow each other there."""

    first: int
    """Number of the first one in the segment."""

    size: int
    session: int
    place: int
    """Of the first one in its session."""


class Segments:
    """The segments, while one transaction writes.

    Args:
        database: Where they are.
        stretches: Those of each segment, kept as they become.
    """

    def __init__(self, database: sqlite3.Connection, stretches: dict[int, list[Stretch]]) -> None:
        self._database, self._stretches = database, stretches

    def next(self, counter: str) -> int:
        """Return the next number of a counter."""
        (number,) = self._database.execute(f"SELECT {counter} FROM counters").fetchone()
        self._database.execute(f"UPDATE counters SET {counter} = {counter} + 1")
        return int(number)

    def add_batch(
        self, entries: Sequence[Entry], numbers: Sequence[int], base: Terms, *, whole: bool
    ) -> None:
        """Write the settled passages of a batch.

        Args:
            entries: Its sessions.
            numbers: Their numbers.
            base: The batch's terms.
            whole: Whether these are all sessions that the terms are of.
        """
        stretches = [
            Stretch(entry.first, entry.settled - entry.place, number, entry.place)
            for entry, number in zip(entries, numbers, strict=True)
        ]
        self.add(base if whole else _only(base, stretches), stretches)

    def add(self, found: Terms, stretches: Iterable[Stretch], *, tail: bool = False) -> int | None:
        """Write a segment; return its number, None when it would have no passage.

        Args:
            found: Its terms.
            stretches: Its stretches.
            tail: Whether it is a session's tail.
        """
        filled = [stretch for stretch in stretches if stretch.size]
        if not filled:
            return None
        number, last = self.next("segment"), filled[-1]
        self._insert(number, filled, last.first + last.size, tail=tail)
        self._insert_blocks(number, ((term, found[term]) for term in sorted(found)))
        return number

    def _insert(
        self, number: int, stretches: list[Stretch], passages: int, *, tail: bool = False
    ) -> None:
        sessions = len({stretch.session for stretch in stretches})
        self._database.execute(
            "INSERT INTO segments VALUES (?,?,?,?)", (number, sessions, passages, tail)
        )
        self._database.executemany(
            "INSERT INTO stretches VALUES (?,?,?,?,?)",
            ((number, *stretch) for stretch in stretches),
        )
        self._stretches[number] = stretches

    def _insert_blocks(self, segment: int, found: Iterable[tuple[int, Sequence[int]]]) -> None:
        first = segment << TERM_BITS
        self._database.executemany(
            "INSERT INTO blocks VALUES (?,?)",
            ((first | term, packed) for term, packed in blocks(found)),
        )

    def drop(self, number: int) -> None:
        """Remove a segment."""
        for table, column, values in (
            ("blocks", "id BETWEEN ? AND ?", _ids(number)),
            ("stretches", "segment = ?", (number,)),
            ("segments", "number = ?", (number,)),
        ):
            self._database.execute(f"DELETE FROM {table} WHERE {column}", values)
        self._stretches.pop(number, None)

    def take_out(self, sessions: set[int]) -> None:
        """Remove sessions: the segments that hold terms of theirs are written again."""
        for number, stretches in list(self._stretches.items()):
            left = [stretch for stretch in stretches if stretch.session not in sessions]
            if len(left) == len(stretches):
                continue
            terms = list(self._terms(number)) if left else []
            passages, tail = self._facts(number)
            self.drop(number)
            if left:
                kept = _only(dict(terms), left)
                self._insert(number, left, passages, tail=tail)
                self._insert_blocks(number, kept.items())

    def _facts(self, number: int) -> tuple[int, bool]:
        passages, tail = self._database.execute(
            "SELECT passages, tail FROM segments WHERE number = ?", (number,)
        ).fetchone()
        return passages, bool(tail)

    def small(self) -> list[int]:
        """Return the small segments, if they are so many that they are to be joined."""
        rows = self._database.execute(
            "SELECT number FROM segments WHERE NOT tail AND passages < ? ORDER BY number", (SMALL,)
        )
        numbers = [number for (number,) in rows]
        return numbers if len(numbers) >= JOINED else []

    def join(self, numbers: list[int]) -> None:
        """Make one segment of several; the passages of the later ones get higher numbers."""
        shift, stretches = 0, list[Stretch]()
        parts: list[Iterator[tuple[int, list[int]]]] = []
        for number in numbers:
            parts.append(self._terms(number, shift))
            stretches += (one._replace(first=one.first + shift) for one in self._stretches[number])
            shift += self._facts(number)[0]
        # Of the same term, the postings come in the order of the segments.
        same = groupby(merge(*parts, key=itemgetter(0)), itemgetter(0))
        joined = self.next("segment")
        self._insert_blocks(
            joined,
            ((term, list(chain.from_iterable(map(itemgetter(1), all_)))) for term, all_ in same),
        )
        for number in numbers:
            self.drop(number)
        self._insert(joined, stretches, shift)

    def _terms(self, segment: int, shift: int = 0) -> Iterator[tuple[int, list[int]]]:
        """Yield a segment's terms with their postings, their passages' numbers shifted."""
        rows = self._database.execute(
            "SELECT packed FROM blocks WHERE id BETWEEN ? AND ? ORDER BY id", _ids(segment)
        )
        more = (shift << 2).__add__
        for (packed,) in rows:
            try:
                block = unpack(packed)
            except (ValueError, OverflowError) as error:
                raise Damaged(str(error)) from error
            for term, postings in block.items():
                yield term, list(map(more, postings)) if shift else postings


def _ids(segment: int) -> tuple[int, int]:
    """Return the first and the last id that a block of a segment may have."""
    return segment << TERM_BITS, segment << TERM_BITS | _TERM


def _only(found: Mapping[int, Sequence[int]], stretches: Sequence[Stretch]) -> dict[int, list[int]]:
    """Return the terms of some stretches alone."""
    firsts = [stretch.first for stretch in stretches]

    def within(posting: int) -> bool:
        at = bisect_right(firsts, posting >> 2) - 1
        return at >= 0 and posting >> 2 < firsts[at] + stretches[at].size

    kept = {term: [one for one in postings if within(one)] for term, postings in found.items()}
    return {term: postings for term, postings in kept.items() if postings}
