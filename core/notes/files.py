"""Files by handle: opening without following links, names, states, and what errors mean."""

from __future__ import annotations

import errno
import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from hindnote.core.outcome import Refused, quote

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""How the home is opened, which may be a link."""

ENTER = FOLDER | os.O_NOFOLLOW
"""How a folder in it is opened."""

# O_NONBLOCK so that opening a pipe or a device returns, to be refused.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How a note is opened."""


Stamp: TypeAlias = tuple[int, int, int, int]
"""Modification time, size, change time and inode: what tells one state of a file from
another without reading it. The change time cannot be set back."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a status."""
    return (status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino)


def link_refusal(shown: str, *, loop: bool) -> Refused:
    """Return what is said of a path that leads through a link."""
    if loop:
        return Refused("outside_home", f"{quote(shown)} leads in a circle of symbolic links")
    return Refused(
        "outside_home",
        f"{quote(shown)} leads through a symbolic link, and nothing is written through one; "
        "use the address of its target",
    )


def names_in(folder: int) -> list[str]:
    """Return the names in an open folder."""
    return os.listdir(folder)


def lookup(folder: int, name: str) -> tuple[str, os.stat_result | None]:
    """Return how ``name`` is spelled in a folder, up to normalisation, and its status."""
    try:
        return name, os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        pass
    for each in names_in(folder):
        if each != name and unicodedata.normalize("NFC", each) == name:
            return each, os.stat(each, dir_fd=folder, follow_symlinks=False)
    return name, None


def read_all(handle: int, size: int) -> bytes:
    """Return the bytes of an open file whose status says that it has ``size``."""
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    # It grew or shrank meanwhile, or the file system reads in small parts.
    parts = [data]
    while parts[-1]:
        parts.append(os.read(handle, max(size, 65_536)))
    return b"".join(parts)


def sync_folder(folder: int) -> None:
    """Make what happened in a folder last; some file systems cannot, and need not."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise


@contextmanager
def refusing(shown: str) -> Iterator[None]:
    """Turn what the system says about a note into a refusal."""
    try:
        yield
    except FileNotFoundError:
        raise Refused("not_found", f"there is no note {quote(shown)}") from None
    except NotADirectoryError:
        raise Refused(
            "not_found", f"there is no note {quote(shown)}: a part of its path is no folder"
        ) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise link_refusal(shown, loop=False) from error
        raise Refused(
            "io_error",
            f"{quote(shown)}: {error.strerror or error}; the note is as it was, try again once "
            "that is repaired",
        ) from error
