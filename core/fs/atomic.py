"""Write a whole file at once: readers see the old one or the new one, never a part."""

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
"""Suffix of the name that a file has while it is being written."""

RETRY_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Pauses between the attempts of a rename that fails because the file is being read."""

_UNFINISHED = re.compile(rf"\.[0-9a-f]{{16}}{re.escape(TEMPORARY_SUFFIX)}")
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


def replace(folder: int, name: str, data: bytes, **attributes: int | None) -> None:
    """Write a file that nobody else changes; replaces an existing one, and survives a crash.

    Args:
        folder: Handle of the folder.
        name: The file's name.
        data: The file's new content.
        attributes: Keyword arguments of ``temporary``.

    Raises:
        OSError: It cannot be written; the old file is unchanged.
    """
    with temporary(folder, data, **attributes) as made:
        settle(lambda: os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder))
    sync(folder)


def create(folder: int, name: str, data: bytes, **attributes: int | None) -> None:
    """Write a new file, which survives a crash; its name must be free.

    Args:
        folder: Handle of the folder.
        name: The file's name.
        data: The file's content.
        attributes: Keyword arguments of ``temporary``.

    Raises:
        FileExistsError: The name is taken.
        OSError: It cannot be written; no part of it remains.
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
    """Write a temporary file; the context is its name.

    The file is removed when the context ends, unless it was renamed.

    Args:
        folder: Handle of the folder.
        data: The file's content.
        mode: Permission bits; None for the default of a new file.
        owner: User id; None for this process's user.
        group: Group id; None for the default of a new file.
        durable: Whether to flush it to the disk; not needed for files that can be rebuilt.
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


def attributes_of(replaced: os.stat_result) -> dict[str, int]:
    """Return arguments of ``temporary`` for a file that replaces another one.

    It gets that file's permission bits. It also gets the owner when we are root: for everybody
    else the owner is themselves anyway.
    """
    owner = {"owner": replaced.st_uid, "group": replaced.st_gid} if os.geteuid() == 0 else {}
    return {"mode": replaced.st_mode, **owner}


def sweep(folder: int, *, older_than: float = 0.0) -> None:
    """Remove the temporary files that killed writers left.

    Args:
        folder: Handle of the folder.
        older_than: Minimum age in seconds of the files to remove. With 0 all are removed, so the
            caller must lock out other writers.

    Raises:
        OSError: The folder cannot be listed, or a file cannot be removed.
    """
    for name in names_in(folder):
        if _UNFINISHED.fullmatch(name):
            status = look(folder, name)
            if status is not None and (
                not older_than or status.st_mtime < time.time() - older_than
            ):
                remove(folder, name)


def settle(action: Callable[[], None]) -> None:
    """Call ``action``, and retry while it fails because a file is in use.

    Raises:
        OSError: It fails for another reason, or still after ``RETRY_SECONDS``.
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
    """Rename a temporary file to a name that must still be free."""
    try:
        os.link(made, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: check that the name is free, then rename.
        if look(folder, name) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder)
