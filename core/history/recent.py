"""The last few of many things that were made, for what asks for one of them again at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Recent(Generic[KeyT, ValueT]):
    """Values by key, least recently used ones forgotten. Thread-safe.

    Args:
        limit: Values to keep, at most.
    """

    def __init__(self, limit: int = 2) -> None:
        self._limit = limit
        self._lock = Lock()
        self._kept: OrderedDict[KeyT, ValueT] = OrderedDict()

    def get(self, key: KeyT, make: Callable[[KeyT], ValueT]) -> ValueT:
        """Return the value of a key, made if it is not among the last ones."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make(key)
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return value
