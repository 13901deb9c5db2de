"""Lists over many sessions: one row per session, or a query's hits, newest session first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from hindnote.core.delivery.budget import Size
from hindnote.core.errors import HostFailure, Refused, class_name
from hindnote.core.history.operations.lookups import Lookups
from hindnote.core.history.operations.models import HistoryList
from hindnote.core.history.operations.page import SizedRows, fit
from hindnote.core.history.operations.rows import Rows
from hindnote.core.history.operations.selection import EventWalk
from hindnote.core.history.timeline import Timeline
from hindnote.core.history.times import instant
from hindnote.core.history.turns import SEARCHES, Turn
from hindnote.core.text.messages import MESSAGE_LIMIT, quote

if TYPE_CHECKING:
    from hindnote.core.history.operations.models import EventRow, HistoryListParams
    from hindnote.core.history.operations.selection import Filters, Hit
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.scan import Scan
    from hindnote.core.history.sessions import Sessions, Target
    from hindnote.core.tools.operation import BoundCall

SECONDS_VARIABLE = "HINDNOTE_SEARCH_SECONDS"
DEFAULT_SECONDS = 20.0

CLOCK_MARGIN = 86_400.0
"""Seconds by which a file's modification time may be behind the times of its events."""

Key = tuple[str, str, str | None, str, str | None]


def time_limit() -> float:
    """Return the time limit of a list over many sessions, in seconds."""
    try:
        seconds = float(os.environ.get(SECONDS_VARIABLE, ""))
    except ValueError:
        return DEFAULT_SECONDS
    return seconds if seconds > 0 else DEFAULT_SECONDS


class _Progress(Struct, frozen=True):
    """The state of a search."""

    covered: int = 0
    """Number of sessions that need no further search."""

    skipped: int = 0
    lookups: int = 0
    """Number of matching look-ups left out."""

    damaged: int = 0
    """Number of damaged lines in all sessions read."""


class _Found(Struct):
    """One row, and the state of the search before and after it."""

    rows: Rows
    chosen: Hit
    row: EventRow
    before: _Progress
    """State before this row's session was read."""

    after: _Progress
    """State after this row, including what was skipped in its session before it."""

    copies: set[str] = field(default_factory=set)
    """Other sessions that contain the same event."""

    def final(self) -> EventRow:
        """Return the row with what the search found later."""
        if not self.copies:
            return self.row
        return self.row.model_copy(update={"also_in": len(self.copies)})


class Corpus:
    """One list over many sessions.

    Args:
        bound: The call.
        params: Its parameters; without seq bounds.
        filters: Its filters.
        sessions: Opens the sessions.
        targets: The sessions, in the order in which they are read.
        scan: Rules out sessions by the bytes of their files.
    """

    def __init__(
        self,
        bound: BoundCall,
        params: HistoryListParams,
        filters: Filters,
        sessions: Sessions,
        targets: list[Target],
        scan: Scan | None = None,
    ) -> None:
        self._bound, self._params, self._sessions = bound, params, sessions
        if filters.matcher is None and not filters.roles:
            filters = replace(filters, roles=frozenset({"user"}))
        self._filters, self._targets, self._scan = filters, targets, scan
        self._found: list[_Found] = []
        self._by_key: dict[Key, _Found] = {}
        self._size = Size(0, 0)
        self._progress = _Progress()

    def page(self) -> HistoryList:
        """Return the list.

        Raises:
            Refused: ``page_too_large``.
        """
        self._search()
        found, places = self._found, self._places()
        if not found:
            return self._result(self._progress)

        def page(blocks: list[SizedRows]) -> HistoryList:
            progress, count = self._progress, len(blocks)
            if count < len(found):
                # The session of the first row left out is the first one not covered.
                last, left = found[count - 1].after, found[count].before
                progress = replace(last, covered=left.covered, skipped=left.skipped)
            rows: list[Any] = [item for block in blocks for item in block.items]
            rows.sort(key=lambda row: (places[row.session], row.seq))
            return self._result(progress).model_copy(update={"items": rows})

        return fit(
            [SizedRows.of(one.final()) for one in found],
            self._bound.budget,
            page,
            self._shrinking(found[0]),
            "since, until or a session selector",
        )

    def _search(self) -> None:
        deadline = monotonic() + time_limit()
        with SEARCHES.turn() as turn:
            self._look_around(turn, deadline)

    def _look_around(self, turn: Turn, deadline: float) -> None:
        for index, target in enumerate(self._targets):
            if self._bound.progress is not None:
                self._bound.progress(index, len(self._targets))
            full = len(self._found) >= self._params.rows
            if full or (index and (monotonic() > deadline or not turn.pass_on(deadline))):
                return
            if outside_bounds(target, self._filters) or self._ruled_out(target, deadline):
                self._advance(covered=1)
                continue
            if not self._take(target):
                return

    def _take(self, target: Target) -> bool:
        """Search one session as far as it can be read.

        Return whether there is room for more rows.
        """
        try:
            projection = self._sessions.open(target)
            if projection is not None:
                whole = self._look_into(target, projection)
                self._advance(covered=int(whole))
                return whole
        except Refused as refused:
            if refused.code != "unreadable_session":
                raise
        except HostFailure as failure:
            # If a plugin fails on one session, the other sessions are still listed.
            self._sessions.pass_over(target.canonical.partition(":")[0], failure)
        except Exception as error:  # noqa: BLE001
            # A plugin may change a branch after it was checked, and reading it then fails here.
            # Only this session is skipped.
            self._sessions.pass_over(target.canonical.partition(":")[0], broken_off(target, error))
        self._advance(skipped=1)
        return True

    def _look_into(self, target: Target, projection: Projection) -> bool:
        """Add the rows of one session; return whether that was all of them."""
        timeline = Timeline(projection, passing=True)
        rows = Rows(timeline, self._params, target.canonical, self._filters.matcher)
        lookups = Lookups(projection.header.tool_prefix, self._sessions.asking(target.canonical))
        walk = EventWalk(timeline, self._filters, lookups)
        before = self._progress
        inside = replace(before, damaged=before.damaged + len(projection.damaged))
        for chosen in self._walk(walk, timeline):
            key = self._key(timeline, chosen)
            copied = None if key is None else self._by_key.get(key)
            if copied is not None and copied.row.session != target.canonical:
                copied.copies.add(target.canonical)
                continue
            if len(self._found) >= self._params.rows or not self._bound.budget.allows(self._size):
                return False
            row = rows.event(chosen)
            # Counts what was left out before this page's last row, but nothing after it.
            self._progress = replace(inside, lookups=before.lookups + chosen.lookups)
            found = _Found(rows, chosen, row, before, self._progress)
            self._found.append(found)
            self._size += SizedRows.of(row).least
            if key is not None:
                self._by_key.setdefault(key, found)
        self._progress = replace(inside, lookups=before.lookups + walk.omitted)
        return True

    def _advance(self, covered: int = 0, skipped: int = 0) -> None:
        progress = self._progress
        self._progress = replace(
            progress, covered=progress.covered + covered, skipped=progress.skipped + skipped
        )

    def _walk(self, walk: EventWalk, timeline: Timeline) -> Iterator[Hit]:
        if self._filters.matcher is None:
            # The latest event represents the session.
            latest = next(walk.over(range(timeline.size - 1, -1, -1)), None)
            return iter([] if latest is None else [latest])
        if self._params.from_ == "newest":
            return walk.over(range(timeline.size - 1, -1, -1))
        return walk.over(range(timeline.size))

    def _key(self, timeline: Timeline, chosen: Hit) -> Key | None:
        """Return a key that a fork's copy of a hit shares; None if the event has no entry id.

        The call id is part of it, since one answer may contain several calls.
        """
        if chosen.event is None or chosen.event.facts.entry_id is None:
            return None
        return (
            timeline.projection.header.host,
            chosen.event.facts.entry_id,
            chosen.event.created_at,
            timeline.role(chosen.position),
            timeline.call_id(chosen.position),
        )

    def _ruled_out(self, target: Target, deadline: float) -> bool:
        return self._scan is not None and self._scan.lacks(target, deadline)

    def _shrinking(self, first: _Found) -> Callable[[int], SizedRows]:
        shrunk = first.rows.shrinking(first.final(), first.chosen)
        return lambda limit: SizedRows.of(shrunk(limit))

    def _places(self) -> dict[str, int]:
        """Return the order of sessions on the page, newest first."""
        newest = sorted(self._targets, key=_modified, reverse=True)
        return {target.canonical: place for place, target in enumerate(newest)}

    def _result(self, progress: _Progress) -> HistoryList:
        remaining = len(self._targets) - progress.covered - progress.skipped
        fields: dict[str, Any] = {
            "sessions_covered": progress.covered,
            "sessions_remaining": remaining,
        }
        if progress.skipped:
            fields["sessions_skipped"] = progress.skipped
        if progress.lookups:
            fields["lookups_omitted"] = progress.lookups
        if progress.damaged:
            fields["damaged_lines"] = progress.damaged
        if self._sessions.failures:
            fields["note"] = without(self._sessions.failures)
        return HistoryList(items=[], page_older=None, page_newer=None, **fields)


def outside_bounds(target: Target, filters: Filters) -> bool:
    """Return whether a session's file shows that no event can be within the time bounds."""
    entry = target.entry
    if entry is None:
        return False
    if filters.since is not None and 0 < entry.modified + CLOCK_MARGIN < filters.since:
        return True
    # A fork's entries may be older than the fork.
    return (
        filters.until is not None
        and entry.parent is None
        and instant(entry.started) >= filters.until
    )


def _modified(target: Target) -> float:
    # Without an entry it is the running session, which is changing now.
    return inf if target.entry is None else target.entry.modified


def broken_off(target: Target, error: Exception) -> HostFailure:
    """Return the failure for a session that could not be read to its end."""
    failure = HostFailure(
        f"reading session {quote(target.canonical)} failed with {class_name(type(error))}"
    )
    failure.__cause__ = error
    return failure


def without(failures: dict[str, HostFailure]) -> str:
    """Return the note of a list that lacks some hosts."""
    told = "; ".join(str(failures[host]) for host in sorted(failures))
    note = f"sessions of {', '.join(sorted(failures))} are missing: {told}"
    return note if len(note) <= MESSAGE_LIMIT else f"{note[: MESSAGE_LIMIT - 1]}…"
