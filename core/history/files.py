"""Folders and files of sessions: anything may vanish, be closed to us, or be no file.

A search may hold hundreds of decoded sessions, and a system may give a process 256
descriptors in all. So a file that was opened keeps its descriptor only as long as it
is among the last ``LIMIT`` that were read; after that it is opened again when it is
read again. A file that was replaced meanwhile is then found to be another one.
"""

from __future__ import annotations

import errno
import os
import stat
import weakref
from collections import deque
from pathlib import Path
from threading import RLock

from hindnote.core.system.shortage import is_shortage

LIMIT = 16
"""Descriptors of session files that a process keeps open. One more for each thread that reads
at this moment is the most that there can be."""


def scan_folder(folder: str) -> list[os.DirEntry[str]]:
    """Return what lies in a folder; nothing when it cannot be looked into.

    Raises:
        OSError: This process has too few descriptors or too little memory.
    """
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        if is_shortage(error):
            raise
        return []


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder; not when that cannot be found out."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def open_file(path: Path) -> int:
    """Return a handle of a file to read, which its caller closes; never waits at a pipe.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_file(path: Path) -> bytes:
    """Return the bytes of a file; never waits at a pipe.

    Raises:
        OSError: It cannot be read, or is no regular file.
    """
    with os.fdopen(open_file(path), "rb") as file:
        return file.read()


# -- descriptors: a few at a time ----------------------------------------------------


class _Held:
    """One descriptor, or none; ``lock`` is held by whoever uses or closes it."""

    def __init__(self) -> None:
        # A finalizer may run within any other step of the same thread.
        self.lock = RLock()
        self.fd = -1
        self.used = False
        """Whether it was read since the pool last looked at it."""

    def close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


class Pool:
    """Descriptors in the order in which they were opened. Thread-safe.

    Args:
        limit: How many to keep open.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._lock = RLock()
        self._open: deque[_Held] = deque()

    @property
    def count(self) -> int:
        """How many descriptors are open."""
        return len(self._open)

    def open(self, held: _Held, path: Path) -> None:
        """Open a file for ``held``, whose lock the caller has.

        Raises:
            OSError: It cannot be opened, or is no regular file.
        """
        self._make_room()
        try:
            held.fd = open_file(path)
        except OSError as error:
            if not is_shortage(error):
                raise
            self.close_idle()
            held.fd = open_file(path)
        with self._lock:
            self._open.append(held)

    def drop(self, held: _Held) -> None:
        """Close a descriptor, once nobody reads through it."""
        with held.lock:
            held.close()
        with self._lock:
            if held in self._open:
                self._open.remove(held)

    def close_idle(self) -> None:
        """Close every descriptor that is not being read through at this moment."""
        with self._lock:
            for held in list(self._open):
                if _closed(held) and held in self._open:
                    self._open.remove(held)

    def _make_room(self) -> None:
        """Close descriptors until one more fits, those that were read lately last."""
        with self._lock:
            for _ in range(2 * len(self._open)):
                if len(self._open) < self._limit:
                    break
                held = self._open.popleft()
                if held.used or not _closed(held):
                    held.used = False
                    self._open.append(held)


def _closed(held: _Held) -> bool:
    """Close a descriptor unless somebody is reading through it; return whether it is closed."""
    if not held.lock.acquire(blocking=False):
        return False
    try:
        held.close()
    finally:
        held.lock.release()
    return True


POOL = Pool()
"""The session files of this process."""


class OpenFile:
    """A file as it was when it was opened. Thread-safe.

    Args:
        path: The file.
        pool: What bounds the number of open descriptors.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """

    def __init__(self, path: Path, pool: Pool = POOL) -> None:
        self._path = path
        self._pool = pool
        self._held = _Held()
        with self._held.lock:
            pool.open(self._held, path)
            status = os.fstat(self._held.fd)
        self._identity = (status.st_dev, status.st_ino)
        self._finalizer = weakref.finalize(self, pool.drop, self._held)

    def read(self, size: int, offset: int) -> bytes:
        """Return bytes from an offset on; fewer, or none, at the end of the file.

        Raises:
            OSError: It cannot be read; ``ESTALE`` when another file lies in its place.
        """
        held = self._held
        with held.lock:
            held.used = True
            if held.fd < 0:
                self._reopen()
            return os.pread(held.fd, size, offset)

    def status(self) -> os.stat_result:
        """Return the file's present status.

        Raises:
            OSError: As for ``read``.
        """
        with self._held.lock:
            if self._held.fd < 0:
                self._reopen()
            return os.fstat(self._held.fd)

    def close(self) -> None:
        """Give the descriptor back. Whoever reads again opens the file again."""
        self._pool.drop(self._held)

    def _reopen(self) -> None:
        held = self._held
        self._pool.open(held, self._path)
        status = os.fstat(held.fd)
        if (status.st_dev, status.st_ino) != self._identity:
            self._pool.drop(held)
            raise OSError(errno.ESTALE, "another file lies in its place now", str(self._path))
