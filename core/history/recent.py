"""A small cache of values that may be requested again soon."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Recent(Generic[KeyT, ValueT]):
    """Values by key, evicting the least recently used. Thread-safe.

    Args:
        limit: Maximum number of values.
    """

    def __init__(self, limit: int = 2) -> None:
        self._limit = limit
        self._lock = Lock()
        self._kept: OrderedDict[KeyT, ValueT] = OrderedDict()

    def get(self, key: KeyT, make: Callable[[KeyT], ValueT]) -> ValueT:
        """Return the value of a key; computed if it is not cached."""
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
