"""A bounded cache of decoded files: each is decoded once and extended while it grows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from msgspec import Struct, field

from hindnote.core.errors import Refused
from hindnote.core.history.lines import LineFile, State
from hindnote.core.system.shortage import is_shortage

if TYPE_CHECKING:
    from pathlib import Path


class Index(Protocol):
    """The decoded form of one file."""

    def extend(self) -> None:
        """Decode the lines that were appended to its file.

        Other threads may be using the index, so publish the new state at the end.
        """
        ...


IndexT = TypeVar("IndexT", bound=Index)


class _Slot(Struct, Generic[IndexT]):
    lock: Lock = field(default_factory=Lock)
    held: tuple[LineFile, IndexT] | None = None


class FileCache(Generic[IndexT]):
    """Decoded files by path, evicting the least recently used. Thread-safe.

    A file that was truncated, rewritten or replaced is decoded again; its old index stays usable
    for callers that still have it. When memory or descriptors run out, all other files are
    evicted, and the file is tried once more. Files of running sessions are cached separately from
    the others, so that a search through many sessions does not evict them.

    Args:
        decode: Decodes a newly opened file into an index.
        limit: Maximum number of cached files of running sessions, and also of others.
    """

    def __init__(self, decode: Callable[[LineFile], IndexT], limit: int = 8) -> None:
        self._decode = decode
        self._limit = limit
        self._lock = Lock()
        self._running: OrderedDict[Path, _Slot[IndexT]] = OrderedDict()
        self._others: OrderedDict[Path, _Slot[IndexT]] = OrderedDict()

    def get(self, path: Path, *, running: bool = False) -> IndexT:
        """Return the up-to-date index of a file.

        Args:
            path: The file.
            running: The file is the session that a call belongs to.

        Raises:
            OSError: The file cannot be opened or read, or no descriptors are left.
            MemoryError: There is not enough memory to decode it.
        """
        slot = self._slot(path, running)
        with slot.lock:
            try:
                held = self._present(path, slot)
            except (MemoryError, OSError) as error:
                if not is_shortage(error):
                    raise
                # The cache uses memory and descriptors, and its content can be decoded again.
                self._forget(slot)
                held = self._present(path, slot)
            slot.held = held
            return held[1]

    def session(self, path: Path, *, running: bool = False) -> IndexT | None:
        """Return the up-to-date index of a session's file; None when the file does not exist.

        Args:
            path: The file.
            running: The file is the session that a call belongs to.

        Raises:
            Refused: ``unreadable_session`` when the file cannot be read.
            OSError: No descriptors are left.
            MemoryError: There is not enough memory to decode it.
        """
        try:
            return self.get(path, running=running)
        except FileNotFoundError:
            return None
        except OSError as error:
            if is_shortage(error):
                raise
            reason = error.strerror or error
            raise Refused("unreadable_session", f"{path} cannot be read: {reason}") from error

    def _present(self, path: Path, slot: _Slot[IndexT]) -> tuple[LineFile, IndexT]:
        """Return a file and its up-to-date index, removed from its slot."""
        # Put back only on success, since an index whose update was interrupted is unusable.
        held, slot.held = slot.held, None
        state = State.REPLACED if held is None else held[0].state()
        if held is not None and state is State.SAME:
            return held
        file = LineFile(path) if held is None or state is State.REPLACED else held[0]
        try:
            if held is not None and file is held[0]:
                held[1].extend()
                return held
            return file, self._decode(file)
        except BaseException:
            file.close()
            raise

    def _forget(self, kept: _Slot[IndexT]) -> None:
        """Evict every file except the one that is being read."""
        with self._lock:
            for slots in (self._running, self._others):
                for path in [path for path, slot in slots.items() if slot is not kept]:
                    _close(slots.pop(path))

    def _slot(self, path: Path, running: bool) -> _Slot[IndexT]:
        with self._lock:
            if running and path in self._others:
                self._running[path] = self._others.pop(path)
            slots = self._running if running or path in self._running else self._others
            slot = slots.setdefault(path, _Slot())
            slots.move_to_end(path)
            while len(slots) > self._limit:
                _close(slots.popitem(last=False)[1])
            return slot


def _close(slot: _Slot[IndexT]) -> None:
    """Close an evicted file; callers that still have its index can go on reading."""
    held = slot.held
    if held is not None:
        held[0].close()
