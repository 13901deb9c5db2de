"""The seven operations, registered once by the core, before any plugin loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from hindnote.core.operation import Operation

_MODULES = {
    "notes_list": "hindnote.core.notes.looking",
    "notes_read": "hindnote.core.notes.reading",
    "notes_search": "hindnote.core.notes.looking",
    "notes_write": "hindnote.core.notes.writing",
    "notes_update": "hindnote.core.notes.updating",
    "history_list": "hindnote.core.history.operations",
    "history_read": "hindnote.core.history.operations",
}
"""Where each operation is defined, under its name in capitals."""

NAMES = tuple(_MODULES)
"""All there are, in the order in which they are declared."""

Registry = Mapping[str, Operation[Any, Any]]


def build(operations: Iterable[Operation[Any, Any]], names: Sequence[str] = NAMES) -> Registry:
    """Return an immutable registry of exactly the operations named.

    Args:
        operations: The operations, in any order.
        names: All names there are to be; the seven, or one that is imported alone.

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
    """The seven by name; each is imported when it is asked for.

    The process of a single call pays for one operation of the seven.
    """

    def __getitem__(self, name: str) -> Operation[Any, Any]:
        if name not in _MODULES:
            raise KeyError(name)
        return _imported(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


@cache
def _imported(name: str) -> Operation[Any, Any]:
    operation = getattr(import_module(_MODULES[name]), name.upper())
    return build([operation], [name])[name]


@cache
def registry() -> Registry:
    """Return the seven operations by name, immutable."""
    return _Seven()
