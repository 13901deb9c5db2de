"""Bring the index up to date, and report which sessions it covers."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.operations.indexed import (
    branch_sum,
    file_sum,
    passages,
    portion,
    settled,
)
from hindnote.core.history.operations.lookups import Lookups
from hindnote.core.history.operations.order import by_age
from hindnote.core.history.operations.wildcard import broken_off, outside_bounds
from hindnote.core.history.timeline import Timeline
from hindnote.core.recall.batch import Batch, Session
from hindnote.core.recall.index import Index
from hindnote.core.recall.schema import Damaged, index_file

if TYPE_CHECKING:
    from hindnote.core.history.operations.selection import Filters
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.sessions import Sessions, Target
    from hindnote.core.recall.records import Known
    from hindnote.core.tools.operation import Progress

PORTION = 2_000
"""Number of passages that are indexed before the time is checked again."""

_UNFINISHED = "unfinished"
"""Beginning of the stamp of a session that is indexed only in part."""

T = TypeVar("T")


class Coverage(Struct):
    """The sessions that an answer covers."""

    sessions: dict[int, Known] = field(default_factory=dict)
    """The covered sessions by number, newest first."""

    targets: dict[int, Target] = field(default_factory=dict)
    outside: int = 0
    """Number of sessions excluded by the times of their files."""

    skipped: int = 0
    remaining: int = 0

    @property
    def covered(self) -> int:
        """Number of sessions that are covered or excluded."""
        return sum(map(_is_whole, self.sessions.values())) + self.outside


class Opening:
    """Opens sessions. One that cannot be read does not stop the others.

    Args:
        sessions: Where they are.
        alone: The only requested session, if it is already open.
    """

    def __init__(self, sessions: Sessions, alone: Projection | None = None) -> None:
        self.sessions, self.alone = sessions, alone
        self._unreadable: set[str] = set()

    def open(self, target: Target) -> Projection | None:
        """Return a session; None when it cannot be read."""
        if self.alone is not None:
            return self.alone
        if target.canonical in self._unreadable:
            return None
        try:
            return self.sessions.open(target)
        except Refused as refused:
            if refused.code != "unreadable_session":
                raise
        except HostFailure as failure:
            self.pass_over(target, failure)
        self._unreadable.add(target.canonical)
        return None

    def pass_over(self, target: Target, failure: HostFailure) -> None:
        """Record a failure, and continue without the session."""
        self.sessions.pass_over(target.canonical.partition(":")[0], failure)


class Indexing:
    """Updates the index.

    Args:
        index: The index.
        opening: Opens the sessions.
        between: Called before each session, and before each portion of one.
    """

    def __init__(
        self, index: Index, opening: Opening, between: Callable[[], None] = lambda: None
    ) -> None:
        self._index, self._opening, self._between = index, opening, between
        self._running = opening.sessions.running
        self._batch = Batch(index)
        self._done: set[tuple[str, str]] = set()
        self._worked = False

    def cover(
        self,
        targets: list[Target],
        filters: Filters | None,
        seconds: float,
        progress: Progress | None = None,
    ) -> Coverage:
        """Index sessions, newest first, until the time is over.

        Args:
            targets: The sessions.
            filters: The filters of the call; None for everything.
            seconds: The time limit. At least one session, or a portion of it, is indexed, so
                that repeated calls come to the end.
            progress: Called with the progress.
        """
        coverage = Coverage()
        self._index.refresh()
        self._forget(targets)
        deadline = monotonic() + seconds
        for place, target in enumerate(by_age(targets, self._running)):
            if progress is not None:
                progress(place, len(targets))
            self._between()
            if self._worked and monotonic() > deadline:
                coverage.remaining += len(targets) - place
                break
            if filters is not None and outside_bounds(target, filters):
                coverage.outside += 1
                continue
            whole = self._indexed(target, deadline)
            if whole is None:
                coverage.skipped += 1
            else:
                self._done.add(key_of(target))
                coverage.remaining += not whole
        self._batch.flush()
        return coverage

    def fill(self, coverage: Coverage, targets: list[Target]) -> None:
        """Add the sessions to a coverage as they are in the index now.

        Args:
            coverage: The result of ``cover``.
            targets: The sessions that ``cover`` was called with.
        """
        known = self._index.known()
        for target in targets:
            one = known.get(key_of(target)) if key_of(target) in self._done else None
            if one is not None and (_is_whole(one) or self._opening.alone is not None):
                coverage.sessions[one.number], coverage.targets[one.number] = one, target

    def _forget(self, targets: list[Target]) -> None:
        """Remove sessions whose files are gone."""
        asked = set(map(key_of, targets))
        gone = [
            one.number
            for (name, file), one in self._index.known().items()
            # A session with a file was just listed by a catalogue.
            if (name, file) not in asked and not (file and os.path.lexists(file))
        ]
        if gone:
            self._index.forget(gone)

    def _indexed(self, target: Target, deadline: float) -> bool | None:
        """Update a session in the index.

        Returns:
            Whether all of it is; None when it cannot be read.
        """
        stamp, held = stamp_of(target), self._index.known().get(key_of(target))
        if target.entry is None or target.canonical == self._running or not stamp:
            # The current entry of the running session is known only to the host, not from its
            # file. Without a file, only the session itself shows whether it changed.
            self._worked |= target.canonical != self._running
            projection = self._opening.open(target)
            if projection is None:
                return None
            sum_ = branch_sum(projection, len(projection.branch.seqs))
            # The call that asks counts as a look-up, so another call needs another index of the
            # same state.
            asking = self._opening.sessions.asking(target.canonical)
            stamp = f"{stamp} {projection.last_seq} {sum_} {asking or ''}".rstrip()
        if held is not None and held.stamp == stamp:
            return True
        self._worked = True
        # The checksums come first: a file that is replaced after them is indexed again.
        size = int(stamp_of(target).partition(" ")[0] or 0)
        rewritten = held is not None and held.file_sum != _file_sum(target, held.size)
        read = size, _file_sum(target, size)
        projection = self._opening.open(target)
        if projection is None:
            return None
        try:
            return self._add(target, projection, stamp, deadline, read, rewritten=rewritten)
        except (sqlite3.Error, OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 (what a plugin raises costs this session alone)
            self._opening.pass_over(target, broken_off(target, error))
            return None

    def _add(
        self,
        target: Target,
        projection: Projection,
        stamp: str,
        deadline: float,
        read: tuple[int, int],
        *,
        rewritten: bool,
    ) -> bool:
        """Index a session portion by portion; return whether all of it was indexed in time.

        Args:
            target: The session.
            projection: Its current state.
            stamp: Its stamp for the index.
            deadline: The time when to stop.
            read: The size and the checksum of its file.
            rewritten: Whether the file no longer begins with the bytes that are indexed.
        """
        timeline = Timeline(projection, passing=True)
        asking = self._opening.sessions.asking(target.canonical)
        lookups = Lookups(projection.header.tool_prefix, asking)
        last = settled(timeline)
        while True:
            held = self._index.known().get(key_of(target))
            if rewritten or (held is not None and not _begins_with(projection, last, held)):
                held, rewritten = None, False
            start = 0 if held is None else held.slots
            found, stop = portion(timeline, lookups, range(start, last), PORTION)
            whole = stop == last
            rest = passages(timeline, lookups, range(last, timeline.size)) if whole else ()
            session = Session(
                *key_of(target),
                stamp=stamp if whole else f"{_UNFINISHED} {stop}",
                slots=stop,
                sum=branch_sum(projection, stop),
                size=read[0],
                file_sum=read[1],
            )
            if held is None:
                self._batch.add(session, found, list(rest))
            else:
                self._batch.grow(held, session, found, list(rest))
            if whole:
                return True
            self._batch.flush()
            self._between()
            if monotonic() > deadline:
                return False


def _begins_with(projection: Projection, settled: int, known: Known) -> bool:
    """Return whether the indexed part is still the beginning of the session."""
    return known.slots <= settled and known.sum == branch_sum(projection, known.slots)


def _file_sum(target: Target, size: int) -> int:
    return 0 if target.entry is None else file_sum(target.entry.file, size)


def _is_whole(known: Known) -> bool:
    return not known.stamp.startswith(_UNFINISHED)


def with_index(work: Callable[[Index], T]) -> T:
    """Call a function with the index.

    A damaged index is created again. If that fails, the index is kept in memory.
    """
    for _ in range(2):
        index = None
        try:
            index = Index(index_file())
            done = work(index)
            index.close()
        except (sqlite3.Error, OSError, Damaged) as error:
            if index is not None:
                index.failed(error)
        else:
            return done
    index = Index(None)
    try:
        return work(index)
    finally:
        index.close()


def up_to_date(known: Mapping[tuple[str, str], Known], targets: Iterable[Target]) -> int:
    """Return the number of sessions whose current state is in the index."""
    count = 0
    for target in targets:
        if target.entry is not None:
            held = known.get(key_of(target))
            # The stamp of a running session also contains its branch.
            count += held is not None and f"{held.stamp} ".startswith(f"{stamp_of(target)} ")
    return count


def stamp_of(target: Target) -> str:
    """Return a stamp that changes with a session's file, from the catalogue if it has the facts."""
    entry = target.entry
    if entry is None:
        return ""
    if entry.size and entry.modified:
        return f"{entry.size} {entry.modified!r}"
    try:
        facts = os.stat(entry.file)  # noqa: PTH116 (thousands of them)
    except OSError:
        return ""
    return f"{facts.st_size} {facts.st_mtime!r}"


def key_of(target: Target) -> tuple[str, str]:
    """Return the name and the file of a session; the file is empty if there is none yet."""
    return target.canonical, "" if target.entry is None else str(target.entry.file)
