"""The seven operations, registered once by the core, before any plugin loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from hindnote.core.operation import Operation

NAMES = (
    "notes_list",
    "notes_read",
    "notes_search",
    "notes_write",
    "notes_update",
    "history_list",
    "history_read",
)
"""All there are, in the order in which they are declared."""

READING = frozenset({"notes_list", "notes_read", "notes_search", "history_list", "history_read"})
"""The operations that only look; a call to one is a look-up in history."""

Registry = Mapping[str, Operation[Any, Any]]


def build(operations: Iterable[Operation[Any, Any]], names: Sequence[str] = NAMES) -> Registry:
    """Return an immutable registry of exactly the operations named.

    Args:
        operations: The operations, in any order.
        names: All names there are to be; the seven, or those of one family.

    Raises:
        ValueError: A name comes twice, is not one of ``names`` or is missing; or
            a success model has a field named ``error``.
    """
    found: dict[str, Operation[Any, Any]] = {}
    for operation in operations:
        if operation.name in found:
            raise ValueError(f"operation {operation.name!r} is registered already")
        if operation.name not in names:
            raise ValueError(f"operation {operation.name!r} is not one of: {', '.join(names)}")
        if "error" in operation.success.model_fields:
            raise ValueError(
                f"operation {operation.name!r}: a success model may not have a field 'error'"
            )
        found[operation.name] = operation
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"operations missing: {', '.join(missing)}")
    return MappingProxyType({name: found[name] for name in names})


class _Seven(Registry):
    """The seven by name; a family is imported when one of its operations is asked for.

    The process of a single call pays for one family of the two.
    """

    def __getitem__(self, name: str) -> Operation[Any, Any]:
        if name not in NAMES:
            raise KeyError(name)
        return (_notes() if name.startswith("notes_") else _history())[name]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


@cache
def _notes() -> Registry:
    from hindnote.core.notes.operations import NOTES_OPERATIONS

    return build(NOTES_OPERATIONS, [name for name in NAMES if name.startswith("notes_")])


@cache
def _history() -> Registry:
    from hindnote.core.history.operations import HISTORY_OPERATIONS

    return build(HISTORY_OPERATIONS, [name for name in NAMES if name.startswith("history_")])


@cache
def registry() -> Registry:
    """Return the seven operations by name, immutable."""
    return _Seven()
