"""The active branch as the arrays that the history reads, kept up to date as a file grows."""

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
"""Turns the kinds of calls and results into 1 and every other one into 0."""

_IS_CALL = bytes(kind == SlotKind.CALL for kind in range(256))
_NO_ID = bytes(kind for kind in range(256) if not _HAS_ID[kind])


class Assembly:
    """Branches of one spine, each made from the one before it.

    Every branch is an object of its own, since readers may still hold the last one.
    """

    def __init__(self) -> None:
        self.branch = Branch()
        self.windows: tuple[int, ...] = (1,)
        self._walk: BranchWalk | None = None
        self._revision = 0
        self._ranks = array("i", [0])
        """Numbers of answers on the branch, by one more than the response; 0 off it."""

    def update(self, spine: Spine) -> None:
        """Take in what the spine gained since it was settled."""
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
        """Return the present walk, and the lowest row that may have changed."""
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
        """Take back the numbers of answers that begin at row ``cut`` or behind it."""
        known = bisect_left(spine.starts, cut) + 1
        del self._ranks[known:]
        self._ranks.extend([0] * (len(spine.starts) + 1 - len(self._ranks)))

    def _append(self, spine: Spine, start: int, stop: int) -> None:
        """Add the slots of the rows from ``start`` up to ``stop``, all of them on the branch."""
        branch = self.branch
        position = len(branch.seqs)
        first, end = spine.firsts[start], spine.firsts[stop]
        slots = slice(first - 1, end - 1)
        kinds = spine.kinds[slots]
        # Lists first: an array takes anything else in item by item, through a generic call.
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
            # A result's name is its call's, which is asked first.
            calls = kinds.translate(_IS_CALL, delete=_NO_ID)
            named = zip(positions, spine.tools[places], strict=True)
            branch.tools.update(compress(named, calls))

    def _rank(self, start: int, stop: int) -> None:
        """Number the responses from ``start`` up to ``stop``, going on from the last number."""
        before = start
        while before and not self._ranks[before]:
            before -= 1
        rank = self._ranks[before] + 1
        self._ranks[start + 1 : stop + 1] = array("i", range(rank, rank + stop - start))


def _runs(members: bytearray, start: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of rows on the branch, each by its first row and the one behind it."""
    while (start := members.find(1, start)) >= 0:
        stop = members.find(0, start)
        stop = len(members) if stop < 0 else stop
        yield start, stop
        start = stop


def _head(branch: Branch, place: int) -> Branch:
    """Return a copy of a branch up to a position, with a lineage of its own."""
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
    """Return whether ``new`` has all that ``old`` has, unchanged; the same up to ``place``."""
    size = len(old.seqs)
    return (
        old.seqs[place:] == new.seqs[place:size]
        and old.kinds[place:] == new.kinds[place:size]
        and old.answers[place:] == new.answers[place:size]
        and old.closing[place:] == new.closing[place:size]
    )
