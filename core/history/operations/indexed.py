"""Split a session's events into passages for the index."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from hindnote.core.history.files import open_file
from hindnote.core.history.projection import SlotKind
from hindnote.core.history.timeline import ROLES
from hindnote.core.recall.batch import Passage
from hindnote.core.recall.words import pieces

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.history.document import Event
    from hindnote.core.history.operations.lookups import Lookups
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.timeline import Timeline

PASSAGE_WORDS = 200
"""Maximum number of words of a passage; a longer event has several."""

OUTPUT_SHOWN = 4_096
"""Number of code points that are indexed at the beginning and at the end of a long tool output."""

OPEN_SLOTS = 256
"""Number of slots at the end of a session in which a call may still get its result."""

SUMMED = 8 << 20
"""Bytes at the beginning and at the end of a file that its checksum covers."""

PIECE = 1 << 18
"""Bytes that are read at once."""

LOOKUP = len(ROLES)
"""Kind of a look-up's passages; the other kinds are indexes of ``ROLES``."""

_WEIGHTS = {"user": 1.0, "assistant": 1.0, "tool": 0.7, "context": 0.8}
WEIGHTS = (*(_WEIGHTS[role] for role in ROLES), _WEIGHTS["tool"])
"""Weight of a passage, by kind."""


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
        # The indexed text of a tool event is short, so it is not split.
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
        most: Number of passages after which no other event is added.
    """
    found: list[Passage] = []
    for passage in passages(timeline, lookups, positions):
        if len(found) >= most and passage.seq != found[-1].seq:
            return found, timeline.before(passage.seq)
        found.append(passage)
    return found, positions.stop


def _indexed_text(event: Event) -> str:
    """Return the indexed text of an event; of a long tool output only the beginning and the end."""
    if event.status is None or len(event.document) <= 2 * OUTPUT_SHOWN:
        return event.document
    output = "" if event.result is None else event.result.text
    head = event.facts.arguments or ""
    return "\n".join(
        [event.tool or "", head[: 2 * OUTPUT_SHOWN], output[:OUTPUT_SHOWN], output[-OUTPUT_SHOWN:]]
    )


def _key(host: str, event: Event, role: str, call_id: str | None) -> int:
    """Return a key that copies of an event in forks share; 0 if the event has no id."""
    if event.facts.entry_id is None:
        return 0
    told = "\0".join((host, event.facts.entry_id, str(event.created_at), role, str(call_id)))
    data = told.encode("utf-8", "replace")
    return zlib.crc32(data) << 31 | zlib.adler32(data) >> 1 or 1


def file_sum(file: Path, size: int) -> int:
    """Return a checksum of the first bytes of a session's file; 0 if it cannot be read.

    Of more than twice ``SUMMED`` bytes it covers only the first and the last ones, and the file's
    inode.
    """
    total = 0
    with suppress(OSError), os.fdopen(open_file(file), "rb") as opened:
        if size > 2 * SUMMED:
            total = zlib.crc32(opened.read(SUMMED), os.fstat(opened.fileno()).st_ino & 0xFFFFFFFF)
            opened.seek(size - SUMMED)
            size = SUMMED
        while size > 0 and (data := opened.read(min(size, PIECE))):
            total, size = zlib.crc32(data, total), size - len(data)
    return total


def branch_sum(projection: Projection, slots: int) -> int:
    """Return a checksum of the first slots of a branch."""
    branch = projection.branch
    return zlib.crc32(branch.seqs[:slots].tobytes() + bytes(branch.kinds[:slots]))


def settled(timeline: Timeline) -> int:
    """Return the number of slots before the first call that may still get its result."""
    for position in timeline.events(
        range(max(0, timeline.size - OPEN_SLOTS), timeline.size), frozenset({SlotKind.CALL})
    ):
        if timeline.partner(position) is None:
            return position
    return timeline.size
