"""The ``.hindnote`` folder: our own files next to notes or in a workspace, hidden from Git."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from hindnote.core.fs import atomic
from hindnote.core.fs.handles import look, open_folder

STATE = ".hindnote"
"""Its name."""

_IGNORE = ".gitignore"
_ALL = b"*\n"


class NoFolderError(OSError):
    """The name of one of our folders belongs to a link or a file.

    Args:
        name: Its name.
        is_link: Whether it is a link.
    """

    def __init__(self, name: str, *, is_link: bool) -> None:
        number = errno.ELOOP if is_link else errno.ENOTDIR
        super().__init__(number, "a symbolic link" if is_link else "not a folder", name)
        self.is_link = is_link


def open_state(root: int) -> int:
    """Return a handle of the state folder in an open folder, creating it with its ``.gitignore``.

    An empty ``.gitignore``, which remains after a write to a full disk, is written again; any
    other is left unchanged.

    Args:
        root: Handle of the notes home or of a workspace.

    Raises:
        NoFolderError: The name belongs to a link or a file.
        OSError: It cannot be created or opened.
    """
    handle = open_own(root, STATE)
    try:
        status = look(handle, _IGNORE)
        if status is None or (stat.S_ISREG(status.st_mode) and status.st_size == 0):
            # On a full disk the next call tries again.
            with suppress(OSError):
                atomic.replace(handle, _IGNORE, _ALL)
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_own(parent: int, name: str) -> int:
    """Return a handle of one of our folders inside an open folder, creating it when missing.

    Raises:
        NoFolderError: The name belongs to a link or a file.
        OSError: It cannot be created or opened.
    """
    for _ in range(3):
        # Not flushed to the disk: if a crash loses it, it is created again.
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
        try:
            return open_folder(parent, name)
        except OSError as error:
            status = look(parent, name)
            if status is None:
                # Somebody removed it meanwhile.
                continue
            if stat.S_ISDIR(status.st_mode):
                raise
            raise NoFolderError(name, is_link=stat.S_ISLNK(status.st_mode)) from error
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
