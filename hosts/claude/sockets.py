"""Where the resident helper's socket lies: a folder for one user alone.

A helper holds the lock of its folder as long as it lives, so a helper that starts can tell what
killed ones left behind without asking the living.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER_PREFIX = "hindnote-"
"""How the folders of sockets begin; the mod names them."""

SOCKET = "s"
"""Name of the socket in such a folder; the mod names it, too."""

UNUSED_SECONDS = 3600.0
"""Seconds after which an unlocked folder that holds nothing is a leftover."""


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Yield a socket that listens at ``path``, in a folder for this user alone.

    Raises:
        OSError: The folder or the socket cannot be made, the folder is open to others, or
            another server has it.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    sweep(path.parent.parent)
    made = private_folder(path.parent)
    try:
        with _held(path.parent), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen(64)
            listener.setblocking(False)
            try:
                yield listener
            finally:
                path.unlink(missing_ok=True)
    finally:
        if made:
            with suppress(OSError):
                path.parent.rmdir()


def sweep(folder: Path) -> None:
    """Remove what servers left behind that were killed."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(FOLDER_PREFIX)]
    for name in names:
        # What cannot be looked at or removed is in nobody's way.
        with suppress(OSError):
            _sweep_one(folder / name)


def private_folder(folder: Path) -> bool:
    """Make a folder for this user alone, or check the one that is there; return if it is new.

    Raises:
        PermissionError: The folder is there and open to others, or another user's.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not folder.is_dir() or folder.is_symlink():
            raise
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise PermissionError(f"{folder} is not private to this user") from None
        return False
    return True


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder's lock.

    Raises:
        OSError: Another process holds it, or it cannot be locked.
    """
    from hindnote.core.fs.handles import ENTER, closing
    from hindnote.core.fs.locks import HeldError, acquire

    with closing(os.open(folder, ENTER)) as handle:
        try:
            acquire(handle, seconds=0)
        except HeldError:
            raise OSError(errno.EBUSY, "another helper has this folder", str(folder)) from None
        yield


def _sweep_one(folder: Path) -> None:
    found = folder.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
        return
    path = folder / SOCKET
    has_socket = path.is_socket()
    # A helper that starts makes its folder before it locks it: an empty one may be in use.
    if not has_socket and time.time() - found.st_mtime < UNUSED_SECONDS:
        return
    with _held(folder):
        if has_socket:
            path.unlink()
        folder.rmdir()
