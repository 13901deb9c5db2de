"""The active branch of a Pi session, from the root to a leaf, as arrays.

A branch is built from whole runs of entries, so its cost depends on the number of turns in the
tree and on copying, not on the number of entries.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, compress, count
from operator import mul
from typing import TYPE_CHECKING

from hindnote.core.history.projection import Branch, SlotKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindnote.hosts.pi.sessions.index import Index

Span = tuple[int, int]
"""First and last entry of an unbroken chain of parents."""


def _table(*kinds: SlotKind) -> bytes:
    """Return a table that translates these kinds to 1, and all others to 0."""
    return bytes(kind in kinds for kind in range(256))


_STARTS_ANSWER = _table(SlotKind.NOTHING, SlotKind.ASSISTANT)
_IN_ANSWER = _table(SlotKind.NOTHING, SlotKind.ASSISTANT, SlotKind.CALL)
_HAS_ID = _table(SlotKind.CALL, SlotKind.RESULT)
_IS_CALL = _table(SlotKind.CALL)
_NO_ID = bytes(kind for kind in range(256) if not _HAS_ID[kind])
_CLOSES = _table(
    SlotKind.NOTHING, SlotKind.USER, SlotKind.ASSISTANT, SlotKind.COMMAND, SlotKind.CONTEXT
)
"""Kinds that end the wait for a result; a result itself does not."""


def spans(index: Index, leaf: int, above: int = -1) -> list[Span] | None:
    """Return the branch up to ``leaf`` as spans, oldest first.

    Args:
        index: The session.
        leaf: The branch's last entry; -1 for an empty branch.
        above: Leave out this entry and all entries before it.

    Returns:
        None when ``above`` is given but is not on the branch.
    """
    found: list[Span] = []
    while leaf > above:
        run = bisect_right(index.run_starts, leaf) - 1
        start = index.run_starts[run]
        found.append((max(start, above + 1), leaf))
        leaf = above if start <= above else index.run_parents[run]
    if leaf != above:
        return None
    found.reverse()
    return found


def branch_to(index: Index, leaf: int) -> Branch:
    """Return the branch that ends at an entry; empty for -1."""
    return _extended(Branch(), index, spans(index, leaf) or [])


def branch_behind(index: Index, old: Branch, old_leaf: int, leaf: int) -> Branch | None:
    """Extend a branch from its old leaf to a new one; None if the new leaf is on another branch."""
    more = spans(index, leaf, old_leaf)
    if more is None:
        return None
    # Copying the dicts would make each call slower in a longer session. They are shared instead:
    # what they contain for the older branch's positions does not change.
    copy = Branch(
        old.seqs[:],
        old.kinds[:],
        old.answers[:],
        old.closing[:],
        old.call_ids,
        old.aborted.copy(),
        old.tools,
        old.times[:],
        old.lineage,
    )
    return _extended(copy, index, more)


def _extended(branch: Branch, index: Index, more: Iterable[Span]) -> Branch:
    place = _BranchPlace(index)
    # Results between answers have number 0, so search backwards for the last number.
    last = next((number for number in reversed(branch.answers) if number), 0)
    for first_entry, last_entry in more:
        start, stop = index.firsts[first_entry], index.firsts[last_entry + 1]
        if start == stop:
            continue
        position = len(branch.seqs)
        kinds = index.kinds[start - 1 : stop - 1]
        branch.seqs.fromlist(list(range(start, stop)))
        branch.kinds += kinds
        branch.closing += kinds.translate(_CLOSES)
        branch.times.extend(index.times[start - 1 : stop - 1])
        last = _number_answers(branch, kinds, last)
        place.move_to(start)
        _name_calls(branch, index, place, kinds, position)
        aborted = index.aborted
        branch.aborted.update(aborted[bisect_left(aborted, start) : bisect_left(aborted, stop)])
    return branch


def _number_answers(branch: Branch, kinds: bytearray, last: int) -> int:
    """Number the text and the calls of each answer, continuing after ``last``.

    Returns:
        The number of the last answer.
    """
    numbers = list(accumulate(kinds.translate(_STARTS_ANSWER), initial=last))
    # Convert to a list first: an array extends from other iterables item by item.
    branch.answers.fromlist(list(map(mul, numbers[1:], kinds.translate(_IN_ANSWER))))
    return numbers[-1]


class _BranchPlace:
    """The number of calls and results before a seq, counted from the nearest known seq."""

    def __init__(self, index: Index) -> None:
        self._kinds = index.kinds
        self._seq, self.calls, self.results = 1, 0, 0
        calls = len(index.tools)
        self._end = (len(index.kinds) + 1, calls, len(index.call_ids) - calls)

    def move_to(self, seq: int) -> None:
        """Move to a later seq."""
        if self._end[0] - seq < seq - self._seq:
            self._seq, self.calls, self.results = self._end
        low, high = sorted((self._seq - 1, seq - 1))
        sign = 1 if seq > self._seq else -1
        self.calls += sign * self._kinds.count(SlotKind.CALL, low, high)
        self.results += sign * self._kinds.count(SlotKind.RESULT, low, high)
        self._seq = seq


def _name_calls(
    branch: Branch, index: Index, place: _BranchPlace, kinds: bytearray, position: int
) -> None:
    """Record call ids and tool names by position; ``place`` is at the first slot."""
    before, ids_before = place.calls, place.calls + place.results
    positions = list(compress(count(position), kinds.translate(_HAS_ID)))
    ids = index.call_ids[ids_before : ids_before + len(positions)]
    branch.call_ids.update(zip(positions, ids, strict=True))
    # Reuse the int objects: both dicts have one key per call.
    halves = kinds.translate(_IS_CALL, delete=_NO_ID)
    calls = list(compress(positions, halves))
    tools = index.tools[before : before + len(calls)]
    branch.tools.update(zip(calls, tools, strict=True))


def windows(index: Index, branch: Branch) -> tuple[int, ...]:
    """Return the first seq of each window; a compaction's summary begins a new window."""
    seqs = branch.seqs
    later = []
    for seq in index.compactions:
        position = bisect_left(seqs, seq)
        if 0 < position < len(seqs) and seqs[position] == seq:
            later.append(seq)
    return (1, *later)
