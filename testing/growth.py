"""Compare two states of one session: growth must not change earlier slots."""

from __future__ import annotations

from collections.abc import Iterator

from hindnote.core.history.projection import Branch, Projection, SlotKind

_TEXTS = {SlotKind.USER, SlotKind.ASSISTANT, SlotKind.CONTEXT, SlotKind.NOTHING}
_ARRAYS = ("seqs", "kinds", "answers", "closing", "times")
_KEYED = ("call_ids", "tools")


class Held:
    """A state of a session as a reader may keep it, with a copy of what must not change."""

    def __init__(self, projection: Projection) -> None:
        self.branch = projection.branch
        self.last_seq = projection.last_seq
        self.size = len(self.branch.seqs)
        self.copied = _copied(self.branch, self.size)
        self.slots = _slots(projection)


def of_growth(before: Held, after: Projection) -> Iterator[str]:
    """Yield what an append changed that it must not change."""
    if _copied(before.branch, len(before.branch.seqs)) != before.copied:
        yield "an append changed the branch that a reader holds; make a new Branch for a new state"
    if after.last_seq < before.last_seq:
        yield (
            f"after an append last_seq fell from {before.last_seq} to {after.last_seq}; "
            "a seq is never given up"
        )
    now = _slots(after)
    for seq, held in before.slots.items():
        if (found := now.get(seq, held)) != held:
            yield (
                f"after an append the events were renumbered: seq {seq} was {held} and is {found}; "
                "allocate seqs in append order, by an entry's kind alone"
            )
            return
    yield from _lineage(before, after.branch)


def _lineage(before: Held, branch: Branch) -> Iterator[str]:
    if branch.lineage is not before.branch.lineage:
        return
    held, found = before.copied, _copied(branch, before.size)
    changed = [name for name in (*_ARRAYS, *_KEYED) if held[name] != found[name]]
    if changed:
        yield (
            f"two branches share a `lineage`, but {', '.join(changed)} of the older slots differ; "
            "give a branch that does more than append to the one before it a new lineage"
        )


def of_rebuilding(grown: Projection, fresh: Projection) -> Iterator[str]:
    """Yield the differences between a session read while it grew and one read at once."""
    for name in ("last_seq", "header"):
        if getattr(grown, name) != getattr(fresh, name):
            yield (
                f"read while it grew the session has the {name} {getattr(grown, name)}, and read "
                f"at once {getattr(fresh, name)}"
            )
    if list(grown.windows) != list(fresh.windows):
        yield (
            f"read while it grew the session has the windows {list(grown.windows)}, and read at "
            f"once {list(fresh.windows)}"
        )
    size = max(len(grown.branch.seqs), len(fresh.branch.seqs))
    one, other = _copied(grown.branch, size), _copied(fresh.branch, size)
    if changed := [name for name in (*_ARRAYS, *_KEYED) if one[name] != other[name]]:
        yield f"read while it grew the branch has other {', '.join(changed)} than read at once"
    if len(grown.damaged) != len(fresh.damaged):
        yield (
            f"read while it grew the session has {len(grown.damaged)} damaged records, and read "
            f"at once {len(fresh.damaged)}"
        )


def _copied(branch: Branch, size: int) -> dict[str, object]:
    """Return the first slots of a branch as plain data that can be compared."""
    found: dict[str, object] = {name: list(getattr(branch, name)[:size]) for name in _ARRAYS}
    # As text, since NaN does not equal itself.
    found["times"] = [str(moment) for moment in branch.times[:size]]
    for name in _KEYED:
        known: dict[int, str] = getattr(branch, name)
        found[name] = {at: known[at] for at in sorted(known) if at < size}
    return found


def _slots(projection: Projection) -> dict[int, tuple[object, ...]]:
    """Return the parts of each slot that an append must not change: group, time and call.

    Later rows may extend a text, and add one to an answer without text; so texts are compared only
    by the group of their kind.
    """
    branch = projection.branch
    found: dict[int, tuple[object, ...]] = {}
    for position, seq in enumerate(branch.seqs):
        facts, kind = projection.facts(seq), SlotKind(branch.kinds[position])
        group = "said" if kind in _TEXTS else kind.name
        found[seq] = (group, facts.created_at, facts.entry_id, branch.call_ids.get(position))
    return found
