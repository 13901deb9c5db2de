"""Locks across threads and processes. The system releases a lock when its holder dies.

They are ``flock`` locks on handles that we opened: a library that opens a lock file by its path
could be redirected by a link. Each opened handle has its own lock, so they also exclude threads of
the same process.
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
"""Interval at which a lock is retried while another process has it."""

_OPEN = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class HeldError(Exception):
    """Another thread or process held the lock for too long."""


@contextmanager
def locked(handle: int, *, seconds: float, shared: bool = False) -> Iterator[None]:
    """Lock an open file or folder until the context ends.

    Args:
        handle: The file or folder, opened for this lock alone.
        seconds: How long to wait for the lock.
        shared: Take a shared lock, which excludes only exclusive ones.

    Raises:
        HeldError: The lock was not free in time.
        OSError: It cannot be locked, as on some network file systems.
    """
    acquire(handle, seconds=seconds, shared=shared)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def locked_file(folder: int, name: str, *, seconds: float) -> Iterator[None]:
    """Lock a file that exists only to be locked; it is created when missing.

    Nothing is ever written to it, so its owner does not matter.

    Args:
        folder: Handle of the folder that contains it.
        name: Its name.
        seconds: How long to wait for the lock.

    Raises:
        HeldError: The lock was not free in time.
        NotRegularError: The name belongs to something that is not a regular file.
        OSError: It cannot be created, opened or locked.
    """
    deadline = time.monotonic() + seconds
    while True:
        with closing(_open(folder, name)) as handle:
            acquire(handle, seconds=max(deadline - time.monotonic(), 0.0))
            status = look(folder, name)
            # The file may have been removed while we waited, and others would lock a new one.
            if status is not None and os.path.samestat(status, os.fstat(handle)):
                yield
                return
        if time.monotonic() >= deadline:
            raise HeldError


def acquire(handle: int, *, seconds: float, shared: bool = False) -> None:
    """Lock an open file or folder; the lock ends when the handle is closed.

    Raises:
        HeldError: The lock was not free in time.
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
        # Another user, such as root, created it. Reading is enough for a lock on a local disk.
        handle = _open_as(os.O_RDONLY, folder, name)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotRegularError(name)
    return handle


def _open_as(access: int, folder: int, name: str) -> int:
    try:
        return os.open(name, access | _OPEN, 0o666, dir_fd=folder)
    except OSError as error:
        # A link, a folder, a socket, or a pipe that cannot be opened for reading and writing.
        if error.errno in {errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO}:
            raise NotRegularError(name) from error
        raise
