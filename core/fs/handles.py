"""Opening folders and files without following links, and reading them without waiting."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""Flags for a trusted root, which may be a link itself."""

ENTER = ROOT | os.O_NOFOLLOW
"""Flags for every folder below a root."""

# With O_NONBLOCK the opening of a pipe or a device returns, and it can be refused.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags for reading a file."""

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags for a file that must not exist yet."""

LINK_ERRORS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
"""What ``ENTER`` fails with at a link, or at what is no folder.

Linux says ``ENOTDIR`` or ``ELOOP``, FreeBSD ``EMLINK``.
"""


class NotRegularError(OSError):
    """A link, a folder, a pipe, a device or a socket stands where a file should be."""

    def __init__(self, name: str) -> None:
        super().__init__(errno.EINVAL, "not a regular file", name)


class TooLargeError(OSError):
    """A file has more bytes than the caller reads.

    Args:
        name: The file's name.
        size: Its bytes.
        limit: How many are read at most.
    """

    def __init__(self, name: str, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"{size:,} bytes, more than {limit:,}", name)
        self.size = size
        self.limit = limit


@contextmanager
def closing(handle: int) -> Iterator[int]:
    """Close a handle when the context ends; the context is the handle."""
    try:
        yield handle
    finally:
        os.close(handle)


# -- folders -----------------------------------------------------------------------


def open_root(path: str | os.PathLike[str]) -> int:
    """Return a handle of a folder whose path is trusted; links on it are followed.

    Raises:
        OSError: It does not exist, is no folder, or may not be opened.
    """
    return os.open(path, ROOT)


def open_folder(parent: int, name: str) -> int:
    """Return a handle of a folder in an open folder.

    Args:
        parent: Handle of the folder that it lies in.
        name: One name, without ``/``.

    Raises:
        OSError: It does not exist or may not be opened; one of ``LINK_ERRORS`` when it is
            a link or no folder.
    """
    return os.open(_one(name), ENTER, dir_fd=parent)


def open_below(root: int, names: Iterable[str], *, make: bool = False) -> int:
    """Return a handle of a folder some levels below an open one; no link is followed.

    Args:
        root: Handle of the folder to start from; it stays open.
        names: Folders from there on, from the outside in. None of them: a second handle
            of the root.
        make: Make the folders that are missing.

    Raises:
        OSError: As ``open_folder``.
    """
    handle = os.dup(root)
    for name in names:
        try:
            if make:
                make_folder(handle, name)
            inner = open_folder(handle, name)
        finally:
            os.close(handle)
        handle = inner
    return handle


def make_folder(parent: int, name: str) -> bool:
    """Make a folder; return whether it was missing.

    Raises:
        OSError: It cannot be made.
    """
    try:
        os.mkdir(_one(name), dir_fd=parent)
    except FileExistsError:
        return False
    sync(parent)
    return True


def make_private(folder: Path) -> None:
    """Make a folder that only this user may enter, unless it is there; those around it are usual ones.

    Raises:
        OSError: It cannot be made, or something else has its name.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def sync(folder: int) -> None:
    """Let what happened in a folder survive a crash; some file systems cannot, and need not.

    Raises:
        OSError: The disk failed.
    """
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise


def names_in(folder: int) -> list[str]:
    """Return the names in an open folder, in no order."""
    return os.listdir(folder)


def same_mount(one: int, other: int) -> bool:
    """Return whether files can be renamed and linked from one open folder into another.

    Two mounts of one file system have the same device, and nothing can be renamed between them.
    """
    if os.fstat(one).st_dev != os.fstat(other).st_dev:
        return False
    # Linux looks at the mounts before it looks for the file, which is not there.
    nothing = f".{os.urandom(16).hex()}"
    try:
        os.rename(nothing, nothing, src_dir_fd=one, dst_dir_fd=other)
    except OSError as error:
        return error.errno != errno.EXDEV
    return True


# -- files -------------------------------------------------------------------------


def look(folder: int, name: str) -> os.stat_result | None:
    """Return the status of what has a name, of a link itself; None when nothing has it.

    Raises:
        OSError: The folder may not be searched.
    """
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def open_file(folder: int, name: str) -> tuple[int, os.stat_result]:
    """Return a handle for reading a regular file, and its status.

    Raises:
        FileNotFoundError: There is nothing of that name.
        NotRegularError: It is a link, or anything else but a regular file.
        OSError: It may not be read.
    """
    try:
        handle = os.open(_one(name), READ, dir_fd=folder)
    except OSError as error:
        # A link, and a socket: what these two errors say differs between systems.
        if error.errno in {errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EOPNOTSUPP}:
            raise NotRegularError(name) from error
        raise
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise NotRegularError(name)
    return handle, status


def read_file(folder: int, name: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Return a regular file's bytes, and its status as it was opened.

    Args:
        folder: Handle of the folder that it lies in.
        name: Its name.
        limit: Bytes that are read at most.

    Raises:
        FileNotFoundError: There is nothing of that name.
        NotRegularError: It is no regular file.
        TooLargeError: It has more bytes than ``limit``.
        OSError: It may not be read.
    """
    handle, status = open_file(folder, name)
    with closing(handle):
        if status.st_size > limit:
            raise TooLargeError(name, status.st_size, limit)
        data = read_all(handle, status.st_size, limit + 1)
    if len(data) > limit:
        raise TooLargeError(name, len(data), limit)
    return data, status


def read_all(handle: int, size: int, limit: int | None = None) -> bytes:
    """Return the bytes of an open file.

    Args:
        handle: The file, at its beginning.
        size: Bytes that its status says it has. It may have grown or shrunk since.
        limit: Bytes after which reading ends; None for all.
    """
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    # It grew or shrank meanwhile, or the file system reads in small parts.
    parts, total = [data], len(data)
    while parts[-1] and (limit is None or total < limit):
        parts.append(os.read(handle, max(size, 65_536)))
        total += len(parts[-1])
    return b"".join(parts)[:limit]


def is_own(status: os.stat_result) -> bool:
    """Return whether a regular file is this user's alone, so that its bytes may be changed.

    A file with a second name (a hard link) is not: its other name may lie anywhere.
    """
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1


def remove(folder: int, name: str) -> None:
    """Remove a file; that there is none is fine.

    Raises:
        OSError: It cannot be removed.
    """
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _one(name: str) -> str:
    """Return a name, having seen that it is a single one; ``..`` would lead out again."""
    if "/" in name or name in {"", ".", ".."}:
        raise ValueError(f"{name!r} is not the name of one file or folder")
    return name
