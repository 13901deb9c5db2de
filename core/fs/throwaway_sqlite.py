"""SQLite files that may be deleted at any time: a damaged one is deleted and built again."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from hindnote.core.fs.handles import make_private

_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""SQLite result codes that mean: wrong schema, corrupt, not a database."""

_NO_TEXT = "Could not decode to UTF-8"
"""Prefix of sqlite3's error for invalid UTF-8; it carries no error code."""

_SUFFIXES = ("-wal", "-shm", "-journal", "")
"""Suffixes of a database's files. The database itself is last: whatever a killed deletion leaves
is then detected as damaged."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = _READ | os.O_CREAT | os.O_EXCL

_encode = msgspec.json.Encoder().encode


def seal(*values: object) -> int:
    """Return a CRC-32 of the values, to detect a corrupted row."""
    return zlib.crc32(_encode(values))


def cache_folder() -> Path:
    """Return the folder of these files: ``hindnote`` in the platform's cache directory.

    The folder itself may be a link, which is resolved here; links inside it are not followed.
    """
    # Imported here because most calls need no cache.
    from platformdirs import user_cache_path

    folder = user_cache_path("hindnote")
    # The XDG standard says to ignore relative paths, which would be inside the current project.
    return (folder if folder.is_absolute() else Path.home() / ".cache" / "hindnote").resolve()


def files_of(file: Path) -> list[Path]:
    """Return all files of a database, itself last; see ``_SUFFIXES``."""
    return [file.with_name(file.name + suffix) for suffix in _SUFFIXES]


def make_way(file: Path) -> os.stat_result | None:
    """Create a database's folder, and remove anything that is in the way of its files.

    Returns:
        The status of the database file, for ``drop_damaged``; None when it does not exist yet.

    Raises:
        OSError: The folder cannot be created, or something in the way cannot be removed.
    """
    make_private(file.parent)
    drop_other_kinds(file)
    with suppress(FileNotFoundError):
        return file.lstat()
    return None


def drop_damaged(file: Path, opened: os.stat_result | None, error: Exception) -> None:
    """Delete a database if an error means that it is damaged.

    A locked, full or read-only database is kept; so is one that was replaced meanwhile, since
    another process may have built it again. Processes that still have the old file open can go on
    using it.

    Args:
        file: The database. No connection of this process to it is open.
        opened: The status of its file before it was opened; None when it did not exist.
        error: The exception that using it raised.
    """
    if opened is None or not _tells_damage(error):
        return
    with suppress(OSError), _folder_of(file) as folder:
        if not _same(_look(folder, file.name), opened):
            return
        # The lock makes one process do the deletion; it ends with the file.
        held = os.open(file.name, _READ, dir_fd=folder)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same(os.fstat(held), opened) and _same(_look(folder, file.name), opened):
                for suffix in _SUFFIXES:
                    with suppress(FileNotFoundError):
                        os.unlink(file.name + suffix, dir_fd=folder)
        finally:
            os.close(held)


def drop_other_kinds(file: Path) -> None:
    """Remove anything that has the name of a database file but is not a regular file.

    SQLite would block on a pipe, or fail every time. A link's target is not touched.

    Raises:
        OSError: It cannot be removed; a folder that is not empty is kept.
    """
    with _folder_of(file) as folder:
        for suffix in _SUFFIXES:
            name = file.name + suffix
            with suppress(FileNotFoundError):
                mode = _look(folder, name).st_mode
                if stat.S_ISDIR(mode):
                    os.rmdir(name, dir_fd=folder)
                elif not stat.S_ISREG(mode):
                    os.unlink(name, dir_fd=folder)


def connect(file: Path, timeout: float, **options: Any) -> sqlite3.Connection:
    """Return a connection to a database, creating its file with mode 0600 when missing.

    SQLite opens files by path. Here it may not create them, so it cannot create one elsewhere if
    somebody replaces the folder with a link.

    Args:
        file: The database, absolute, in a folder that is not a link.
        timeout: Seconds to wait for other processes.
        options: Further arguments of ``sqlite3.connect``.

    Raises:
        OSError: The file cannot be created or opened.
        sqlite3.Error: It cannot be opened.
    """
    # Only a new file gets a handle: closing one would release the POSIX locks of other
    # connections.
    with _folder_of(file) as folder, suppress(FileExistsError):
        os.close(os.open(file.name, _MAKE, 0o600, dir_fd=folder))
    uri = f"{file.as_uri()}?mode=rw"
    opened: sqlite3.Connection = sqlite3.connect(uri, timeout=timeout, uri=True, **options)
    return opened


@contextmanager
def _folder_of(file: Path) -> Iterator[int]:
    handle = os.open(file.parent, _FOLDER)
    try:
        yield handle
    finally:
        os.close(handle)


def _look(folder: int, name: str) -> os.stat_result:
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _same(now: os.stat_result, before: os.stat_result) -> bool:
    """Return whether both are one file; a reused inode has another change time."""
    return os.path.samestat(now, before) and now.st_ctime_ns == before.st_ctime_ns


def _tells_damage(error: Exception) -> bool:
    if not isinstance(error, sqlite3.Error):
        # SQLite's message may quote damaged bytes, and then decoding the message itself fails.
        return isinstance(error, UnicodeDecodeError)
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        # The higher bytes contain the extended code.
        return code & 0xFF in _DAMAGED
    return str(error).startswith(_NO_TEXT)
