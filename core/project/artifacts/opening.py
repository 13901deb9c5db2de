"""Opening the index: under ``.hindnote/``, made again whenever it is not sound.

Whatever is missing, foreign, of another schema or damaged is thrown away. Where it
cannot be kept on disk at all, the same index is made in memory.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
from typing import TYPE_CHECKING

from hindnote.core.disposable import connect
from hindnote.core.project.artifacts.following import TABLES
from hindnote.core.project.artifacts.index import (
    APPLICATION_ID,
    SCHEMA,
    SCHEMA_VERSION,
    Index,
    Stamp,
)
from hindnote.core.project.artifacts.sound import Unsound
from hindnote.core.project.outcome import Declined
from hindnote.core.project.roots import STATE_DIRECTORY, Workspace
from hindnote.core.project.state import lock_folder, open_state

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.project.effects import EffectLog

INDEX_NAME = "artifacts.sqlite3"
BUSY_SECONDS = 5.0
"""How long a call waits for others that use the index, or write to it."""

_SUFFIXES = ("", "-journal", "-wal", "-shm")
"""Of the index's files; its own comes first."""


class Unusable(Exception):
    """No index can be kept on disk; the message says why."""


def open_in_memory() -> Index:
    """Return an empty index that vanishes with the call."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    return Index(connection, None, None)


def open_on_disk(workspace: Workspace, effects: EffectLog, *, rebuild: bool) -> tuple[Index, bool]:
    """Return the workspace's index, and whether it was made anew.

    Args:
        workspace: Whose index to open.
        effects: Log of the call.
        rebuild: Whether to throw away what is there.

    Raises:
        Unusable: No index can be kept there.
    """
    effects.may_touch_cache()
    try:
        state = open_state(workspace)
    except (OSError, Declined) as error:
        raise Unusable(getattr(error, "message", str(error))) from error
    try:
        index, made = _opened(state, workspace.path / STATE_DIRECTORY / INDEX_NAME, rebuild=rebuild)
    except BaseException:
        os.close(state)
        raise
    if made:
        effects.touched_cache()
    elif effects.cache == "possible":
        effects.cache = "none"
    return index, made


def _opened(state: int, file: Path, *, rebuild: bool) -> tuple[Index, bool]:
    try:
        alone, made = _with_room(state, rebuild=rebuild)
        connection = connect(
            file,
            BUSY_SECONDS,
            isolation_level=None,
            # Used by one thread after the other, never by two at once.
            check_same_thread=False,
        )
    except (OSError, sqlite3.Error) as error:
        raise Unusable(str(error)) from error
    try:
        _prepare(connection, made=made)
        stamp = _stamp(file, connection)
        if alone:
            # Sharing it may let another one in that waits to be alone.
            hold(state, exclusive=False)
            if file.stat().st_ino != stamp[1]:
                raise FileNotFoundError(errno.ENOENT, "another one took its place")
    except OSError as error:
        connection.close()
        raise Unusable(f"it was taken away meanwhile: {error}") from error
    except BaseException:
        connection.close()
        raise
    return Index(connection, state, stamp), made


def _with_room(state: int, *, rebuild: bool) -> tuple[bool, bool]:
    """Hold the state folder; return whether alone, and whether the index is to be made there."""
    hold(state, exclusive=rebuild)
    alone = made = rebuild or _is_missing(state)
    if made and not rebuild:
        hold(state, exclusive=True)
        # Another may have made it before the lock was had.
        made = _is_missing(state)
    if made:
        _clear(state)
    return alone, made


def hold(state: int, *, exclusive: bool) -> None:
    """Lock the state folder for its index: shared to use it, exclusive to take it away.

    SQLite's own locks go with a file, and keep nobody from unlinking it. The lock ends
    when the handle is closed.

    Raises:
        Unusable: Others hold it for too long.
    """
    if not lock_folder(state, exclusive=exclusive, seconds=BUSY_SECONDS):
        raise Unusable("others have been using it for too long")


def _stamp(file: Path, connection: sqlite3.Connection) -> Stamp:
    found = file.stat()
    # Not from the file's header, where SQLite counts changes: a process that closes any
    # handle of the file loses the locks that its other connections hold.
    row = connection.execute("SELECT token FROM state").fetchone()
    if row is None:
        raise Unsound("it does not tell its state")
    return (str(file), found.st_ino, found.st_size, found.st_mtime_ns, row[0])


def _prepare(connection: sqlite3.Connection, *, made: bool) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
    # Nothing of a search is ever written outside the workspace.
    connection.execute("PRAGMA temp_store = MEMORY")
    if made:
        # An index is made faster with pages of twice the usual size.
        connection.execute("PRAGMA page_size = 8192")
        connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
        return
    told = [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    ]
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if told != [APPLICATION_ID, SCHEMA_VERSION] or not tables.issuperset(TABLES):
        raise Unsound("it is not an index of this version")


def _clear(state: int) -> None:
    for suffix in _SUFFIXES:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(INDEX_NAME + suffix, dir_fd=state)


def _is_missing(state: int) -> bool:
    """Return whether there is no index, or any file of it is a link or no file."""
    sizes = {}
    for suffix in _SUFFIXES:
        with contextlib.suppress(FileNotFoundError):
            found = os.stat(INDEX_NAME + suffix, dir_fd=state, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                return True
            sizes[suffix] = found.st_size
    return not sizes.get("")


def judged(error: Exception) -> Exception:
    """Return what an error of SQLite, or of reading what it holds, means for the index.

    Unsound, or unusable on disk.
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    unsound = {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_FORMAT,
    }
    kind = Unsound if code in unsound else Unusable
    return kind(str(error))
