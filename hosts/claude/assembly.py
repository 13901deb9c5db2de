"""The active branch as the arrays that the history reads, kept up to date as a file grows."""

from __future__ import annotations

from bisect import bisect_left

from hindnote.core.history.projection import Branch, SlotKind
from hindnote.hosts.claude.branch import Walk
from hindnote.hosts.claude.links import Links
from hindnote.hosts.claude.spine import ANSWER, CLOSING, RESULT, Spine

# Members of an IntEnum cost a look-up each time; these are plain integers.
_NOTHING = int(SlotKind.NOTHING)
_CALL = int(SlotKind.CALL)
_RESULT = int(SlotKind.RESULT)


class Assembly:
    """Branches of one spine, each made from the one before it.

    Every branch is an object of its own, since readers may still hold the last one.
    """

    def __init__(self) -> None:
        self.branch = Branch()
        self.windows: tuple[int, ...] = (1,)
        self._walk: Walk | None = None
        self._revision = 0
        self._answered: list[int] = []
        """Responses that have a number, in order of their numbers."""
        self._numbers: dict[int, int] = {}

    def update(self, spine: Spine) -> None:
        """Take in what the spine gained since it was settled."""
        walk, cut = self._walked(spine)
        members = walk.members
        place = self._place(spine, cut)
        if cut == len(members) and place == len(self.branch.seqs):
            return
        old, self.branch = self.branch, _head(self.branch, place)
        self._forget(spine, cut)
        for row in range(cut, len(members)):
            if members[row]:
                self._append(spine, row)
        if not spine.rewritten and _continues(old, self.branch, place):
            self.branch.lineage = old.lineage
        first = self.branch.seqs[0] if self.branch.seqs else 1
        found = (spine.firsts[row] for row in spine.compactions if members[row])
        self.windows = (1, *(seq for seq in found if seq > first))

    def _walked(self, spine: Spine) -> tuple[Walk, int]:
        """Return the present walk, and the lowest row that may have changed."""
        links = Links(spine)
        if self._walk is not None and self._revision == spine.revision:
            cut = self._walk.extend(links)
            if cut is not None:
                return self._walk, cut
        self._walk, self._revision = Walk(links, history=True), spine.revision
        return self._walk, 0

    def _place(self, spine: Spine, cut: int) -> int:
        """Return the position in the branch of the first slot from row ``cut`` on."""
        if cut == len(spine.flags):
            return len(self.branch.seqs)
        return bisect_left(self.branch.seqs, spine.firsts[cut])

    def _forget(self, spine: Spine, cut: int) -> None:
        """Take back the numbers of responses that begin at row ``cut`` or behind it."""
        while self._answered and spine.starts[self._answered[-1]] >= cut:
            del self._numbers[self._answered.pop()]

    def _append(self, spine: Spine, row: int) -> None:
        branch, flags, group = self.branch, spine.flags[row], spine.groups[row]
        opens = bool(flags & CLOSING)
        if flags & ANSWER and spine.starts[group] == row:
            opens = True
            if spine.texts[group] or spine.calling[group]:
                self._answered.append(group)
                self._numbers[group] = len(self._answered)
        for seq in spine.seqs(row):
            kind = spine.kinds[seq - 1]
            if kind in (_CALL, _RESULT):
                branch.call_ids[len(branch.seqs)] = spine.calls[seq]
                if seq in spine.tools:
                    branch.tools[len(branch.seqs)] = spine.tools[seq]
            branch.seqs.append(seq)
            branch.kinds.append(kind)
            branch.times.append(spine.times[row])
            branch.answers.append(self._number(spine, group, seq) if flags & ANSWER else 0)
            # Beside a result a row may hold what the person said to it.
            said = flags & RESULT and kind not in (_RESULT, _NOTHING)
            branch.closing.append(bool(said or opens))
            opens = False

    def _number(self, spine: Spine, group: int, seq: int) -> int:
        """Return the number of an answer on its text slot and its calls, else 0."""
        if seq == spine.texts[group] or not spine.texts[group] or spine.kinds[seq - 1] == _CALL:
            return self._numbers.get(group, 0)
        return 0


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
