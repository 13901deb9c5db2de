"""The ``.hindnote`` folder: what we keep beside notes or in a workspace, hidden from Git."""

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
    """A link, or what is no folder, stands where a folder of ours should be.

    Args:
        name: Its name.
        is_link: Whether it is a link.
    """

    def __init__(self, name: str, *, is_link: bool) -> None:
        number = errno.ELOOP if is_link else errno.ENOTDIR
        super().__init__(number, "a symbolic link" if is_link else "not a folder", name)
        self.is_link = is_link


def open_state(root: int) -> int:
    """Return a handle of the state folder in an open one, made with its ``.gitignore``.

    An empty ``.gitignore``, which a write to a full disk leaves, is written again; one that says
    something stays as it is.

    Args:
        root: Handle of the notes home or of a workspace.

    Raises:
        NoFolderError: A link, or what is no folder, has its name.
        OSError: It cannot be made or opened.
    """
    handle = open_own(root, STATE)
    try:
        status = look(handle, _IGNORE)
        if status is None or (stat.S_ISREG(status.st_mode) and status.st_size == 0):
            # On a full disk the next call writes it.
            with suppress(OSError):
                atomic.replace(handle, _IGNORE, _ALL)
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_own(parent: int, name: str) -> int:
    """Return a handle of a folder of ours in an open one, made when it is missing.

    Raises:
        NoFolderError: A link, or what is no folder, has its name.
        OSError: It cannot be made or opened.
    """
    for _ in range(3):
        # Not flushed to the disk: it is made again when a crash takes it.
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
        try:
            return open_folder(parent, name)
        except OSError as error:
            status = look(parent, name)
            if status is None:
                # Somebody took it away meanwhile.
                continue
            if stat.S_ISDIR(status.st_mode):
                raise
            raise NoFolderError(name, is_link=stat.S_ISLNK(status.st_mode)) from error
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
