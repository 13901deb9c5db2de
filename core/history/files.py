"""Folders and files of sessions: anything may vanish, be closed to us, or be no file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from hindnote.core.system.shortage import is_shortage


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
