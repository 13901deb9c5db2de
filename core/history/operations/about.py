"""Rank events by how well they fit a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.operations.ahead import Ahead
from hindnote.core.history.operations.coverage import Coverage, Indexing, Opening, with_index
from hindnote.core.history.operations.indexed import LOOKUP, WEIGHTS
from hindnote.core.history.operations.lookups import Lookups
from hindnote.core.history.operations.models import COUNTED, EventRow, HistoryList
from hindnote.core.history.operations.page import SizedRows, fit
from hindnote.core.history.operations.rows import tool_facts
from hindnote.core.history.operations.selection import EventWalk
from hindnote.core.history.operations.wildcard import time_limit, without
from hindnote.core.history.scan import Scan
from hindnote.core.history.sessions import Target, is_wildcard
from hindnote.core.history.timeline import ROLES, Timeline
from hindnote.core.history.turns import SEARCHES
from hindnote.core.recall.asking import Question, ask
from hindnote.core.recall.passages import best_start, spoken_cut

if TYPE_CHECKING:
    from hindnote.core.history.operations.models import HistoryListParams
    from hindnote.core.history.operations.selection import Filters
    from hindnote.core.history.sessions import Sessions
    from hindnote.core.recall.asking import Answer, Ranked
    from hindnote.core.recall.index import Index
    from hindnote.core.recall.records import Held
    from hindnote.core.tools.operation import BoundCall

ROWS_OF_A_SESSION = 3
"""Maximum number of rows per session in a list of many sessions."""

_AHEAD = Ahead(SEARCHES)


class About:
    """A ranked list of events.

    Args:
        bound: The call.
        params: Its parameters, with ``about``.
        filters: Its filters.
        sessions: Opens the sessions.
    """

    def __init__(
        self, bound: BoundCall, params: HistoryListParams, filters: Filters, sessions: Sessions
    ) -> None:
        self._bound, self._params, self._filters = bound, params, filters
        self._sessions = sessions
        self._question = Question.of(params.about or "")
        self._many = params.session is not None and is_wildcard(params.session)
        self._named: str | None = None
        self._opening = Opening(sessions)
        self._lookups = 0

    def page(self) -> HistoryList:
        """Return the list.

        Raises:
            Refused: As for a list of the same session or sessions.
        """
        targets = self._targets()
        with SEARCHES.turn():
            coverage, ranked = with_index(lambda index: self._ask(index, targets))
        found, more = self._rows(coverage, ranked)
        if self._many and coverage.remaining:
            _AHEAD.go_on(self._sessions, targets)

        def page(blocks: list[SizedRows]) -> HistoryList:
            rows = [item for block in blocks for item in block.items]
            around = self._result(coverage, more + len(found) - len(blocks))
            return around.model_copy(update={"items": rows})

        def shrink(limit: int) -> SizedRows:
            row, document = found[0]
            return SizedRows.of(row.model_copy(update=self._preview(document, limit)))

        blocks = [SizedRows.of(row) for row, _ in found]
        return fit(blocks, self._bound.budget, page, shrink, "since, until or roles")

    def _targets(self) -> list[Target]:
        if self._many and self._params.session is not None:
            return self._sessions.many(self._params.session)
        if self._params.session is None:
            alone = self._sessions.current()
            name = f"{alone.header.host}:{alone.header.session_id}"
            target = self._in_catalogue(name)
        else:
            alone, name = self._sessions.one(self._params.session)
            self._named, target = name, self._in_catalogue(name)
        self._opening = Opening(self._sessions, alone)
        return [target]

    def _in_catalogue(self, name: str) -> Target:
        """Return a session under the name that it has in lists of many."""
        try:
            return self._sessions.target(name)
        except (Refused, HostFailure):
            return Target(name, None)

    # -- the index -------------------------------------------------------------

    def _ask(self, index: Index, targets: list[Target]) -> tuple[Coverage, Answer]:
        self._lookups = 0
        indexing = Indexing(index, self._opening)
        progress = self._bound.progress
        coverage = indexing.cover(targets, self._filters, time_limit(), progress)
        with index.still():
            indexing.fill(coverage, targets)
            matching, look_ups = self._matching(coverage), set[tuple[int, int]]()

            def allows(number: int, held: Held) -> Callable[[int], bool] | None:
                if matching is None and not self._narrows and LOOKUP not in held.kinds:
                    return None
                matches = None if matching is None else matching(number)
                return self._allowed(number, held, matches, look_ups)

            ranked = ask(
                index,
                self._question,
                dict(reversed(coverage.sessions.items())),
                allows,
                WEIGHTS,
                few=self._many,
                counted=COUNTED + self._params.rows,
            )
        self._lookups = len(look_ups)
        return coverage, ranked

    @property
    def _narrows(self) -> bool:
        """Whether anything other than ``query`` excludes events."""
        return bool(self._filters.roles) or self._timed or self._bounded

    def _allowed(
        self, number: int, held: Held, matches: set[int] | None, look_ups: set[tuple[int, int]]
    ) -> Callable[[int], bool]:
        """Return a function that tells which passages of a session may answer.

        Args:
            number: The session.
            held: Its passages.
            matches: Seqs of the events that match ``query``; None without a query.
            look_ups: Collects the look-ups that are left out.
        """
        roles, timed, bounded = self._filters.roles, self._timed, self._bounded

        def allowed(place: int) -> bool:
            kind, seq = held.kinds[place], held.seqs[place]
            if kind == LOOKUP:
                if "tool" not in roles:
                    look_ups.add((number, seq))
                    return False
            elif roles and ROLES[kind] not in roles:
                return False
            if timed and not self._filters.in_time(held.times[place]):
                return False
            if bounded and not self._in_bounds(seq):
                return False
            return matches is None or seq in matches

        return allowed

    @property
    def _bounded(self) -> bool:
        return self._params.before_seq is not None or self._params.after_seq is not None

    @property
    def _timed(self) -> bool:
        return self._filters.since is not None or self._filters.until is not None

    def _in_bounds(self, seq: int) -> bool:
        before, after = self._params.before_seq, self._params.after_seq
        return (before is None or seq < before) and (after is None or seq > after)

    def _matching(self, coverage: Coverage) -> Callable[[int], set[int]] | None:
        """Return a function with the seqs of a session's events that match ``query``."""
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
        projection = self._opening.open(target)
        if projection is None:
            return set()
        timeline = Timeline(projection, passing=True)
        lookups = Lookups(projection.header.tool_prefix, self._sessions.asking(target.canonical))
        walk = EventWalk(timeline, self._filters, lookups)
        return {timeline.seq(chosen.position) for chosen in walk.over(range(timeline.size))}

    # -- the rows --------------------------------------------------------------

    def _rows(self, coverage: Coverage, ranked: Answer) -> tuple[list[tuple[EventRow, str]], int]:
        """Return the rows with their documents, and the number of further events."""
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
            projection = self._opening.open(target)
            timelines[one.session] = (
                None if projection is None else Timeline(projection, passing=True)
            )
        timeline = timelines[one.session]
        if timeline is None:
            return None
        try:
            position = timeline.locate(one.seq)
        except Refused:
            # The session was rewound after it was indexed.
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

    def _result(self, coverage: Coverage, more: int) -> HistoryList:
        fields: dict[str, Any] = {"more": min(more, COUNTED)}
        if self._named is not None:
            fields["session"] = self._named
        if self._many or coverage.remaining:
            fields["sessions_covered"] = coverage.covered
            fields["sessions_remaining"] = coverage.remaining
            if coverage.skipped:
                fields["sessions_skipped"] = coverage.skipped
        if self._lookups:
            fields["lookups_omitted"] = self._lookups
        if self._sessions.failures:
            fields["note"] = without(self._sessions.failures)
        return HistoryList(items=[], page_older=None, page_newer=None, **fields)
