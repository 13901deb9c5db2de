"""The conversation's tree after the newest compaction, and the row at its tip.

A compaction starts the conversation again at its boundary. The rows that it kept unchanged then
become descendants of its summary, and the summary's former children become children of the last of
them; all other rows before the boundary are dropped. If the person chose the row from which to sum
up, the kept rows are below the boundary itself, and the summary is below them.
"""

from __future__ import annotations

from bisect import bisect_left

from hindnote.hosts.claude.format.rows import Preserved, Segment
from hindnote.hosts.claude.sessions.spine import (
    CALLS,
    LOST,
    NOTE,
    REPEATED,
    RESULT,
    ROOT,
    SPEAKER,
    Spine,
)


class Compactions:
    """The compactions of one state of a spine."""

    def __init__(self, spine: Spine) -> None:
        self._rows = [*spine.compactions]
        pruning = (row for row in self._rows if _preserved(spine, row)[0] != ROOT)
        self.first_pruning = next(pruning, len(spine.flags))
        """The first compaction that records what it preserved; the number of rows if there is
        none."""

    def before(self, end: int | None) -> int:
        """Return the last boundary before a row, or the last of all; ``ROOT`` for none."""
        place = len(self._rows) if end is None else bisect_left(self._rows, end)
        return self._rows[place - 1] if place else ROOT


class Links:
    """Parents after the newest compaction, for one state of a spine.

    ``anchor`` is ``ROOT`` when the compaction does not record what it preserved, or names a row
    that does not exist.

    Args:
        spine: The spine.
        end: Use only the compactions before this row; None: all of them.
        compactions: The spine's compactions; None: computed here.
    """

    def __init__(
        self, spine: Spine, end: int | None = None, compactions: Compactions | None = None
    ) -> None:
        self.spine = spine
        self.compactions = compactions or Compactions(spine)
        self.boundary = self.compactions.before(end)
        self.anchor, preserved = _preserved(spine, self.boundary)
        above = [self.anchor, *preserved]
        self.tail = above[-1]
        self.moved = dict(zip(preserved, above, strict=False))
        """New parents of the preserved rows."""
        # Without this record the rows before the boundary are kept, unless dropped earlier.
        self.pruned = self.boundary >= self.compactions.first_pruning

    def kept(self, row: int) -> bool:
        """Return whether the host still uses a row."""
        return not self.pruned or row >= self.boundary or row in self.moved

    def descends(self, row: int, ancestor: int) -> bool:
        """Return whether a row equals another one or descends from it."""
        seen = set()
        while row not in (ROOT, ancestor) and row not in seen:
            seen.add(row)
            row = self.parent(row)
        return row == ancestor

    def parent(self, row: int) -> int:
        """Return a row's parent; ``ROOT`` for none."""
        if row in self.moved:
            return self.moved[row]
        spine = self.spine
        found = spine.parents[row]
        if not self.pruned or row < self.boundary or found == LOST:
            return spine.parent(row)
        if found != ROOT and found == self.anchor:
            return self.tail
        if found != ROOT and not self.kept(found):
            return self.tail if self.moved else spine.row_before(row)
        return found


def _preserved(spine: Spine, boundary: int) -> tuple[int, list[int]]:
    """Return the new parent of the rows that a compaction preserved, and those rows."""
    if boundary == ROOT:
        return ROOT, []
    known = spine.preserved.get(boundary)
    if known is not None:
        return known
    data = spine.compactions[boundary][1]
    found: tuple[int, list[int]] = (ROOT, [])
    if data is not None and data.preserved_messages is not None:
        found = _listed(spine, data.preserved_messages)
    elif data is not None and data.preserved_segment is not None:
        found = _between(spine, data.preserved_segment)
    if found[0] != ROOT:
        spine.preserved[boundary] = found
    return found


def _listed(spine: Spine, preserved: Preserved) -> tuple[int, list[int]]:
    anchor = spine.find(preserved.anchor_uuid)
    rows: list[int] = []
    for uuid in dict.fromkeys(preserved.uuids):
        row = spine.find(uuid) if anchor != ROOT else ROOT
        if row in (ROOT, anchor):
            return ROOT, []
        rows.append(row)
    return anchor, rows


def _between(spine: Spine, segment: Segment) -> tuple[int, list[int]]:
    """Return the same for a chain of rows that is given by its two ends."""
    anchor = spine.find(segment.anchor_uuid)
    head = spine.find(segment.head_uuid)
    row = spine.find(segment.tail_uuid)
    if ROOT in (anchor, head, row):
        return ROOT, []
    rows = {row: None}
    while row not in (head, ROOT):
        row = spine.parent(row)
        if row in rows:
            return ROOT, []
        rows[row] = None
    if row == ROOT or anchor in rows:
        return ROOT, []
    return anchor, list(reversed(rows))


# -- the tip of the conversation -----------------------------------------------


def tip_of(links: Links) -> int:
    """Return the current row of the conversation; ``ROOT`` for an empty one."""
    spine, checkpoint = links.spine, links.spine.checkpoint
    row = ROOT
    if checkpoint.named and checkpoint.leaf is not None:
        row = spine.find(checkpoint.leaf)
        if row != ROOT and not links.kept(row):
            row = ROOT
    if checkpoint.named and checkpoint.binding:
        if checkpoint.leaf is None:
            return ROOT
        if row != ROOT and spine.flags[leaf_of(links, row)] & SPEAKER:
            return row
    if links.anchor != ROOT:
        return _tip_after_compaction(links, row)
    return spine.last if row == ROOT or _goes_on_from(links, spine.last, row) else row


def leaf_of(links: Links, tip: int) -> int:
    """Return the nearest user or assistant row at or above a tip; the tip if there is none."""
    row, flags = tip, links.spine.flags
    seen = set()
    while row != ROOT and row not in seen:
        if flags[row] & SPEAKER:
            return row
        seen.add(row)
        row = links.parent(row)
    return tip


def _goes_on_from(links: Links, last: int, checkpoint: int) -> bool:
    """Return whether ``last`` descends from the checkpoint or a parallel call of its response."""
    spine, flags = links.spine, links.spine.flags
    call = _call_of(spine, checkpoint)
    response = spine.groups[call] if call != ROOT else None
    row, seen = last, bytearray(len(flags))
    while row != ROOT and not seen[row]:
        if row == checkpoint:
            return True
        if flags[row] & CALLS and row != call and spine.groups[row] == response:
            return True
        seen[row] = 1
        row = links.parent(row)
    return False


def _call_of(spine: Spine, row: int) -> int:
    """Return the call to which a row belongs: itself, its result's call, or that above a note."""
    if spine.flags[row] & NOTE:
        row = spine.bases[row]
        if row == ROOT or not spine.flags[row] & RESULT:
            return ROOT
    if spine.flags[row] & RESULT:
        row = spine.bases[row]
    return row if row != ROOT and spine.flags[row] & CALLS else ROOT


def _tip_after_compaction(links: Links, checkpoint: int) -> int:
    """Return the tip in a tree that a compaction changed: its only end, if there is just one.

    Of several ends the checkpoint chooses, if it is the leaf of one of them.
    """
    last = links.spine.last
    goes_on = checkpoint == ROOT or _goes_on_from(links, last, checkpoint)
    placed = last == links.anchor or last in links.moved
    if last == ROOT or (goes_on and not placed and not links.spine.revision):
        # The last row has no children, so it is the only end, or the last of several.
        return last
    ends = _ends(links)
    if len(ends) == 1:
        return ends[0]
    chosen = not goes_on and checkpoint in {leaf_of(links, end) for end in ends}
    return checkpoint if chosen else last


def _ends(links: Links) -> list[int]:
    """Return the rows after a compaction that have no children."""
    spine = links.spine
    kept = [
        *links.moved,
        *(
            row
            for row in range(links.boundary, len(spine.flags))
            if not spine.flags[row] & REPEATED and row not in links.moved
        ),
    ]
    inner = {links.parent(row) for row in kept}
    return [row for row in kept if row not in inner]
