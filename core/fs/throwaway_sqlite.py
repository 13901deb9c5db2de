"""SQLite files that may vanish at any time: a damaged one is thrown away, to be made anew."""

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
"""A statement of ours that the file's tables do not suit, and two ways to be no database."""

_NO_TEXT = "Could not decode to UTF-8"
"""How Python says of a text in the file that it is none; its error has no code."""

_SUFFIXES = ("-wal", "-shm", "-journal", "")
"""Of a database's files; its own goes last, so that what is left of it is always damaged."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = _READ | os.O_CREAT | os.O_EXCL

_encode = msgspec.json.Encoder().encode


def seal(*values: object) -> int:
    """Return what other values would hardly come to, by which damage to a row is noticed."""
    return zlib.crc32(_encode(values))


def cache_folder() -> Path:
    """Return the folder of such files: hindnote's below the platform's cache directory.

    The folder may be a link, which is resolved here; what is in it may not.
    """
    # Most calls need no cache.
    from platformdirs import user_cache_path

    folder = user_cache_path("hindnote")
    # The standard has relative ones ignored, which name a folder of the project at hand.
    return (folder if folder.is_absolute() else Path.home() / ".cache" / "hindnote").resolve()


def files_of(file: Path) -> list[Path]:
    """Return all files of a database, its own last: without the others it is whole or damaged."""
    return [file.with_name(file.name + suffix) for suffix in _SUFFIXES]


def make_way(file: Path) -> os.stat_result | None:
    """Make a database's folder, and take away what stands in the place of its files.

    Returns:
        The status of its file, for ``drop_damaged``; None when there is none yet.

    Raises:
        OSError: The folder cannot be made, or what stands there cannot be taken away.
    """
    make_private(file.parent)
    drop_other_kinds(file)
    with suppress(FileNotFoundError):
        return file.lstat()
    return None


def drop_damaged(file: Path, opened: os.stat_result | None, error: Exception) -> None:
    """Throw a database away when an error tells that it is damaged.

    A locked, full or read-only one stays; so does one that changed meanwhile, since
    another process may have made it anew. Whoever still has the old one open has it to
    itself.

    Args:
        file: The database. No connection of this process to it is open.
        opened: The status of its file before it was opened; None when there was none.
        error: What using it brought.
    """
    if opened is None or not _tells_damage(error):
        return
    with suppress(OSError), _folder_of(file) as folder:
        if not _same(_look(folder, file.name), opened):
            return
        # One process drops it; the lock ends with the file.
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
    """Take away what is no file and has the name of one of a database's files.

    SQLite would wait at a pipe, or fail for good. A link's target stays as it is.

    Raises:
        OSError: It cannot be taken away; a folder with something in it is not ours.
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
    """Return a connection to a database, whose file is made for this user alone when missing.

    SQLite opens files by their paths. One that it may not make itself is never made
    elsewhere, when the folder is exchanged for a link meanwhile.

    Args:
        file: The database, absolute, in a folder that is no link.
        timeout: Seconds to wait for other processes.
        options: Of ``sqlite3.connect``.

    Raises:
        OSError: The file cannot be made or opened.
        sqlite3.Error: It cannot be opened.
    """
    # Only a new file gets a handle: closing one takes away the locks of other connections.
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
    """Return whether it is one file; a new one may get an old one's inode, but not its time."""
    return os.path.samestat(now, before) and now.st_ctime_ns == before.st_ctime_ns


def _tells_damage(error: Exception) -> bool:
    if not isinstance(error, sqlite3.Error):
        # SQLite's message may quote damaged bytes, and then never gets as far as an error.
        return isinstance(error, UnicodeDecodeError)
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        # The higher bytes tell more about the kind.
        return code & 0xFF in _DAMAGED
    return str(error).startswith(_NO_TEXT)
