"""What of a session is indexed for ranked lists: passages of its events."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hindnote.core.history.projection import SlotKind
from hindnote.core.history.timeline import ROLES
from hindnote.core.recall.batch import Passage
from hindnote.core.recall.words import pieces

if TYPE_CHECKING:
    from hindnote.core.history.document import Event
    from hindnote.core.history.operations.lookups import Lookups
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.timeline import Timeline

PASSAGE_WORDS = 200
"""Words of a passage; a longer event has several."""

OUTPUT_SHOWN = 4_096
"""Code points of a tool's output that are indexed, from its beginning and from its end each."""

OPEN_SLOTS = 256
"""Slots at the end of a session among which a call may still get its result."""

LOOKUP = len(ROLES)
"""Kind of a passage that is a look-up; the other kinds are places in ``ROLES``."""

_WEIGHTS = {"user": 1.0, "assistant": 1.0, "tool": 0.7, "context": 0.8}
WEIGHTS = (*(_WEIGHTS[role] for role in ROLES), _WEIGHTS["tool"])
"""What a passage counts for, by kind."""


def passages(timeline: Timeline, lookups: Lookups, positions: range) -> Iterator[Passage]:
    """Yield the passages of the events at some positions.

    Args:
        timeline: The session.
        lookups: Recognizes look-ups in it.
        positions: A stretch of it.
    """
    header = timeline.projection.header
    for position in timeline.events(positions):
        event, role = timeline.event(position), timeline.role(position)
        call_id = timeline.call_id(position)
        kind = LOOKUP if lookups.includes(event, call_id) else ROLES.index(role)
        key = _key(header.host, event, role, call_id)
        instant, found = timeline.instant(position), pieces(_indexed_text(event))
        # A tool's text is short enough as it is.
        size = PASSAGE_WORDS if event.status is None else max(1, len(found))
        for start in range(0, max(1, len(found)), size):
            yield Passage(event.seq, kind, instant, key, found[start : start + size])


def portion(
    timeline: Timeline, lookups: Lookups, positions: range, most: int
) -> tuple[list[Passage], int]:
    """Return the first passages of some positions, and the position where they end.

    Args:
        timeline: The session.
        lookups: Recognizes look-ups in it.
        positions: A stretch of it.
        most: Passages after which no further event is begun.
    """
    found: list[Passage] = []
    for passage in passages(timeline, lookups, positions):
        if len(found) >= most and passage.seq != found[-1].seq:
            return found, timeline.before(passage.seq)
        found.append(passage)
    return found, positions.stop


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


def branch_sum(projection: Projection, slots: int) -> int:
    """Return what is the same as long as the first slots of a branch are the same."""
    branch = projection.branch
    return zlib.crc32(branch.seqs[:slots].tobytes() + bytes(branch.kinds[:slots]))


def settled(timeline: Timeline) -> int:
    """Return how many slots there are before the first call near the end whose result may come."""
    for position in timeline.events(
        range(max(0, timeline.size - OPEN_SLOTS), timeline.size), frozenset({SlotKind.CALL})
    ):
        if timeline.partner(position) is None:
            return position
    return timeline.size
