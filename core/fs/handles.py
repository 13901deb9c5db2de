"""Open folders and files without following links, and read them without blocking."""

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
"""Flags for opening a trusted root folder, whose path may be a link."""

ENTER = ROOT | os.O_NOFOLLOW
"""Flags for opening any folder below a root."""

# With O_NONBLOCK opening a pipe or a device does not block, so it can then be rejected.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags for opening a file to read."""

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags for creating a file that must not exist yet."""

LINK_ERRORS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
"""Error numbers with which ``ENTER`` fails at a link, or at anything that is not a folder.

Linux returns ``ENOTDIR`` or ``ELOOP``, FreeBSD ``EMLINK``.
"""


class NotRegularError(OSError):
    """The name of a file belongs to a link, a folder, a pipe, a device or a socket."""

    def __init__(self, name: str) -> None:
        super().__init__(errno.EINVAL, "not a regular file", name)


class TooLargeError(OSError):
    """A file has more bytes than the caller reads.

    Args:
        name: The file's name.
        size: Its size in bytes.
        limit: Maximum number of bytes that the caller reads.
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
    """Return a handle of a folder whose path is trusted; links in the path are followed.

    Raises:
        OSError: It does not exist, is not a folder, or may not be opened.
    """
    return os.open(path, ROOT)


def open_folder(parent: int, name: str) -> int:
    """Return a handle of a folder inside an open folder.

    Args:
        parent: Handle of the folder that contains it.
        name: One name, without ``/``.

    Raises:
        OSError: It does not exist or may not be opened; the number is one of ``LINK_ERRORS`` when
            it is a link or not a folder.
    """
    return os.open(_one(name), ENTER, dir_fd=parent)


def open_below(root: int, names: Iterable[str], *, make: bool = False) -> int:
    """Return a handle of a folder some levels below an open one, following no links.

    Args:
        root: Handle of the folder to start from; it stays open.
        names: Names of the nested folders, outermost first. Empty: returns a second handle of the
            root.
        make: Create the folders that are missing.

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
    """Create a folder if it is missing; return whether it was missing.

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
    """Create a folder with mode 0700 unless it exists; missing parents get the default mode.

    Raises:
        OSError: It cannot be created, or the name belongs to something else.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def sync(folder: int) -> None:
    """Flush a folder's entries to the disk; ignored on file systems that cannot do it.

    Raises:
        OSError: The disk failed.
    """
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise


def names_in(folder: int) -> list[str]:
    """Return the names in an open folder, in arbitrary order."""
    return os.listdir(folder)


def same_mount(one: int, other: int) -> bool:
    """Return whether files can be renamed and hard-linked from one open folder into the other.

    Device numbers alone do not show it: two mounts of one file system share a device, but a rename
    between them fails.
    """
    if os.fstat(one).st_dev != os.fstat(other).st_dev:
        return False
    # Linux compares the mounts before it looks up the file, so a name that does not exist is
    # enough.
    nothing = f".{os.urandom(16).hex()}"
    try:
        os.rename(nothing, nothing, src_dir_fd=one, dst_dir_fd=other)
    except OSError as error:
        return error.errno != errno.EXDEV
    return True


# -- files -------------------------------------------------------------------------


def look(folder: int, name: str) -> os.stat_result | None:
    """Return the status of a name, of the link itself if it is one; None when it does not exist.

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
        FileNotFoundError: The name does not exist.
        NotRegularError: It is not a regular file; a link is not followed.
        OSError: It may not be read.
    """
    try:
        handle = os.open(_one(name), READ, dir_fd=folder)
    except OSError as error:
        # A link or a socket. Which of these errors is raised differs between systems.
        if error.errno in {errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EOPNOTSUPP}:
            raise NotRegularError(name) from error
        raise
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise NotRegularError(name)
    return handle, status


def read_file(folder: int, name: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Return a regular file's content, and its status when it was opened.

    Args:
        folder: Handle of the folder that contains it.
        name: Its name.
        limit: Maximum size in bytes.

    Raises:
        FileNotFoundError: The name does not exist.
        NotRegularError: It is not a regular file.
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
    """Return the content of an open file.

    Args:
        handle: The file, positioned at its beginning.
        size: Size according to its status. It may have grown or shrunk since.
        limit: Maximum number of bytes to read; None for all.
    """
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    # It grew or shrank meanwhile, or the file system returns small parts.
    parts, total = [data], len(data)
    while parts[-1] and (limit is None or total < limit):
        parts.append(os.read(handle, max(size, 65_536)))
        total += len(parts[-1])
    return b"".join(parts)[:limit]


def is_own(status: os.stat_result) -> bool:
    """Return whether a file is regular, belongs to this user and has one name, so we may change it.

    A second name (a hard link) could be anywhere, and changing the file would change that too.
    """
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1


def remove(folder: int, name: str) -> None:
    """Remove a file; does nothing when it does not exist.

    Raises:
        OSError: It cannot be removed.
    """
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _one(name: str) -> str:
    """Check that ``name`` is a single name and return it; ``..`` would leave the folder."""
    if "/" in name or name in {"", ".", ".."}:
        raise ValueError(f"{name!r} is not the name of one file or folder")
    return name
