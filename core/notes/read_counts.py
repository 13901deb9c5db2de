"""How often and when last each note was read, stored next to the notes instead of in them.

The counts are lines at the end of one file, ``<notes home>/.hindnote/reads.jsonl``: one line for
each read, and one for each rename, so that the count follows the note. From time to time the file
is compacted to one line per note.

A read must not fail because of its count, so on any error the count is lost: in a read-only home,
on a full disk, with a file of another user. A crash of the machine loses what the system had not
written to the disk yet.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct

from hindnote.core.fs import atomic, handles, locks
from hindnote.core.fs.state import STATE, open_state
from hindnote.core.notes import clock
from hindnote.core.text.frontmatter import Json

NAME = "reads.jsonl"
REWRITE_BYTES = 512 * 1024
"""The file is compacted each time that it has grown by this much."""

WAIT_SECONDS = 0.2
"""How long a count waits while another process compacts the file."""

_LIMIT = 64 * 1024 * 1024
"""Maximum size in bytes of the file; a larger one is deleted."""

_OPEN = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ATTEMPTS = 50
"""How often opening the file is tried while another process keeps compacting it."""

_LITTER_SECONDS = 60.0

_MOST = 2**53
_Number: TypeAlias = Annotated[int, Meta(ge=0, lt=_MOST)]

Counts: TypeAlias = dict[str, tuple[int, int]]
"""By path under the notes home: number of reads, and time of the last one in milliseconds."""


class _Read(Struct, array_like=True, tag="read"):
    path: str
    seed: _Number
    """Number of reads that the note's metadata records; used if there is no count yet."""

    at: _Number


class _Moved(Struct, array_like=True, tag="moved"):
    source: str
    target: str


class _Count(Struct, array_like=True, tag="count"):
    path: str
    count: _Number
    last: _Number


_Line: TypeAlias = _Read | _Moved | _Count

_encode = msgspec.json.Encoder().encode


def count(home: Path, segments: tuple[str, ...], values: Mapping[str, Json]) -> None:
    """Count one read of a note.

    Args:
        home: The notes home.
        segments: Path segments of the note's file under the notes home.
        values: The note's metadata, whose ``accessCount`` is the initial count.
    """
    seed = values.get("accessCount")
    known = isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < _MOST
    _add(home, _Read("/".join(segments), seed if known else 0, clock.now_ms()))  # type: ignore[arg-type]


def move(home: Path, source: tuple[str, ...], target: tuple[str, ...]) -> None:
    """Move a note's count when it is renamed."""
    _add(home, _Moved("/".join(source), "/".join(target)))


def put(home: Path, segments: tuple[str, ...], count: int, last_ms: int) -> None:
    """Set a note's count, as it was in another home."""
    _add(home, _Count("/".join(segments), count, last_ms))


def counts(home: Path) -> Counts:
    """Return the counts of all notes in a notes home.

    Raises:
        OSError: The file cannot be read, or is not a regular file.
    """
    with handles.closing(handles.open_root(home)) as root:
        try:
            state = handles.open_folder(root, STATE)
        except FileNotFoundError:
            return {}
        with handles.closing(state), suppress(FileNotFoundError):
            return _folded(handles.read_file(state, NAME, _LIMIT)[0])
    return {}


def _add(home: Path, line: _Line) -> None:
    # One write that begins with a line end: a line that a full disk cut short spoils no other
    # line.
    data = b"\n" + _encode(line)
    with (
        suppress(OSError, locks.HeldError),
        handles.closing(handles.open_root(home)) as root,
        handles.closing(open_state(root)) as state,
    ):
        for _ in range(_ATTEMPTS):
            handle = _opened(state)
            if handle is None:
                continue
            with handles.closing(handle):
                if not _is_current(state, handle):
                    continue
                os.write(handle, data)
                size = os.fstat(handle).st_size
                if (size - len(data)) // REWRITE_BYTES != size // REWRITE_BYTES:
                    _rewrite(state, handle)
                return


def _opened(state: int) -> int | None:
    """Return a handle of the file; None when it had to be replaced, so open it again.

    Raises:
        PermissionError: It belongs to another user.
        OSError: It cannot be opened or created.
    """
    status = handles.look(state, NAME)
    if status is not None and handles.is_own(status):
        with suppress(FileNotFoundError):
            handle = os.open(NAME, _OPEN, dir_fd=state)
            if handles.is_own(os.fstat(handle)):
                return handle
            os.close(handle)
        return None
    if status is not None and stat.S_ISREG(status.st_mode) and status.st_uid != os.geteuid():
        raise PermissionError
    if status is not None and stat.S_ISDIR(status.st_mode):
        os.rmdir(NAME, dir_fd=state)
    elif status is not None:
        # A link, a pipe, or a file with a second name somewhere else.
        handles.remove(state, NAME)
    with suppress(FileExistsError):
        atomic.create(state, NAME, b"")
    return None


def _is_current(state: int, handle: int) -> bool:
    """Lock out processes that compact the file; return whether the handle's file is still current.

    Raises:
        HeldError: Another process kept it locked for too long.
    """
    locks.acquire(handle, seconds=WAIT_SECONDS, shared=True)
    return _has_its_name(state, handle)


def _rewrite(state: int, handle: int) -> None:
    """Compact the file to one line per note, unless another process is using it."""
    locks.acquire(handle, seconds=0)
    if not _has_its_name(state, handle):
        return
    try:
        known = _folded(handles.read_file(state, NAME, _LIMIT)[0])
    except handles.TooLargeError:
        known = {}
    atomic.replace(state, NAME, _lines(known))
    atomic.sweep(state, older_than=_LITTER_SECONDS)


def _has_its_name(state: int, handle: int) -> bool:
    status = handles.look(state, NAME)
    return status is not None and os.path.samestat(status, os.fstat(handle))


def _folded(data: bytes) -> Counts:
    """Return the counts that the lines add up to; a line that cannot be decoded is skipped."""
    decode = msgspec.json.Decoder(_Line).decode
    found: Counts = {}
    for text in data.split(b"\n"):
        try:
            line = decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(line, _Read):
            reads = found.get(line.path, (line.seed, 0))[0]
            found[line.path] = (min(reads + 1, _MOST - 1), line.at)
        elif isinstance(line, _Count):
            found[line.path] = (line.count, line.last)
        elif line.source in found:
            found[line.target] = found.pop(line.source)
    return found


def _lines(known: Counts) -> bytes:
    return b"".join(
        b"\n" + _encode(_Count(path, reads, last)) for path, (reads, last) in known.items()
    )
