"""The socket of the resident helper, in a folder that only one user can access.

A running helper locks its folder. So a starting helper can tell which folders killed ones left,
without contacting those that run.
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
"""Prefix of the folders' names; the mod creates these names."""

SOCKET = "s"
"""Name of the socket in such a folder; the mod uses it too."""

UNUSED_SECONDS = 3600.0
"""Age in seconds from which an unlocked, empty folder is removed."""


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Yield a socket that listens at ``path``, in a folder that only this user can access.

    Raises:
        OSError: The folder or the socket cannot be created, the folder is accessible to others, or
            another server has locked it.
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
    """Remove what killed servers left."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(FOLDER_PREFIX)]
    for name in names:
        # One that cannot be examined or removed does no harm.
        with suppress(OSError):
            _sweep_one(folder / name)


def private_folder(folder: Path) -> bool:
    """Create a folder with mode 0700, or check the existing one; return whether it is new.

    Raises:
        PermissionError: It exists and is accessible to others, or belongs to another user.
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
    """Lock a folder for the duration of the context.

    Raises:
        OSError: Another process has locked it, or it cannot be locked.
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
    # A starting helper creates its folder before it locks it, so an empty one may be in use.
    if not has_socket and time.time() - found.st_mtime < UNUSED_SECONDS:
        return
    with _held(folder):
        if has_socket:
            path.unlink()
        folder.rmdir()
