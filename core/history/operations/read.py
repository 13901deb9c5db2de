"""The operation ``history_read``."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Any

from hindnote.core.delivery.window import fit_window
from hindnote.core.history.operations.models import (
    HistoryRead,
    HistoryReadParams,
    Neighborhood,
    NestedCount,
)
from hindnote.core.history.operations.render import render_read
from hindnote.core.history.operations.rows import tool_facts
from hindnote.core.history.sessions import ONE_SESSION, Sessions
from hindnote.core.history.timeline import ROLES, Timeline
from hindnote.core.tools.operation import BoundCall, Hints, Operation
from hindnote.core.tools.outcome import Outcome, Success

NEIGHBORS_BEHIND = 10
"""Number of events after the one that was read, where its neighborhood ends."""


def _read(bound: BoundCall, params: HistoryReadParams) -> Outcome[HistoryRead]:
    projection, session = Sessions(bound).named(params.session)
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
    around = Neighborhood(
        before_seq=_end_of_neighbors(timeline, position), roles=[*ROLES], **fields
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
            neighborhood=around,
            text=text,
            total_chars=total_chars,
            next_offset_chars=next_offset_chars,
            **fields,
        )

    return fit_window(event.document, params, bound.budget, build, render_read)


def _end_of_neighbors(timeline: Timeline, position: int) -> int:
    """Return the seq before which the tenth event after ``position`` is the last."""
    behind = timeline.events(range(position + 1, timeline.size))
    last = deque(islice(behind, NEIGHBORS_BEHIND), maxlen=1)
    return timeline.seq(last[0] if last else position) + 1


HISTORY_READ: Operation[HistoryReadParams, HistoryRead] = Operation(
    name="history_read",
    title="Read one event of session history",
    description=(
        "Read one event: a message, or a tool call with arguments and output. "
        "Continue at next_offset_chars."
    ),
    family="history",
    params=HistoryReadParams,
    success=HistoryRead,
    codes=ONE_SESSION
    | {"unknown_seq", "not_on_branch", "not_an_event", "invalid_offset", "output_too_large"},
    hints=Hints(read_only=True),
    handle=_read,
    render=render_read,
)
