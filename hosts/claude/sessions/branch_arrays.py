"""The active branch as the arrays that the history reads, updated as the file grows."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import compress, count

from hindnote.core.history.projection import Branch, SlotKind
from hindnote.hosts.claude.sessions.branch import BranchWalk
from hindnote.hosts.claude.sessions.spine import Spine
from hindnote.hosts.claude.sessions.tree import Links

_HAS_ID = bytes(kind in (SlotKind.CALL, SlotKind.RESULT) for kind in range(256))
"""Translates the kinds of calls and results to 1, and all others to 0."""

_IS_CALL = bytes(kind == SlotKind.CALL for kind in range(256))
_NO_ID = bytes(kind for kind in range(256) if not _HAS_ID[kind])


class Assembly:
    """Builds the branches of one spine, each from the previous one.

    Every branch is a new object, since readers may still use the previous one.
    """

    def __init__(self) -> None:
        self.branch = Branch()
        self.windows: tuple[int, ...] = (1,)
        self._walk: BranchWalk | None = None
        self._revision = 0
        self._ranks = array("i", [0])
        """Ordinal numbers of answers on the branch, indexed by response + 1; 0 for others."""

    def update(self, spine: Spine) -> None:
        """Update the branch with what the spine gained since it was settled."""
        spine.mark()
        walk, cut = self._walked(spine)
        old = self.branch
        place = bisect_left(old.seqs, spine.firsts[cut])
        if cut == len(walk.members) and place == len(old.seqs):
            return
        self.branch = _head(old, place)
        self._forget(spine, cut)
        for start, stop in _runs(walk.members, cut):
            self._append(spine, start, stop)
        if not spine.rewritten and _continues(old, self.branch, place):
            self.branch.lineage = old.lineage
        first = self.branch.seqs[0] if self.branch.seqs else 1
        found = (spine.firsts[row] for row in spine.compactions if walk.members[row])
        self.windows = (1, *(seq for seq in found if seq > first))

    def _walked(self, spine: Spine) -> tuple[BranchWalk, int]:
        """Return the current walk, and the lowest row that may have changed."""
        if self._walk is not None and not spine.revision:
            cut = self._walk.extend(Links(spine))
            if cut is not None:
                return self._walk, cut
        if self._revision != spine.revision:
            spine.regroup()
            self._revision = spine.revision
        self._walk = BranchWalk(Links(spine), history=True)
        return self._walk, 0

    def _forget(self, spine: Spine, cut: int) -> None:
        """Remove the numbers of answers that begin at row ``cut`` or later."""
        known = bisect_left(spine.starts, cut) + 1
        del self._ranks[known:]
        self._ranks.extend([0] * (len(spine.starts) + 1 - len(self._ranks)))

    def _append(self, spine: Spine, start: int, stop: int) -> None:
        """Add the slots of the rows from ``start`` up to ``stop``, which are all on the branch."""
        branch = self.branch
        position = len(branch.seqs)
        first, end = spine.firsts[start], spine.firsts[stop]
        slots = slice(first - 1, end - 1)
        kinds = spine.kinds[slots]
        # Convert to a list first: an array extends from other iterables item by item.
        branch.seqs.fromlist(list(range(first, end)))
        branch.kinds += kinds
        branch.closing += spine.closing[slots]
        branch.times.extend(spine.times[slots])
        self._rank(bisect_left(spine.starts, start), bisect_left(spine.starts, stop))
        answers = map(self._ranks.__getitem__, spine.answers[slots])
        branch.answers.fromlist(list(answers))
        positions = list(compress(count(position), kinds.translate(_HAS_ID)))
        if positions:
            at = spine.place(first)
            places = slice(at, at + len(positions))
            branch.call_ids.update(zip(positions, spine.call_ids[places], strict=True))
            # Only calls: for a result, the core takes the name of its call.
            calls = kinds.translate(_IS_CALL, delete=_NO_ID)
            named = zip(positions, spine.tools[places], strict=True)
            branch.tools.update(compress(named, calls))

    def _rank(self, start: int, stop: int) -> None:
        """Number the responses from ``start`` up to ``stop``, continuing from the last number."""
        before = start
        while before and not self._ranks[before]:
            before -= 1
        rank = self._ranks[before] + 1
        self._ranks[start + 1 : stop + 1] = array("i", range(rank, rank + stop - start))


def _runs(members: bytearray, start: int) -> Iterator[tuple[int, int]]:
    """Yield each run of rows on the branch as its first row and the row after its last."""
    while (start := members.find(1, start)) >= 0:
        stop = members.find(0, start)
        stop = len(members) if stop < 0 else stop
        yield start, stop
        start = stop


def _head(branch: Branch, place: int) -> Branch:
    """Return a copy of a branch up to a position, with a new lineage."""
    call_ids, tools = branch.call_ids.copy(), branch.tools.copy()
    for position in range(place, len(branch.seqs)):
        call_ids.pop(position, None)
        tools.pop(position, None)
    return Branch(
        seqs=branch.seqs[:place],
        kinds=branch.kinds[:place],
        answers=branch.answers[:place],
        closing=branch.closing[:place],
        call_ids=call_ids,
        tools=tools,
        times=branch.times[:place],
    )


def _continues(old: Branch, new: Branch, place: int) -> bool:
    """Return whether ``new`` contains all of ``old``, given that they are equal up to ``place``."""
    size = len(old.seqs)
    return (
        old.seqs[place:] == new.seqs[place:size]
        and old.kinds[place:] == new.kinds[place:size]
        and old.answers[place:] == new.answers[place:size]
        and old.closing[place:] == new.closing[place:size]
    )
