"""The active branch of a Pi session: from a leaf up the tree, as arrays.

A branch is put together from whole runs of entries, so its cost depends on the
number of turns in the tree and on copying, not on the entries one by one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, compress, count
from operator import mul
from typing import TYPE_CHECKING

from hindnote.core.history.projection import Branch, SlotKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindnote.hosts.pi.index import Index

Span = tuple[int, int]
"""First and last entry of an unbroken chain of parents."""


def _table(*kinds: SlotKind) -> bytes:
    """Return a table that turns these kinds into 1 and every other one into 0."""
    return bytes(kind in kinds for kind in range(256))


_STARTS_ANSWER = _table(SlotKind.NOTHING, SlotKind.ASSISTANT)
_IN_ANSWER = _table(SlotKind.NOTHING, SlotKind.ASSISTANT, SlotKind.CALL)
_HAS_ID = _table(SlotKind.CALL, SlotKind.RESULT)
_IS_CALL = _table(SlotKind.CALL)
_CLOSES = _table(
    SlotKind.NOTHING, SlotKind.USER, SlotKind.ASSISTANT, SlotKind.COMMAND, SlotKind.CONTEXT
)
"""A result is what a waiting call waits for; every other message ends the waiting."""


def spans(index: Index, leaf: int, above: int = -1) -> list[Span] | None:
    """Return the branch up to ``leaf`` as spans, oldest first.

    Args:
        index: The session.
        leaf: The branch's last entry; -1 for an empty branch.
        above: Leave out this entry and all that lies before it.

    Returns:
        None when ``above`` is given and does not lie on the branch.
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
    """Return ``old`` with what follows its leaf up to ``leaf``; None when it turned off before."""
    more = spans(index, leaf, old_leaf)
    if more is None:
        return None
    copy = Branch(
        old.seqs[:],
        old.kinds[:],
        old.answers[:],
        old.closing[:],
        old.call_ids.copy(),
        old.aborted.copy(),
        old.tools.copy(),
        old.times[:],
        old.lineage,
    )
    return _extended(copy, index, more)


def _extended(branch: Branch, index: Index, more: Iterable[Span]) -> Branch:
    for first_entry, last_entry in more:
        start, stop = index.firsts[first_entry], index.firsts[last_entry + 1]
        if start == stop:
            continue
        position = len(branch.seqs)
        kinds = index.kinds[start - 1 : stop - 1]
        branch.seqs.extend(range(start, stop))
        branch.kinds += kinds
        branch.closing += kinds.translate(_CLOSES)
        branch.times.extend(index.times[start - 1 : stop - 1])
        _number_answers(branch, kinds)
        _name_calls(branch, index, start, kinds, position)
        aborted = index.aborted
        branch.aborted.update(aborted[bisect_left(aborted, start) : bisect_left(aborted, stop)])
    return branch


def _number_answers(branch: Branch, kinds: bytearray) -> None:
    """Number each answer on its text and on its calls, going on from the branch's last one."""
    # Results lie between answers with number 0, so look for the last one that has one.
    last = next((number for number in reversed(branch.answers) if number), 0)
    numbers = accumulate(kinds.translate(_STARTS_ANSWER), initial=last)
    next(numbers)
    branch.answers.extend(map(mul, numbers, kinds.translate(_IN_ANSWER)))


def _name_calls(branch: Branch, index: Index, start: int, kinds: bytearray, position: int) -> None:
    """Record call ids and tool names by position; ``start`` is the first seq."""
    before = index.kinds.count(SlotKind.CALL, 0, start - 1)
    results = index.kinds.count(SlotKind.RESULT, 0, start - 1)
    positions = list(compress(count(position), kinds.translate(_HAS_ID)))
    ids = index.call_ids[before + results : before + results + len(positions)]
    branch.call_ids.update(zip(positions, ids, strict=True))
    calls = list(compress(count(position), kinds.translate(_IS_CALL)))
    tools = index.tools[before : before + len(calls)]
    branch.tools.update(zip(calls, tools, strict=True))


def windows(index: Index, branch: Branch) -> tuple[int, ...]:
    """Return the first seq of each window; a compaction opens one with its summary."""
    seqs = branch.seqs
    later = []
    for seq in index.compactions:
        position = bisect_left(seqs, seq)
        if 0 < position < len(seqs) and seqs[position] == seq:
            later.append(seq)
    return (1, *later)
