"""The operation ``history_list``."""

from __future__ import annotations

from hindnote.core.errors import Refused
from hindnote.core.history.operations.lookups import Lookups
from hindnote.core.history.operations.models import HistoryList, HistoryListParams
from hindnote.core.history.operations.order import by_age
from hindnote.core.history.operations.page import Pager
from hindnote.core.history.operations.render import render_list
from hindnote.core.history.operations.rows import Rows
from hindnote.core.history.operations.selection import Filters
from hindnote.core.history.sessions import ONE_SESSION, Sessions, is_wildcard
from hindnote.core.history.timeline import Timeline
from hindnote.core.history.times import bound as time_bound
from hindnote.core.text.matching import Matcher, stringified
from hindnote.core.text.messages import quote
from hindnote.core.tools.operation import BoundCall, Hints, Operation
from hindnote.core.tools.outcome import Outcome, Success


def _list(bound: BoundCall, params: HistoryListParams) -> Outcome[HistoryList]:
    filters = filters_of(params)
    sessions = Sessions(bound)
    if params.about:
        found = _about(bound, params, filters, sessions)
    elif params.session is not None and is_wildcard(params.session):
        found = _many(bound, params, filters, sessions, params.session)
    else:
        found = _one(bound, params, filters, sessions)
    return Success(_explained(found, params))


def _one(
    bound: BoundCall, params: HistoryListParams, filters: Filters, sessions: Sessions
) -> HistoryList:
    projection, session = sessions.named(params.session)
    rows = Rows(Timeline(projection), params, session, filters.matcher)
    lookups = Lookups(projection.header.tool_prefix, sessions.asking(session))
    return Pager(rows, filters, lookups, bound.budget).page()


def _explained(found: HistoryList, params: HistoryListParams) -> HistoryList:
    """Return the list; if it has no hits, with a hint about a mistaken query."""
    told = (
        None if found.items or found.page_older or found.page_newer else stringified(params.query)
    )
    if told is None:
        return found
    notes = [told] if found.note is None else [found.note, told]
    return found.model_copy(update={"note": "; ".join(notes)})


def _many(
    bound: BoundCall,
    params: HistoryListParams,
    filters: Filters,
    sessions: Sessions,
    selector: str,
) -> HistoryList:
    # Imported here: calls about one session do not need the search of many.
    from hindnote.core.history.operations.wildcard import Corpus
    from hindnote.core.history.scan import Scan

    _check_bounds(params, selector)
    targets = sessions.many(selector)
    if filters.matcher is not None:
        targets = [*by_age(targets, sessions.running)]
    scan = Scan.of(filters.matcher, targets, sessions.running)
    return Corpus(bound, params, filters, sessions, targets, scan).page()


def _about(
    bound: BoundCall, params: HistoryListParams, filters: Filters, sessions: Sessions
) -> HistoryList:
    # Imported here: only ranked lists need the index.
    from hindnote.core.history.operations.about import About

    if params.session is not None and is_wildcard(params.session):
        _check_bounds(params, params.session)
    return About(bound, params, filters, sessions).page()


def _check_bounds(params: HistoryListParams, selector: str) -> None:
    """Raise ``invalid_selection`` for seq bounds, which only apply to a single session."""
    if params.before_seq is not None or params.after_seq is not None:
        raise Refused(
            "invalid_selection",
            f"before_seq and after_seq count within one session, and session {quote(selector)} "
            "names many; leave them out, or name one session",
        )


def filters_of(params: HistoryListParams) -> Filters:
    """Return the filters that a call requests.

    Raises:
        Refused: ``invalid_time``.
    """
    return Filters(
        roles=frozenset(params.roles or ()),
        matcher=Matcher.from_query(params.query),
        since=time_bound("since", params.since),
        until=time_bound("until", params.until),
    )


HISTORY_LIST: Operation[HistoryListParams, HistoryList] = Operation(
    name="history_list",
    title="List session history",
    description=(
        "List or search what was said and done. Without query and roles tool calls are folded; "
        "expand lists them. Next page: merge page_older or page_newer into the "
        "call. All sessions: "
        '{"session":"*","about":"..."}.'
    ),
    family="history",
    params=HistoryListParams,
    success=HistoryList,
    codes=ONE_SESSION | {"invalid_cwd", "invalid_time", "invalid_selection", "page_too_large"},
    hints=Hints(read_only=True),
    handle=_list,
    render=render_list,
)
