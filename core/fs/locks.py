"""Locks across threads and processes. The system frees one when its holder dies.

They are ``flock`` locks on handles of our own, since a library that opens a lock's file by its
path may be led elsewhere. Each opening of a file has its own lock, so threads of one process
keep each other out as well.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hindnote.core.fs.handles import NotRegularError, closing, look

POLL_SECONDS = 0.005
"""How often a lock is asked for that another one holds."""

_OPEN = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class HeldError(Exception):
    """Another thread or process held the lock for too long."""


@contextmanager
def locked(handle: int, *, seconds: float, shared: bool = False) -> Iterator[None]:
    """Hold the lock of an open file or folder.

    Args:
        handle: The file or folder, opened for this lock alone.
        seconds: How long to wait for others.
        shared: Keep only those out who want it for themselves.

    Raises:
        HeldError: Others held it all the time.
        OSError: It cannot be locked, as on some network file systems.
    """
    acquire(handle, seconds=seconds, shared=shared)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def locked_file(folder: int, name: str, *, seconds: float) -> Iterator[None]:
    """Hold the lock of a file that exists for its lock alone; it is made when it is missing.

    Nothing is ever written to it, so it does not matter whose it is.

    Args:
        folder: Handle of the folder that it lies in.
        name: Its name.
        seconds: How long to wait for others.

    Raises:
        HeldError: Others held it all the time.
        NotRegularError: The name belongs to a link, or to anything else but a file.
        OSError: It cannot be made, opened or locked.
    """
    deadline = time.monotonic() + seconds
    while True:
        with closing(_open(folder, name)) as handle:
            acquire(handle, seconds=max(deadline - time.monotonic(), 0.0))
            status = look(folder, name)
            # Somebody may have removed the file while we waited, and others lock a new one.
            if status is not None and os.path.samestat(status, os.fstat(handle)):
                yield
                return
        if time.monotonic() >= deadline:
            raise HeldError


def acquire(handle: int, *, seconds: float, shared: bool = False) -> None:
    """Take the lock of an open file or folder; it ends when the handle is closed.

    Raises:
        HeldError: Others held it all the time.
        OSError: It cannot be locked.
    """
    operation = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, operation)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise HeldError from None
            time.sleep(POLL_SECONDS)
        else:
            return


def _open(folder: int, name: str) -> int:
    try:
        handle = _open_as(os.O_RDWR, folder, name)
    except PermissionError:
        # Another user made it, such as root. Reading is enough for a lock on a local disk.
        handle = _open_as(os.O_RDONLY, folder, name)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotRegularError(name)
    return handle


def _open_as(access: int, folder: int, name: str) -> int:
    try:
        return os.open(name, access | _OPEN, 0o666, dir_fd=folder)
    except OSError as error:
        # A link, a folder, a socket, and a pipe that may not be opened both ways.
        if error.errno in {errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO}:
            raise NotRegularError(name) from error
        raise
