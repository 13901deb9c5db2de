"""The seven operations by name, all known before any of them, or a plugin, is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from hindnote.core.tools.operation import Operation

_MODULES = {
    "notes_list": "hindnote.core.notes.operations.list",
    "notes_read": "hindnote.core.notes.operations.read",
    "notes_search": "hindnote.core.notes.operations.search",
    "notes_write": "hindnote.core.notes.operations.write",
    "notes_update": "hindnote.core.notes.operations.update",
    "history_list": "hindnote.core.history.operations.list",
    "history_read": "hindnote.core.history.operations.read",
}
"""Where each operation is defined, under its name in capitals."""

NAMES = tuple(_MODULES)
"""All there are, in the order in which they are declared."""

Registry = Mapping[str, Operation[Any, Any]]


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
    return checked(name, getattr(import_module(_MODULES[name]), name.upper()))


def checked(name: str, operation: Operation[Any, Any]) -> Operation[Any, Any]:
    """Return the operation that is defined for a name.

    Raises:
        ValueError: It has another name, or its success model a field ``error``, by which
            callers know a refusal.
    """
    if operation.name != name:
        raise ValueError(f"operation {operation.name!r} is defined in the place of {name!r}")
    if "error" in operation.success.model_fields:
        raise ValueError(f"operation {name!r}: a success model may not have a field 'error'")
    return operation


@cache
def registry() -> Registry:
    """Return the seven operations by name, immutable."""
    return _Seven()
