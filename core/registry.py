"""The seven operations, registered once by the core, before any plugin loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def build(operations: Iterable[Operation[Any, Any]]) -> Registry:
    """Return the immutable registry of exactly the seven operations.

    Raises:
        ValueError: A name comes twice, is not one of the seven or is missing; or
            a success model has a field named ``error``.
    """
    found: dict[str, Operation[Any, Any]] = {}
    for operation in operations:
        if operation.name in found:
            raise ValueError(f"operation {operation.name!r} is registered already")
        if operation.name not in NAMES:
            raise ValueError(f"operation {operation.name!r} is not one of: {', '.join(NAMES)}")
        if "error" in operation.success.model_fields:
            raise ValueError(
                f"operation {operation.name!r}: a success model may not have a field 'error'"
            )
        found[operation.name] = operation
    missing = [name for name in NAMES if name not in found]
    if missing:
        raise ValueError(f"operations missing: {', '.join(missing)}")
    return MappingProxyType({name: found[name] for name in NAMES})


@cache
def registry() -> Registry:
    """Return the seven operations by name."""
    from hindnote.core.history.operations import HISTORY_OPERATIONS
    from hindnote.core.notes.operations import NOTES_OPERATIONS

    return build([*NOTES_OPERATIONS, *HISTORY_OPERATIONS])
