"""The file of the index: ``.hindnote/artifacts.sqlite3``, loaded and checked as a whole.

SQLite opens files by path, which somebody could redirect meanwhile, and does not detect a flipped
bit in a value. So the file is read and written through the handle of its folder, and SQLite works
on a copy in memory. A checksum of the whole database is stored after it, outside its pages, and is
verified whenever the file is loaded. A process keeps the loaded index for its next call.

An index that is missing, foreign, damaged or of another version is rebuilt. If no file can be
stored, the index in memory is used.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import threading
import zlib
from typing import TYPE_CHECKING

from hindnote.core.fs import atomic
from hindnote.core.fs.handles import closing, look, read_file
from hindnote.core.fs.locks import HeldError, locked
from hindnote.core.project.documents.index import (
    APPLICATION_ID,
    SCHEMA,
    SCHEMA_VERSION,
    FileKey,
    Index,
)
from hindnote.core.project.documents.integrity import Unsound
from hindnote.core.project.outcome import Declined
from hindnote.core.project.state import LITTER_SECONDS, open_state

if TYPE_CHECKING:
    from hindnote.core.project.effects import EffectLog
    from hindnote.core.project.workspace import Workspace

INDEX_NAME = "artifacts.sqlite3"
MAX_INDEX_BYTES = 1 << 30
"""Maximum size in bytes of an index that is stored on disk."""

REMEMBERED = 2
"""Maximum number of indexes that a process keeps in memory between calls."""

REMEMBERED_BYTES = 1 << 26
"""Maximum size in bytes of an index that is kept in memory between calls."""

_SUM = struct.Struct(">8sII")
"""Stored after the database: a marker, the version, and the CRC-32 of everything before it."""

_MARK = b"hindnote"
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC

_remembered: dict[FileKey, Index] = {}
_guard = threading.Lock()


class Unusable(Exception):
    """No index can be stored on disk; the message says why."""


def new_index() -> Index:
    """Return an empty index in memory."""
    connection = _connect()
    # Building an index is faster with pages of twice the default size.
    connection.execute("PRAGMA page_size = 8192")
    connection.executescript(SCHEMA)
    return Index(connection)


def load(state: int) -> Index | None:
    """Return the index in a state folder; None when there is none.

    Raises:
        Unsound: It is damaged, foreign or of another version.
        Unusable: It cannot be read because of its permissions.
    """
    try:
        status = look(state, INDEX_NAME)
        if status is None or not status.st_size:
            return None
        with _guard:
            found = _remembered.pop(_key(status), None)
        if found is not None:
            return found
        data, status = read_file(state, INDEX_NAME, MAX_INDEX_BYTES)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise Unusable(str(error)) from error
    except OSError as error:
        raise Unsound(error.strerror or str(error)) from error
    index = Index(_opened(data))
    index.file = _key(status)
    return index


def save(state: int, index: Index) -> None:
    """Store an index on disk, replacing the existing one.

    If two calls save at once, the later one wins. Documents that it lacks are read again by the
    next call, since each index records the state of its files.

    Raises:
        OSError: It cannot be written.
    """
    data = index.connection.serialize()
    if len(data) > MAX_INDEX_BYTES:
        raise OSError(f"it would have over {MAX_INDEX_BYTES:,} bytes")
    _clean(state)
    with atomic.temporary(state, data, False) as made:
        # Appended separately to avoid a copy, since an index may be large.
        with closing(os.open(made, _APPEND, dir_fd=state)) as handle:
            os.write(handle, _SUM.pack(_MARK, SCHEMA_VERSION, zlib.crc32(data)))
            status = os.fstat(handle)
        atomic.settle(lambda: os.replace(made, INDEX_NAME, src_dir_fd=state, dst_dir_fd=state))
    index.file = _key(status)


def keep(index: Index) -> None:
    """Keep a used index in memory for the next call, valid while its file is unchanged."""
    if index.file is None or index.file[2] > REMEMBERED_BYTES:
        index.connection.close()
        return
    with _guard:
        others = [_remembered.pop(key) for key in list(_remembered)[: 1 - REMEMBERED]]
        others += [other for other in [_remembered.pop(index.file, None)] if other]
        _remembered[index.file] = index
    for other in others:
        other.connection.close()


def opened_state(workspace: Workspace, effects: EffectLog) -> int:
    """Return a handle of the state folder, creating it when missing.

    Raises:
        Unusable: It cannot be created or used.
    """
    effects.may_touch_cache()
    try:
        return open_state(workspace)
    except (OSError, Declined) as error:
        raise Unusable(getattr(error, "message", str(error))) from error


def _connect() -> sqlite3.Connection:
    # Used by several threads, but never by two at once.
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _opened(data: bytes) -> sqlite3.Connection:
    """Return a connection to an in-memory copy of a file's database."""
    database, told = memoryview(data)[: -_SUM.size], data[-_SUM.size :]
    if len(told) < _SUM.size or not told.startswith(_MARK):
        raise Unsound("it is not an index of this version")
    _, version, total = _SUM.unpack(told)
    if zlib.crc32(database) != total:
        raise Unsound("it is not as it was written")
    if version != SCHEMA_VERSION:
        raise Unsound("it is not an index of this version")
    connection = _connect()
    try:
        connection.deserialize(database)
        found = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.Error as error:
        connection.close()
        raise Unsound(str(error)) from error
    if found != APPLICATION_ID:
        connection.close()
        raise Unsound("it is not an index of this version")
    return connection


def _clean(state: int) -> None:
    """Remove files of killed writers; only one call does this at a time."""
    try:
        with locked(state, seconds=0.0):
            atomic.sweep(state, older_than=LITTER_SECONDS)
    except (HeldError, OSError):
        # Another call does it, or the folder cannot be locked.
        return


def _key(status: os.stat_result) -> FileKey:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
