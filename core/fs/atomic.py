"""Putting a whole file in place: readers see the old one or the new one, never a part."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hindnote.core.fs.handles import CREATE, look, names_in, remove, sync

TEMPORARY_SUFFIX = ".hindnote-tmp"
"""How the names end under which a file is written before it gets its own."""

RETRY_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Pauses before a rename is tried again that a reader on another system made fail."""

_UNFINISHED = re.compile(rf"\.[0-9a-f]{{16}}{re.escape(TEMPORARY_SUFFIX)}")
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


def replace(folder: int, name: str, data: bytes) -> None:
    """Put a file that nobody else changes in place, whatever has its name; it is durable then.

    Args:
        folder: Handle of the folder.
        name: The file's name.
        data: All of the file.

    Raises:
        OSError: It cannot be written; what was there is whole.
    """
    with temporary(folder, data) as made:
        settle(lambda: os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder))
    sync(folder)


def create(folder: int, name: str, data: bytes, **attributes: int | None) -> None:
    """Put a file in place whose name must be free; it is durable then.

    Args:
        folder: Handle of the folder.
        name: The file's name.
        data: All of the file.
        attributes: As ``temporary`` takes them.

    Raises:
        FileExistsError: The name is taken.
        OSError: It cannot be written; nothing is left of it.
    """
    with temporary(folder, data, **attributes) as made:
        settle(lambda: _publish(folder, made, name))
    sync(folder)


@contextmanager
def temporary(
    folder: int,
    data: bytes,
    durable: bool = True,
    /,
    *,
    mode: int | None = None,
    owner: int | None = None,
    group: int | None = None,
    mtime_ns: int | None = None,
) -> Iterator[str]:
    """Write a file under a name of its own; the context is that name.

    What still has that name when the context ends is removed.

    Args:
        folder: Handle of the folder.
        data: All of the file.
        mode: Permission bits; None for those of any new file.
        owner: User id; None for ours.
        group: Group id; None for that of any new file.
        durable: Whether to flush it to the disk; not needed for what can be made again.
        mtime_ns: Modification time; None for now.

    Raises:
        OSError: It cannot be written.
    """
    name = f".{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"
    try:
        with os.fdopen(os.open(name, CREATE, 0o666, dir_fd=folder), "wb") as file:
            file.write(data)
            file.flush()
            handle = file.fileno()
            if owner is not None or group is not None:
                os.fchown(handle, -1 if owner is None else owner, -1 if group is None else group)
            if mode is not None:
                os.fchmod(handle, stat.S_IMODE(mode))
            if mtime_ns is not None:
                os.utime(handle, ns=(mtime_ns, mtime_ns))
            if durable:
                os.fsync(handle)
        yield name
    finally:
        remove(folder, name)


def sweep(folder: int, *, older_than: float = 0.0) -> None:
    """Remove the temporary files of killed writers.

    Args:
        folder: Handle of the folder.
        older_than: Seconds since a file was written, from which on it is removed. With 0 the
            caller keeps other writers out.

    Raises:
        OSError: The folder cannot be listed, or a file not removed.
    """
    for name in names_in(folder):
        if _UNFINISHED.fullmatch(name):
            status = look(folder, name)
            if status is not None and (
                not older_than or status.st_mtime < time.time() - older_than
            ):
                remove(folder, name)


def settle(action: Callable[[], None]) -> None:
    """Do something again that fails for a moment, as a rename may while the file is read.

    Raises:
        OSError: It fails in another way, or too often.
    """
    for pause in RETRY_SECONDS:
        try:
            return action()
        except OSError as error:
            if not isinstance(error, PermissionError) and error.errno != errno.EBUSY:
                raise
        time.sleep(pause)
    return action()


def _publish(folder: int, made: str, name: str) -> None:
    """Give a new file its name, unless somebody else took it."""
    try:
        os.link(made, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: look, then rename.
        if look(folder, name) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder)
