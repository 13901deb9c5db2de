"""A bounded memory of decoded files: each is decoded once and extended while it grows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from msgspec import Struct, field

from hindnote.core.history.lines import LineFile, State

if TYPE_CHECKING:
    from pathlib import Path


class Index(Protocol):
    """What a decoder keeps of one file."""

    def extend(self) -> None:
        """Take in the lines that its file gained.

        Readers may use the index meanwhile, so publish a new state at the end.
        """
        ...


IndexT = TypeVar("IndexT", bound=Index)


class _Slot(Struct, Generic[IndexT]):
    lock: Lock = field(default_factory=Lock)
    held: tuple[LineFile, IndexT] | None = None


class FileCache(Generic[IndexT]):
    """Decoded files by path, least recently used ones forgotten. Thread-safe.

    A file that was truncated, rewritten or replaced is decoded afresh; its old
    index stays usable for whoever still holds it. Files of running sessions are
    remembered apart from the others, so that a search through many forgets none.

    Args:
        decode: Makes an index of a freshly opened file, all its lines read.
        limit: Files to remember, at most, of running sessions and of others each.
    """

    def __init__(self, decode: Callable[[LineFile], IndexT], limit: int = 8) -> None:
        self._decode = decode
        self._limit = limit
        self._lock = Lock()
        self._running: OrderedDict[Path, _Slot[IndexT]] = OrderedDict()
        self._others: OrderedDict[Path, _Slot[IndexT]] = OrderedDict()

    def get(self, path: Path, *, running: bool = False) -> IndexT:
        """Return the index of a file in its present state.

        Args:
            path: The file.
            running: The file is the session that a call belongs to.

        Raises:
            OSError: The file cannot be opened or read.
        """
        slot = self._slot(path, running)
        with slot.lock:
            # Put back only when all went well: an index that stopped halfway is of no use.
            held, slot.held = slot.held, None
            state = State.REPLACED if held is None else held[0].state()
            if held is None or state is State.REPLACED:
                file = LineFile(path)
                held = (file, self._decode(file))
            elif state is State.GREW:
                held[1].extend()
            slot.held = held
            return held[1]

    def _slot(self, path: Path, running: bool) -> _Slot[IndexT]:
        with self._lock:
            if running and path in self._others:
                self._running[path] = self._others.pop(path)
            slots = self._running if running or path in self._running else self._others
            slot = slots.setdefault(path, _Slot())
            slots.move_to_end(path)
            while len(slots) > self._limit:
                slots.popitem(last=False)
            return slot
