"""Checks of a branch that a plugin made: exact built-in data of the shape that ``Branch`` tells.

``check_shape`` costs the same for every branch. ``check_slots`` looks at slots, and is asked
only for those that were not there when the branch's lineage was last looked at.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice, pairwise

from hindnote.core.errors import Malformed, class_name
from hindnote.core.history.projection import Branch, SlotKind

_KINDS = bytes(SlotKind)
_CONTAINERS: dict[str, tuple[type, ...]] = {
    "seqs": (array,),
    "kinds": (bytearray, bytes),
    "answers": (array,),
    "closing": (bytearray, bytes),
    "call_ids": (dict,),
    "aborted": (set, frozenset),
    "tools": (dict,),
    "times": (array,),
}
_TYPECODES = {"seqs": "q", "answers": "q", "times": "d"}


def check_shape(branch: Branch) -> None:
    """Raise ``Malformed`` when the containers of a branch are of other classes or lengths."""
    for name, kinds in _CONTAINERS.items():
        value = getattr(branch, name)
        if type(value) not in kinds:
            raise Malformed(f"{name}, a {class_name(type(value))!r}, not a {kinds[0].__name__}")
    for name, typecode in _TYPECODES.items():
        if (found := getattr(branch, name).typecode) != typecode:
            raise Malformed(f"{name}, an array of {found!r}, not of {typecode!r}")
    size = len(branch.seqs)
    for name in ("kinds", "answers", "closing", "times"):
        length = len(getattr(branch, name))
        if length != size and (name != "times" or length):
            raise Malformed(f"{length:,} {name} for {size:,} seqs; they are parallel")


def check_slots(branch: Branch, start: int, stop: int) -> None:
    """Raise ``Malformed`` for slots from ``start`` up to ``stop`` that the contract does not have."""
    if unknown := branch.kinds[start:stop].translate(None, _KINDS):
        raise Malformed(f"the kind {unknown[0]}; SlotKind has {min(_KINDS)} to {max(_KINDS)}")
    seqs = branch.seqs[max(start - 1, 0) : stop]
    if seqs and seqs[0] < 1:
        raise Malformed(f"the seq {seqs[0]}; seqs start at 1")
    for earlier, later in pairwise(seqs):
        if earlier >= later:
            raise Malformed(f"the seq {later} behind {earlier}; seqs ascend")
    for name in ("call_ids", "tools"):
        found: dict[int, str] = getattr(branch, name)
        # A dict keeps the order of insertion, so what is new stands at its end.
        new = min(stop - start, len(found)) if start else len(found)
        _check_types(islice(reversed(found), new), int, f"a key of {name}")
        _check_types(islice(reversed(found.values()), new), str, f"a value of {name}")
    _check_types(branch.aborted, int, "one of aborted")


def _check_types(values: Iterable[object], kind: type, what: str) -> None:
    for found in set(map(type, values)) - {kind}:
        raise Malformed(f"{what} that is a {class_name(found)!r}, not a {kind.__name__}")
