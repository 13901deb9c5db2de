"""The operations by name. The names are available before any operation or plugin is imported."""

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
"""The module of each operation; the operation's variable is its name in capitals."""

NAMES = tuple(_MODULES)
"""All names, in the order in which the operations are declared."""

Registry = Mapping[str, Operation[Any, Any]]


class _Seven(Registry):
    """A mapping of the operations that imports each one on first access.

    So a process that handles a single call imports only one operation.
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
    """Return the operation after checking its definition.

    Raises:
        ValueError: It has another name, or its success model has a field ``error``, which would
            make a success look like a refusal.
    """
    if operation.name != name:
        raise ValueError(f"operation {operation.name!r} is defined in the place of {name!r}")
    if "error" in operation.success.model_fields:
        raise ValueError(f"operation {name!r}: a success model may not have a field 'error'")
    return operation


@cache
def registry() -> Registry:
    """Return all operations by name, as a read-only mapping."""
    return _Seven()
