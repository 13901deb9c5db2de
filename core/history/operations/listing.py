"""The two history operations."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any

from hindnote.core.history.instants import bound as time_bound
from hindnote.core.history.operations.lookups import Lookups
from hindnote.core.history.operations.models import (
    HistoryList,
    HistoryListParams,
    HistoryRead,
    HistoryReadParams,
    Neighbourhood,
    NestedCount,
)
from hindnote.core.history.operations.page import Pager
from hindnote.core.history.operations.render import render_list, render_read
from hindnote.core.history.operations.rows import Rows, tool_facts
from hindnote.core.history.operations.selection import Filters
from hindnote.core.history.sessions import Sessions, is_wildcard
from hindnote.core.history.timeline import ROLES, Timeline
from hindnote.core.matching import Matcher
from hindnote.core.operation import BoundCall, Hints, Operation
from hindnote.core.outcome import Outcome, RefusalCode, Refused, Success, quote
from hindnote.core.window import fit_window

if TYPE_CHECKING:
    from hindnote.core.history.projection import Projection

NEIGHBOURS_BEHIND = 10
"""Events behind the one that was read, at which its neighbourhood ends."""


def _list(bound: BoundCall, params: HistoryListParams) -> Outcome[HistoryList]:
    filters = filters_of(params)
    sessions = Sessions(bound)
    if params.session is not None and is_wildcard(params.session):
        return Success(_many(bound, params, filters, sessions, params.session))
    projection, session = _session(sessions, params.session)
    rows = Rows(Timeline(projection), params, session, filters.matcher)
    lookups = Lookups(projection.header.tool_prefix, sessions.asking(session))
    return Success(Pager(rows, filters, lookups, bound.budget).page())


def _many(
    bound: BoundCall,
    params: HistoryListParams,
    filters: Filters,
    sessions: Sessions,
    selector: str,
) -> HistoryList:
    # Calls about one session start without what only a search of many needs.
    from hindnote.core.history.operations.corpus import Corpus
    from hindnote.core.history.scan import Scan

    if params.before_seq is not None or params.after_seq is not None:
        raise Refused(
            "invalid_selection",
            f"before_seq and after_seq count within one session, and session {quote(selector)} "
            "names many; leave them out, or name one session",
        )
    targets = sessions.many(selector)
    scan = Scan.of(filters.matcher, targets, sessions.running)
    return Corpus(bound, params, filters, sessions, targets, scan).page()


def _session(sessions: Sessions, selector: str | None) -> tuple[Projection, str | None]:
    """Return a session, and its canonical name when the call named one."""
    return (sessions.current(), None) if selector is None else sessions.one(selector)


def filters_of(params: HistoryListParams) -> Filters:
    """Return the filters that a call asked for.

    Raises:
        Refused: ``invalid_time``.
    """
    return Filters(
        roles=frozenset(params.roles or ()),
        matcher=Matcher.from_query(params.query),
        since=time_bound("since", params.since),
        until=time_bound("until", params.until),
    )


def _read(bound: BoundCall, params: HistoryReadParams) -> Outcome[HistoryRead]:
    projection, session = _session(Sessions(bound), params.session)
    timeline = Timeline(projection)
    position = timeline.locate(params.seq)
    return Success(_window(bound, params, timeline, position, session))


def _window(
    bound: BoundCall,
    params: HistoryReadParams,
    timeline: Timeline,
    position: int,
    session: str | None,
) -> HistoryRead:
    event = timeline.event(position)
    fields: dict[str, Any] = {} if session is None else {"session": session}
    around = Neighbourhood(
        before_seq=_end_of_neighbours(timeline, position), roles=[*ROLES], **fields
    )
    fields |= tool_facts(event)
    if event.nested is not None:
        fields["nested_calls"] = NestedCount(
            call_count=len(event.nested.records), complete=event.nested.complete
        )
    if timeline.projection.damaged:
        fields["damaged_lines"] = len(timeline.projection.damaged)
    if timeline.projection.header.note is not None:
        fields["note"] = timeline.projection.header.note

    def build(text: str, total_chars: int, next_offset_chars: int | None) -> HistoryRead:
        return HistoryRead(
            seq=event.seq,
            role=timeline.role(position),
            created_at=event.created_at,
            neighbourhood=around,
            text=text,
            total_chars=total_chars,
            next_offset_chars=next_offset_chars,
            **fields,
        )

    return fit_window(event.document, params, bound.budget, build, render_read)


def _end_of_neighbours(timeline: Timeline, position: int) -> int:
    """Return the seq before which the tenth event behind ``position`` is the last."""
    behind = timeline.events(range(position + 1, timeline.size))
    last = deque(islice(behind, NEIGHBOURS_BEHIND), maxlen=1)
    return timeline.seq(last[0] if last else position) + 1


_SESSIONS: frozenset[RefusalCode] = frozenset(
    {
        "invalid_session",
        "unknown_session",
        "ambiguous_session",
        "unreadable_session",
        "no_current_session",
        "io_error",
    }
)

_PAGE_CODES: tuple[RefusalCode, ...] = ("invalid_time", "invalid_selection", "page_too_large")

_EVENT_CODES: tuple[RefusalCode, ...] = (
    "unknown_seq",
    "not_on_branch",
    "not_an_event",
    "invalid_offset",
    "output_too_large",
)

_LIST_DESCRIPTION = (
    "List or search the recorded history of this session, or of others, beyond what is still in "
    "context. Without query and roles, runs of tool calls are folded; a folded row's expand lists "
    "them. Merge page_older or page_newer into the same call for the next page. Rows hold "
    "previews; history_read gives the whole event. Search all sessions with "
    '{"session": "*", "query": [...]}: any literal matches, case-insensitive; newest session first.'
)

_READ_DESCRIPTION = (
    "Read one event of history by its seq: a message, or a tool call with its full arguments and "
    "output. Continue a long one at next_offset_chars; a negative offset_chars reads the end."
)

HISTORY_LIST: Operation[HistoryListParams, HistoryList] = Operation(
    name="history_list",
    title="List session history",
    description=_LIST_DESCRIPTION,
    family="history",
    params=HistoryListParams,
    success=HistoryList,
    codes=_SESSIONS.union(_PAGE_CODES),
    hints=Hints(read_only=True),
    handle=_list,
    render=render_list,
)

HISTORY_READ: Operation[HistoryReadParams, HistoryRead] = Operation(
    name="history_read",
    title="Read one event of session history",
    description=_READ_DESCRIPTION,
    family="history",
    params=HistoryReadParams,
    success=HistoryRead,
    codes=_SESSIONS.union(_EVENT_CODES),
    hints=Hints(read_only=True),
    handle=_read,
    render=render_read,
)
