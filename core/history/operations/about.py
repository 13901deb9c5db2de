"""Lists by what events are about: ranked, the best first."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.operations.lookups import Lookups
from hindnote.core.history.operations.models import COUNTED, EventRow, HistoryList
from hindnote.core.history.operations.order import by_age
from hindnote.core.history.operations.page import SizedRows, fit
from hindnote.core.history.operations.rows import tool_facts
from hindnote.core.history.operations.selection import EventWalk
from hindnote.core.history.operations.wildcard import (
    broken_off,
    outside_bounds,
    time_limit,
    without,
)
from hindnote.core.history.projection import SlotKind
from hindnote.core.history.scan import Scan
from hindnote.core.history.sessions import Target, is_wildcard
from hindnote.core.history.timeline import ROLES, Timeline
from hindnote.core.history.turns import Turns
from hindnote.core.recall.asking import Question, ask
from hindnote.core.recall.batch import Batch, Passage, Session
from hindnote.core.recall.index import Damaged, Index, index_file
from hindnote.core.recall.passages import best_start, spoken_cut
from hindnote.core.recall.words import chunks

if TYPE_CHECKING:
    from hindnote.core.history.document import Event
    from hindnote.core.history.operations.models import HistoryListParams
    from hindnote.core.history.operations.selection import Filters
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.sessions import Sessions
    from hindnote.core.recall.asking import Answer, Ranked
    from hindnote.core.recall.index import Held, Known
    from hindnote.core.tools.operation import BoundCall

ROWS_OF_A_SESSION = 3
"""Rows of one session in a list over many, at most."""

PASSAGE_WORDS = 200
"""Words of a passage; a longer event has several."""

OUTPUT_SHOWN = 4_096
"""Code points of a tool's output that are indexed, from its beginning and from its end each."""

OPEN_SLOTS = 256
"""Slots at the end of a session among which a call may still get its result."""

_LOOKUP = len(ROLES)
"""Kind of a passage that is a look-up; the other kinds are places in ``ROLES``."""

_WEIGHTS = {"user": 1.0, "assistant": 1.0, "tool": 0.7, "context": 0.8}

_TURNS = Turns()
T = TypeVar("T")


class _Coverage(Struct):
    """Which sessions the index answers for."""

    sessions: dict[int, Known] = field(default_factory=dict)
    """By number, the newest one first."""

    targets: dict[int, Target] = field(default_factory=dict)
    skipped: int = 0
    remaining: int = 0


class About:
    """One list by what events are about.

    Args:
        bound: The call.
        params: Its parameters, with ``about``.
        filters: Its filters.
        sessions: Where the sessions are opened.
    """

    def __init__(
        self, bound: BoundCall, params: HistoryListParams, filters: Filters, sessions: Sessions
    ) -> None:
        self._bound, self._params, self._filters = bound, params, filters
        self._sessions = sessions
        self._question = Question.of(params.about or "")
        self._many = params.session is not None and is_wildcard(params.session)
        self._named: str | None = None
        self._alone: Projection | None = None
        self._unreadable: set[str] = set()
        self._lookups = 0

    def page(self) -> HistoryList:
        """Return the list.

        Raises:
            Refused: As for a list of the same session or sessions.
        """
        targets = self._targets()
        with _TURNS.turn():
            coverage, ranked = _with_index(lambda index: self._ask(index, targets))
        found, more = self._rows(coverage, ranked)
        many = self._many

        def page(blocks: list[SizedRows]) -> HistoryList:
            rows = [item for block in blocks for item in block.items]
            around = self._result(coverage, more + len(found) - len(blocks))
            return around.model_copy(update={"items": rows})

        def shrink(limit: int) -> SizedRows:
            row, document = found[0]
            return SizedRows.of(row.model_copy(update=self._preview(document, limit)), many=many)

        blocks = [SizedRows.of(row, many=many) for row, _ in found]
        return fit(blocks, self._bound.budget, page, shrink, "since, until or roles")

    def _targets(self) -> list[Target]:
        if self._many and self._params.session is not None:
            return self._sessions.many(self._params.session)
        if self._params.session is None:
            self._alone = self._sessions.current()
            header = self._alone.header
            return [Target(f"{header.host}:{header.session_id}", None)]
        self._alone, self._named = self._sessions.one(self._params.session)
        return [Target(self._named, None)]

    # -- the index -------------------------------------------------------------

    def _ask(self, index: Index, targets: list[Target]) -> tuple[_Coverage, Answer]:
        self._lookups = 0
        coverage = self._cover(index, targets)
        oldest_first = dict(reversed(coverage.sessions.items()))
        matching = self._matching(coverage)
        look_ups: set[tuple[int, int]] = set()
        roles, timed = self._filters.roles, self._timed
        bounded = self._params.before_seq is not None or self._params.after_seq is not None

        def allows(number: int, held: Held, place: int) -> bool:
            kind, seq = held.kinds[place], held.seqs[place]
            if kind == _LOOKUP:
                if "tool" not in roles:
                    look_ups.add((number, seq))
                    return False
            elif roles and ROLES[kind] not in roles:
                return False
            if timed and not self._filters.in_time(held.times[place]):
                return False
            if bounded and not self._in_bounds(seq):
                return False
            return matching is None or seq in matching(number)

        ranked = ask(index, self._question, oldest_first, allows, _weight, few=self._many)
        self._lookups = len(look_ups)
        return coverage, ranked

    @property
    def _timed(self) -> bool:
        return self._filters.since is not None or self._filters.until is not None

    def _in_bounds(self, seq: int) -> bool:
        before, after = self._params.before_seq, self._params.after_seq
        return (before is None or seq < before) and (after is None or seq > after)

    def _matching(self, coverage: _Coverage) -> Callable[[int], set[int]] | None:
        """Return what tells which events of a session hold the query."""
        if self._filters.matcher is None:
            return None
        scan = Scan.of(self._filters.matcher, [*coverage.targets.values()], self._sessions.running)
        known: dict[int, set[int]] = {}

        def matching(number: int) -> set[int]:
            if number not in known:
                target = coverage.targets[number]
                lacks = scan is not None and scan.lacks(target, monotonic() + time_limit())
                known[number] = set() if lacks else self._matches(target)
            return known[number]

        return matching

    def _matches(self, target: Target) -> set[int]:
        projection = self._open(target)
        if projection is None:
            return set()
        timeline = Timeline(projection, passing=True)
        lookups = Lookups(projection.header.tool_prefix, self._sessions.asking(target.canonical))
        walk = EventWalk(timeline, self._filters, lookups)
        return {timeline.seq(chosen.position) for chosen in walk.over(range(timeline.size))}

    def _cover(self, index: Index, targets: list[Target]) -> _Coverage:
        """Bring the index up to date, newest sessions first, as far as the time goes."""
        known, coverage, batch = index.known(), _Coverage(), Batch(index)
        self._forget(index, known, targets)
        deadline = monotonic() + time_limit()
        done: set[str] = set()
        for place, target in enumerate(by_age(targets, self._sessions.running)):
            if self._bound.progress is not None:
                self._bound.progress(place, len(targets))
            if place and monotonic() > deadline:
                coverage.remaining = len(targets) - place
                break
            if outside_bounds(target, self._filters):
                continue
            if self._indexed(batch, target, known):
                done.add(target.canonical)
            else:
                coverage.skipped += 1
        batch.flush()
        known = index.known()
        for target in targets:
            one = known.get((target.canonical, _file_of(target)))
            if target.canonical in done and one is not None:
                coverage.sessions[one.number], coverage.targets[one.number] = one, target
        return coverage

    def _forget(
        self, index: Index, known: dict[tuple[str, str], Known], targets: list[Target]
    ) -> None:
        asked = {target.canonical for target in targets}
        gone = [
            key
            for key in known
            if (not key[1] and key[0] not in asked) or (key[1] and not os.path.lexists(key[1]))
        ]
        if gone:
            index.forget([known.pop(key).number for key in gone])

    def _indexed(self, batch: Batch, target: Target, known: dict[tuple[str, str], Known]) -> bool:
        """Have a session as it is now in the index; return whether it could be read."""
        file = _file_of(target)
        stamp, held = _file_stamp(file), known.get((target.canonical, file))
        if target.entry is None or target.canonical == self._sessions.running:
            # The host knows at which entry its own session stands; a file does not say.
            projection = self._open(target)
            if projection is None:
                return False
            stamp = f"{stamp} {projection.last_seq} {_sum(projection, len(projection.branch.seqs))}"
        if held is not None and held.stamp == stamp:
            return True
        projection = self._open(target)
        if projection is None:
            return False
        try:
            self._add(batch, target, projection, stamp, held)
        except (sqlite3.Error, OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 (what a plugin raises costs this session alone)
            self._pass_over(target, broken_off(target, error))
            return False
        return True

    def _add(
        self,
        batch: Batch,
        target: Target,
        projection: Projection,
        stamp: str,
        held: Known | None,
    ) -> None:
        timeline = Timeline(projection, passing=True)
        settled = _settled(timeline)
        session = Session(
            target.canonical, _file_of(target), stamp, settled, _sum(projection, settled)
        )

        def passages(start: int, stop: int) -> list[Passage]:
            return list(self._passages(target, timeline, range(start, stop)))

        rest = passages(settled, timeline.size)
        if held is not None and held.slots <= settled and held.sum == _sum(projection, held.slots):
            batch.grow(held, session, passages(held.slots, settled), rest)
        else:
            batch.add(session, passages(0, settled), rest)

    def _passages(self, target: Target, timeline: Timeline, positions: range) -> Iterator[Passage]:
        header = timeline.projection.header
        lookups = Lookups(header.tool_prefix, self._sessions.asking(target.canonical))
        for position in timeline.events(positions):
            event, role = timeline.event(position), timeline.role(position)
            call_id = timeline.call_id(position)
            kind = _LOOKUP if lookups.includes(event, call_id) else ROLES.index(role)
            key = _key(header.host, event, role, call_id)
            instant, found = timeline.instant(position), chunks(_indexed_text(event))
            # A tool's text is short enough as it is.
            size = PASSAGE_WORDS if event.status is None else max(1, len(found))
            for start in range(0, max(1, len(found)), size):
                yield Passage(event.seq, kind, instant, key, found[start : start + size])

    def _open(self, target: Target) -> Projection | None:
        """Return a session; None when it cannot be read, which costs it alone among many."""
        if self._alone is not None:
            return self._alone
        if target.canonical in self._unreadable:
            return None
        try:
            return self._sessions.open(target)
        except Refused as refused:
            if refused.code != "unreadable_session":
                raise
        except HostFailure as failure:
            self._pass_over(target, failure)
        self._unreadable.add(target.canonical)
        return None

    def _pass_over(self, target: Target, failure: HostFailure) -> None:
        self._sessions.pass_over(target.canonical.partition(":")[0], failure)

    # -- the rows --------------------------------------------------------------

    def _rows(self, coverage: _Coverage, ranked: Answer) -> tuple[list[tuple[EventRow, str]], int]:
        """Return the rows with their documents, and how many events more there are."""
        rows: list[tuple[EventRow, str]] = []
        of_session: Counter[int] = Counter()
        left = ranked.count
        timelines: dict[int, Timeline | None] = {}
        for one in ranked.events:
            if len(rows) >= self._params.rows:
                break
            if self._many and of_session[one.session] >= ROWS_OF_A_SESSION:
                continue
            made = self._row(coverage.targets[one.session], one, timelines)
            left -= 1
            if made is not None:
                rows.append(made)
                of_session[one.session] += 1
        return rows, left

    def _row(
        self, target: Target, one: Ranked, timelines: dict[int, Timeline | None]
    ) -> tuple[EventRow, str] | None:
        if one.session not in timelines:
            projection = self._open(target)
            timelines[one.session] = (
                None if projection is None else Timeline(projection, passing=True)
            )
        timeline = timelines[one.session]
        if timeline is None:
            return None
        try:
            position = timeline.locate(one.seq)
        except Refused:
            # The session was rewound since it was indexed.
            return None
        event = timeline.event(position)
        if not self._question.holds_phrases(event.document):
            return None
        fields: dict[str, Any] = {}
        if self._many or self._named is not None:
            fields["session"] = target.canonical
        fields |= {"seq": one.seq, "role": timeline.role(position), "created_at": event.created_at}
        fields |= {**tool_facts(event), "total_chars": len(event.document)}
        fields |= self._preview(event.document, self._params.preview)
        if self._filters.matcher is not None:
            fields["matches_total"] = self._filters.matcher.count(event.document)
        if one.copies:
            fields["also_in"] = one.copies
        return EventRow(**fields), event.document

    def _preview(self, document: str, limit: int) -> dict[str, str | int | bool]:
        start = best_start(document, self._question.terms, limit)
        content = spoken_cut(document, start, limit)
        fields: dict[str, str | int | bool] = {"content": content, "offset_chars": start}
        if len(content) < len(document):
            fields["truncated"] = True
        return fields

    def _result(self, coverage: _Coverage, more: int) -> HistoryList:
        fields: dict[str, Any] = {"more": min(more, COUNTED)}
        if self._named is not None:
            fields["session"] = self._named
        if self._many:
            fields["sessions_covered"] = len(coverage.sessions)
            fields["sessions_remaining"] = coverage.remaining
            if coverage.skipped:
                fields["sessions_skipped"] = coverage.skipped
        if self._lookups:
            fields["lookups_omitted"] = self._lookups
        if self._sessions.failures:
            fields["note"] = without(self._sessions.failures)
        return HistoryList(items=[], page_older=None, page_newer=None, **fields)


def _with_index(work: Callable[[Index], T]) -> T:
    """Do work with the index; a damaged one is made anew, and memory stands in where none can be."""
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
    """Return how many of some sessions are in the index as their files are now."""
    count = 0
    for target in targets:
        if target.entry is None:
            continue
        file = str(target.entry.file)
        held = known.get((target.canonical, file))
        # The stamp of a running session tells of its branch as well.
        count += held is not None and held.stamp.startswith(_file_stamp(file))
    return count


def _weight(kind: int) -> float:
    return _WEIGHTS["tool" if kind == _LOOKUP else ROLES[kind]]


def _indexed_text(event: Event) -> str:
    """Return what is indexed of an event: of a tool's output the first and last kilobytes."""
    if event.status is None or len(event.document) <= 2 * OUTPUT_SHOWN:
        return event.document
    output = "" if event.result is None else event.result.text
    head = event.facts.arguments or ""
    return "\n".join(
        [event.tool or "", head[: 2 * OUTPUT_SHOWN], output[:OUTPUT_SHOWN], output[-OUTPUT_SHOWN:]]
    )


def _key(host: str, event: Event, role: str, call_id: str | None) -> int:
    """Return what is the same for a fork's copy of an event; 0 when nothing tells."""
    if event.facts.entry_id is None:
        return 0
    told = "\0".join((host, event.facts.entry_id, str(event.created_at), role, str(call_id)))
    data = told.encode("utf-8", "replace")
    return zlib.crc32(data) << 31 | zlib.adler32(data) >> 1 or 1


def _file_stamp(file: str) -> str:
    try:
        facts = Path(file).stat()
    except OSError:
        return ""
    return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ino}"


def _file_of(target: Target) -> str:
    return "" if target.entry is None else str(target.entry.file)


def _sum(projection: Projection, slots: int) -> int:
    """Return what is the same as long as the first slots of a branch are the same."""
    branch = projection.branch
    return zlib.crc32(branch.seqs[:slots].tobytes() + bytes(branch.kinds[:slots]))


def _settled(timeline: Timeline) -> int:
    """Return how many slots there are before the first call near the end whose result may come."""
    for position in timeline.events(
        range(max(0, timeline.size - OPEN_SLOTS), timeline.size), frozenset({SlotKind.CALL})
    ):
        if timeline.partner(position) is None:
            return position
    return timeline.size
