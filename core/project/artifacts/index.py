"""The index: SQLite with FTS5 under ``.hindnote/``, rebuilt whenever it is not sound.

It is derived state: contents come from the Markdown files, and whatever is missing,
foreign, of another schema or damaged is thrown away and made again. Where it cannot
be kept on disk at all, the same index is made in memory.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sqlite3
import stat
import time
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import TYPE_CHECKING, Self

from hindnote.core.project.artifacts.compare import Known, Refreshed, compare, split
from hindnote.core.project.artifacts.following import follow
from hindnote.core.project.outcome import Declined
from hindnote.core.project.roots import STATE_DIRECTORY, Workspace
from hindnote.core.project.state import open_state

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.project.artifacts.walk import Walk
    from hindnote.core.project.effects import EffectLog

INDEX_NAME = "artifacts.sqlite3"
APPLICATION_ID = 0x68696E64
SCHEMA_VERSION = 1
BUSY_SECONDS = 5.0

_POLL_SECONDS = 0.005
_SIDECARS = ("", "-journal", "-wal", "-shm")
_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, inode INTEGER NOT NULL, hash TEXT NOT NULL, title TEXT NOT NULL,
    covered INTEGER NOT NULL
);
CREATE INDEX partly_covered ON documents (path) WHERE NOT covered;
CREATE TABLE contents (document INTEGER PRIMARY KEY, preview TEXT NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE fields (
    document INTEGER NOT NULL, key TEXT NOT NULL, value TEXT, shown TEXT, type TEXT NOT NULL
);
CREATE INDEX fields_by_value ON fields (key, value, document);
CREATE INDEX fields_by_document ON fields (document);
CREATE TABLE links (document INTEGER NOT NULL, target TEXT NOT NULL);
CREATE INDEX links_by_document ON links (document);
CREATE INDEX links_by_target ON links (target);
CREATE VIRTUAL TABLE words USING fts5 (
    title, metadata, body, tokenize = "unicode61 remove_diacritics 2"
);
"""


Stamp = tuple[str, int, int, int, bytes]

_REMEMBERED = 4
_KNOWN: dict[Stamp, Known] = {}
"""What was read from an index file that has not changed since; derived state at its most."""


class Unsound(Exception):
    """The index on disk cannot be trusted; it is to be made again."""


class Unusable(Exception):
    """No index can be kept on disk; the message says why."""


class Index:
    """An open index. Use as a context manager.

    Args:
        connection: An open connection to a database with our schema.
        state: Handle of the state folder, locked; None for one in memory.
        stamp: What changes whenever the index's file does; None for one in memory.
    """

    def __init__(
        self, connection: sqlite3.Connection, state: int | None, stamp: Stamp | None
    ) -> None:
        self.connection = connection
        self.stamp = stamp
        self._state = state

    @property
    def in_memory(self) -> bool:
        """Whether the index vanishes with the call."""
        return self.stamp is None

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection, then let go of the state folder."""
        try:
            self.connection.close()
        finally:
            if self._state is not None:
                os.close(self._state)

    def version(self) -> int:
        """Return a number that differs once another connection has written."""
        found: int = self.connection.execute("PRAGMA data_version").fetchone()[0]
        return found

    def known(self) -> Known:
        """Return what is indexed; remembered as long as the index's file stays the same."""
        found = None if self.stamp is None else _KNOWN.get(self.stamp)
        if found is not None:
            return found
        found = {}
        rows = self.connection.execute("SELECT path, size, mtime, inode, hash FROM documents")
        for path, *row in rows:
            prefix, name = split(path)
            found.setdefault(prefix, {})[name] = tuple(row)
        if self.stamp is not None:
            while len(_KNOWN) >= _REMEMBERED:
                _KNOWN.pop(next(iter(_KNOWN)), None)
            _KNOWN[self.stamp] = found
        return found

    def refresh(
        self,
        walk: Walk,
        *,
        strict: bool,
        effects: EffectLog,
        beside: AbstractContextManager[object],
    ) -> Refreshed:
        """Bring the index up to date with the files.

        Args:
            walk: The walk over the roots. What is indexed below them and not found is gone.
            strict: Whether to compare contents and not signatures alone.
            effects: Log of the call.
            beside: Entered while files are looked at; it has the connection to itself then.
        """
        known = self.known()
        with beside:
            result = compare(walk, known, strict=strict)
        gone = list(result.gone(known, walk.prefixes()))
        result.others = any(prefix not in result.covered.folders for prefix in known) or bool(gone)
        if result.changes or gone:
            if not self.in_memory:
                effects.may_touch_cache()
            follow(self.connection, sorted(result.changes, key=attrgetter("path")), gone)
            if not self.in_memory:
                effects.touched_cache()
        return result


# -- opening ----------------------------------------------------------------------


def open_in_memory() -> Index:
    """Return an empty index that vanishes with the call."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(_SCHEMA)
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
        hold(state, exclusive=rebuild)
        alone = made = rebuild or _is_missing(state)
        if made and not rebuild:
            hold(state, exclusive=True)
            # Another may have made it before the lock was had.
            made = _is_missing(state)
        if made:
            _clear(state)
        connection = sqlite3.connect(
            file,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            # Used by one thread after the other, never by two at once.
            check_same_thread=False,
        )
    except (OSError, sqlite3.Error) as error:
        raise Unusable(str(error)) from error
    try:
        _prepare(connection, made=made)
        stamp = _stamp(file)
        if alone:
            # Sharing it may let another one in that waits to be alone.
            hold(state, exclusive=False)
            if _stamp(file)[1] != stamp[1]:
                raise FileNotFoundError(errno.ENOENT, "another one took its place")
    except OSError as error:
        connection.close()
        raise Unusable(f"it was taken away meanwhile: {error}") from error
    except BaseException:
        connection.close()
        raise
    return Index(connection, state, stamp), made


def hold(state: int, *, exclusive: bool) -> None:
    """Lock the state folder for its index: shared to use it, exclusive to take it away.

    SQLite's own locks go with a file, and keep nobody from unlinking it. The lock ends
    when the handle is closed.

    Raises:
        Unusable: Others hold it for too long.
    """
    wanted = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            fcntl.flock(state, wanted)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Unusable("others have been using it for too long") from None
            time.sleep(_POLL_SECONDS)
        except OSError:
            # A file system that cannot do it is passed over.
            return
        else:
            return


def _stamp(file: Path) -> Stamp:
    found = file.stat()
    with file.open("rb") as opened:
        header = opened.read(100)
    # SQLite counts its transactions in these bytes of the header.
    return (str(file), found.st_ino, found.st_size, found.st_mtime_ns, header[24:28])


def _prepare(connection: sqlite3.Connection, *, made: bool) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
    # Nothing of a search is ever written outside the workspace.
    connection.execute("PRAGMA temp_store = MEMORY")
    if made:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        return
    told = [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    ]
    tables = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE name IN ('documents', 'fields', 'links', 'words')"
    ).fetchone()[0]
    if told != [APPLICATION_ID, SCHEMA_VERSION] or tables != 4:
        raise Unsound("it is not an index of this version")


def _clear(state: int) -> None:
    for suffix in _SIDECARS:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(INDEX_NAME + suffix, dir_fd=state)


def _is_missing(state: int) -> bool:
    """Return whether there is no index, or any file of it is a link or no file."""
    sizes = {}
    for suffix in _SIDECARS:
        with contextlib.suppress(FileNotFoundError):
            found = os.stat(INDEX_NAME + suffix, dir_fd=state, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                return True
            sizes[suffix] = found.st_size
    return not sizes.get("")


def judged(error: sqlite3.DatabaseError) -> Exception:
    """Return what an error of SQLite means for the index: unsound, or unusable on disk."""
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
