"""Where the resident helper's socket lies: a folder for one user alone."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER_PREFIX = "hindnote-"
"""How the folders of sockets begin; the mod names them."""


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Yield a socket that listens at ``path``, in a folder for this user alone."""
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    sweep(path.parent.parent)
    made = private_folder(path.parent)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
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
    """Remove what servers left behind that were killed: folders whose socket nobody serves."""
    for path in folder.glob(f"{FOLDER_PREFIX}*/s"):
        with suppress(OSError):
            if path.lstat().st_uid != os.getuid() or not path.is_socket():
                continue
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                try:
                    probe.connect(str(path))
                except ConnectionRefusedError:
                    path.unlink()
                    path.parent.rmdir()


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
