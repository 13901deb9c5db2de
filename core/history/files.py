"""Read folders and files of sessions, which may vanish, be unreadable, or not be regular files.

A search may use hundreds of decoded sessions, while some systems allow a process 256 descriptors
in all. So only the ``LIMIT`` files read most recently keep an open descriptor; any other is opened
again when it is read again. If it was replaced meanwhile, the read detects this.
"""

from __future__ import annotations

import errno
import os
import stat
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import RLock

from hindnote.core.system.shortage import is_shortage

LIMIT = 16
"""Maximum number of open descriptors of session files, plus one for each thread that is
reading."""


def scan_folder(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a folder; empty when it cannot be read.

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


def distinct_folders(folders: Iterable[str]) -> Iterator[str]:
    """Yield the folders that exist, each once, even if several paths lead to it."""
    seen: set[tuple[int, int]] = set()
    for folder in folders:
        try:
            status = os.stat(folder)  # noqa: PTH116 - building a Path for each of many is slow
        except OSError:
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            yield folder


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder; False when this cannot be determined."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def open_file(path: Path | str) -> int:
    """Return a handle for reading a file, which the caller must close; never blocks on a pipe.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_file(path: Path) -> bytes:
    """Return the content of a file; never blocks on a pipe.

    Raises:
        OSError: It cannot be read, or is not a regular file.
    """
    with os.fdopen(open_file(path), "rb") as file:
        return file.read()


# -- descriptors: a few at a time ----------------------------------------------------


class _Held:
    """A descriptor, or -1 when closed; whoever uses or closes it must have ``lock``."""

    def __init__(self) -> None:
        # Reentrant, since a finalizer may run at any point of the same thread.
        self.lock = RLock()
        self.fd = -1
        self.used = False
        """Whether it was read since the pool last checked it."""

    def close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


class Pool:
    """The open descriptors, in the order in which they were opened. Thread-safe.

    Args:
        limit: Maximum number of open descriptors.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._lock = RLock()
        self._open: deque[_Held] = deque()

    @property
    def count(self) -> int:
        """Number of open descriptors."""
        return len(self._open)

    def open(self, held: _Held, path: Path) -> None:
        """Open a file for ``held``, whose lock the caller has.

        Raises:
            OSError: It cannot be opened, or is not a regular file.
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
        """Close a descriptor, waiting until nobody reads from it."""
        with held.lock:
            held.close()
        with self._lock:
            if held in self._open:
                self._open.remove(held)

    def close_idle(self) -> None:
        """Close every descriptor that is not being read at this moment."""
        with self._lock:
            for held in list(self._open):
                if _closed(held) and held in self._open:
                    self._open.remove(held)

    def _make_room(self) -> None:
        """Close descriptors until one more fits, recently read ones last."""
        with self._lock:
            for _ in range(2 * len(self._open)):
                if len(self._open) < self._limit:
                    break
                held = self._open.popleft()
                if held.used or not _closed(held):
                    held.used = False
                    self._open.append(held)


def _closed(held: _Held) -> bool:
    """Close a descriptor unless it is being read; return whether it is closed."""
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
    """A file, kept open through a pool. Thread-safe.

    Args:
        path: The file.
        pool: Limits the number of open descriptors.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
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
        """Return bytes from an offset; fewer, or none, at the end of the file.

        Raises:
            OSError: It cannot be read; ``ESTALE`` when the path now belongs to another file.
        """
        held = self._held
        with held.lock:
            held.used = True
            if held.fd < 0:
                self._reopen()
            return os.pread(held.fd, size, offset)

    def status(self) -> os.stat_result:
        """Return the file's current status.

        Raises:
            OSError: As for ``read``.
        """
        with self._held.lock:
            if self._held.fd < 0:
                self._reopen()
            return os.fstat(self._held.fd)

    def close(self) -> None:
        """Close the descriptor; a later read opens the file again."""
        self._pool.drop(self._held)

    def _reopen(self) -> None:
        held = self._held
        self._pool.open(held, self._path)
        status = os.fstat(held.fd)
        if (status.st_dev, status.st_ino) != self._identity:
            self._pool.drop(held)
            raise OSError(errno.ESTALE, "another file lies in its place now", str(self._path))
