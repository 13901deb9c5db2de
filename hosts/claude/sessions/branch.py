"""The rows on the active branch: those that the host sends, and the whole history.

A *walk* follows parents up from the leaf. Each row of a response is the child of the row before
it, and each result is the child of its call. So the walk misses the other calls of a response and
their results; ``BranchWalk.members`` includes them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import NamedTuple

from hindnote.hosts.claude.sessions.spine import (
    ANSWER,
    LEADS_ON,
    LOST,
    META,
    NO_GROUP,
    NOTE,
    RESULT,
    ROOT,
    Spine,
)
from hindnote.hosts.claude.sessions.tree import Links, leaf_of, tip_of


class _BranchPlace(NamedTuple):
    """Where a note belongs that is not on the walk."""

    member: bool
    group: int = NO_GROUP
    """The response to which its chain of notes belongs."""
    under_leaf: bool = False


_OUT = _BranchPlace(False)


class BranchWalk:
    """The rows on the way up from the leaf, and the rows that belong to them.

    Args:
        links: The tree.
        history: Continue before compactions, with the rows that each earlier window had.
    """

    def __init__(self, links: Links, *, history: bool) -> None:
        size = len(links.spine.flags)
        self.leaf = leaf_of(links, tip_of(links))
        self.rows = array("i")
        """Rows from the root to the leaf."""
        self.on_walk = bytearray(size)
        self.members = bytearray(size)
        """1 for each row of the branch."""
        self._tree = (links.anchor, links.moved, links.pruned)
        self._answers = array("i", bytes(4 * len(links.spine.starts)))
        """Number of rows on the walk, by response."""
        above, end = self._climb(links, self.leaf)
        self._looped = end != ROOT
        """Whether the walk ended at a row that it had visited already."""
        if history and above:
            above += self._earlier(links, above)
        above.reverse()
        self._put(links.spine, above)
        self._admit(links, 0)

    def extend(self, links: Links) -> int | None:
        """Add the new rows of the spine; return the lowest row that may have changed.

        Returns:
            None when a new walk is needed; this one must not be used then.
        """
        spine = links.spine
        known = len(self.on_walk)
        tree = (links.anchor, links.moved, links.pruned)
        if self._looped or spine.boundary >= known or tree != self._tree or not self.rows:
            return None
        if max(links.moved, default=ROOT) > links.boundary:
            # A compaction preserved rows that come before it; history may pass through any other
            # row.
            return None
        old, self.leaf = self.leaf, leaf_of(links, tip_of(links))
        self.on_walk.extend(bytes(len(spine.flags) - known))
        self.members.extend(bytes(len(spine.flags) - known))
        self._answers.extend([0] * (len(spine.starts) - len(self._answers)))
        above, joint = self._climb(links, self.leaf)
        if joint == ROOT or joint < links.boundary or joint in above:
            return None
        dropped = self._drop_behind(spine, joint)
        if min(dropped, default=known) < links.boundary:
            # A preserved row was left, so history reaches it by another path.
            return None
        above.reverse()
        self._put(spine, above)
        touched = (old, self.leaf, joint, *dropped, *above)
        groups = {spine.groups[row] for row in touched if spine.groups[row] >= 0}
        cut = min(known, spine.stirred, *touched, *(spine.starts[group] for group in groups))
        self._admit(links, cut)
        return cut

    def responses(self, spine: Spine) -> dict[int, int]:
        """Return the responses on the walk in order, with the position of their first row."""
        found: dict[int, int] = {}
        for place, row in enumerate(self.rows):
            if spine.flags[row] & ANSWER:
                found.setdefault(spine.groups[row], place)
        return found

    def _climb(self, links: Links, row: int) -> tuple[list[int], int]:
        """Return the rows from ``row`` upwards, and the row of the walk that they reach."""
        above = []
        on_walk, parent = self.on_walk, links.parent
        # If no row was moved, the recorded parents suffice, which is faster.
        parents = None if links.pruned else links.spine.parents
        while row >= 0 and not on_walk[row]:
            on_walk[row] = 1
            above.append(row)
            found = LOST if parents is None else parents[row]
            row = parent(row) if found == LOST else found
        return above, row

    def _earlier(self, links: Links, behind: list[int]) -> list[int]:
        """Return the rows before compactions, upwards from the start of the host's chain.

        Each window is followed in the tree that the host had then: the children of a row that a
        compaction preserved were added after that compaction.

        Args:
            links: The tree after the newest compaction.
            behind: The rows on the host's chain, upwards.
        """
        spine, compactions = links.spine, links.compactions
        above: list[int] = []
        known: set[int] = set()
        windows = [(behind[-1], set(behind))]
        while windows:
            root, passed = windows.pop()
            if root in known or root not in spine.compactions or spine.parents[root] != ROOT:
                continue
            known.add(root)
            older = Links(spine, root, compactions)
            seen: set[int] = set()
            for start in _starts(Links(spine, root + 1, compactions), older, passed):
                path, end = _up(older, start, seen)
                if end != ROOT:
                    self._looped = self._looped or end in path
                elif path:
                    windows.append((path[-1], seen))
                above += [row for row in path if not self.on_walk[row]]
                for row in path:
                    self.on_walk[row] = 1
        return above

    def _put(self, spine: Spine, rows: list[int]) -> None:
        self.rows.fromlist(rows)
        flags, groups, answers = spine.flags, spine.groups, self._answers
        counts = Counter([groups[row] for row in rows if flags[row] & ANSWER])
        for group, count in counts.items():
            answers[group] += count

    def _drop_behind(self, spine: Spine, joint: int) -> array[int]:
        """Remove the rows after ``joint`` from the walk."""
        place = len(self.rows)
        while self.rows[place - 1] != joint:
            place -= 1
        dropped = self.rows[place:]
        del self.rows[place:]
        for row in dropped:
            self.on_walk[row] = 0
            if spine.flags[row] & ANSWER:
                self._answers[spine.groups[row]] -= 1
        return dropped

    def _admit(self, links: Links, start: int) -> None:
        """Determine which rows from ``start`` on are members."""
        flags, groups, answers = links.spine.flags, links.spine.groups, self._answers
        on_walk, members = self.on_walk, self.members
        members[start:] = on_walk[start:]
        notes = []
        row = on_walk.find(0, start)
        while row >= 0:
            if flags[row] & NOTE:
                notes.append(row)
            elif flags[row] & (ANSWER | RESULT) and groups[row] >= 0 and answers[groups[row]]:
                members[row] = 1
            row = on_walk.find(0, row + 1)
        decided: dict[int, _BranchPlace] = {}
        for note in notes:
            self._decide(links, note, decided)

    def _decide(self, links: Links, note: int, decided: dict[int, _BranchPlace]) -> None:
        """Decide on a note, and on the notes between it and the row they belong to."""
        flags = links.spine.flags
        chain = []
        row = note
        while row != ROOT and flags[row] & NOTE and not self.on_walk[row] and row not in decided:
            decided[row] = _OUT
            chain.append(row)
            row = links.parent(row)
        for below in reversed(chain):
            decided[below] = self._place(links, below, row, decided)
            self.members[below] = decided[below].member
            row = below

    def _place(
        self, links: Links, note: int, parent: int, decided: dict[int, _BranchPlace]
    ) -> _BranchPlace:
        """Return where a note belongs whose parent is ``parent``."""
        if parent == ROOT or not self.members[parent]:
            return _OUT
        spine = links.spine
        above = decided.get(parent)
        group = above.group if above else spine.groups[parent]
        if note in spine.steering:
            # Its parent is the row before it in the file, which is on the branch where it was
            # sent.
            return _BranchPlace(True, group)
        flags = spine.flags[note]
        under_leaf = above.under_leaf if above else self._leads_to_leaf(links, parent)
        if not flags & META and under_leaf:
            return _BranchPlace(True, group, True)
        called = group >= 0 and spine.calling[group] and self._answers[group]
        return _BranchPlace(True, group) if called and not flags & LEADS_ON else _OUT

    def _leads_to_leaf(self, links: Links, row: int) -> bool:
        """Return whether a row is the leaf, or a preserved note below it.

        In the history such a note is on the walk already, from before the compaction.
        """
        flags = links.spine.flags
        while row != self.leaf and row in links.moved and flags[row] & (NOTE | META) == NOTE:
            row = links.moved[row]
        return row == self.leaf


def _starts(links: Links, older: Links, passed: set[int]) -> list[int]:
    """Return the rows from which history continues before the boundary of ``links``.

    Args:
        links: The tree after the boundary.
        older: The tree before it.
        passed: The rows that were reached after the boundary.
    """
    kept = [row for row in links.moved if row in passed]
    if kept and links.tail not in passed:
        # Somebody who went back to a preserved row has left the rows after it.
        return kept
    starts = [links.spine.compactions[links.boundary][0], *links.moved]
    last = links.spine.row_before(links.boundary)
    if links.anchor == links.boundary and older.descends(last, links.tail):
        # Summed up from a chosen row on: the boundary names the last row before it.
        starts.append(last)
    return starts


def _up(links: Links, row: int, seen: set[int]) -> tuple[list[int], int]:
    """Return the rows from ``row`` upwards that are not in ``seen``, and the next row."""
    path = []
    while row != ROOT and row not in seen:
        seen.add(row)
        path.append(row)
        row = links.parent(row)
    return path, row


# -- the branch as the host has it ---------------------------------------------


def host_branch(spine: Spine) -> tuple[list[int], list[int]]:
    """Return the rows from which the host builds its next request.

    Returns:
        The branch from its root to its leaf, and those of its rows that are not on the direct path
        between them.
    """
    links = Links(spine)
    walk = BranchWalk(links, history=False)
    found = [
        row
        for row in range(len(spine.flags))
        if walk.members[row] and not walk.on_walk[row] and links.kept(row)
    ]
    responses = walk.responses(spine)
    behind: dict[int, list[int]] = {}
    for row in found:
        place = responses.get(spine.groups[row], len(walk.rows) - 1)
        while place + 1 < len(walk.rows) and walk.rows[place + 1] < row:
            place += 1
        behind.setdefault(place, []).append(row)
    branch = []
    for place, row in enumerate(walk.rows):
        branch += [row, *behind.get(place, ())]
    return branch, found
