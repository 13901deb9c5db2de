"""Find the files of a session's history: those of its thread, and those of its ancestors.

A fork contains no copy. Its first row names the file with its past, and the number of bytes of
that file that belong to the fork. After a rollback, a thread continues in another file in the same
way, and its older files do not change any more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from msgspec import Struct

from hindnote.hosting import is_shortage, open_file, reader, scan_folder
from hindnote.hosts.codex.format.header import HEADER_WITHIN, Base, Head, find_head
from hindnote.hosts.codex.format.packed import head as packed_head
from hindnote.hosts.codex.paths import ARCHIVED, PACKED, SESSIONS, home_of, named

DEEPEST = 256
"""Maximum number of ancestors that are followed."""


class Step(Struct, frozen=True):
    """One file of a session's history."""

    file: Path
    rollout: str
    base: Base | None
    """The part of another file that comes before it, if there is one."""

    end: int | None = None
    """Number of bytes that belong to the session; None for the whole file, which may still grow."""


class Lineage(Struct, frozen=True):
    """All files of a session's history except its own, oldest first."""

    steps: tuple[Step, ...] = ()
    missing: str | None = None
    """Id of the rollout that was not found; the history before it is missing too."""


def read_head(file: Path) -> Head | None:
    """Return a rollout's header; None for a file that has none or cannot be read.

    Raises:
        Refused: The file is compressed, and no decompressor is installed.
    """
    try:
        if file.name.endswith(PACKED):
            data = packed_head(file, HEADER_WITHIN)
            return find_head(lambda offset, size: data[offset : offset + size], len(data))
        handle = open_file(file)
    except OSError as error:
        if is_shortage(error):
            raise
        return None
    try:
        return find_head(reader(handle), os.fstat(handle).st_size)
    except OSError:
        return None
    finally:
        os.close(handle)


def lineage_of(file: Path, head: Head | None) -> Lineage:
    """Return the files before a session's own file."""
    if head is None or head.base is None:
        return Lineage()
    own = named(file.name)
    earlier = _earlier(file, own.thread, own.rollout) if own is not None else []
    if not earlier:
        return _ancestors(file, head.base)
    first = earlier[0]
    first_head = read_head(first.file)
    above = Lineage()
    if first_head is not None and first_head.base is not None:
        above = _ancestors(file, first_head.base)
    return Lineage((*above.steps, *earlier), above.missing)


def _earlier(file: Path, thread: str, rollout: str) -> list[Step]:
    """Return the earlier files of the same thread, oldest first."""
    found: dict[str, Path] = {}
    for other in _rollouts(file):
        name = named(other.name)
        if name is not None and name.thread == thread and _before(name.rollout, rollout, thread):
            found.setdefault(name.rollout, other)
    steps = []
    # A thread's first file has the thread's id, which is older than the other ids.
    for one in sorted(found):
        head = read_head(found[one])
        steps.append(Step(found[one], one, head.base if head is not None else None))
    return steps


def _before(one: str, other: str, thread: str) -> bool:
    return one < other or (one == thread and other != thread)


def _ancestors(file: Path, base: Base) -> Lineage:
    """Return the ancestors' files of a fork, oldest first."""
    steps: list[Step] = []
    seen: set[str] = set()
    wanted: Base | None = base
    while wanted is not None and wanted.rollout not in seen and len(steps) < DEEPEST:
        seen.add(wanted.rollout)
        found = find(file, wanted.rollout)
        if found is None:
            return Lineage(tuple(reversed(steps)), wanted.rollout)
        head = read_head(found)
        above = head.base if head is not None else None
        steps.append(Step(found, wanted.rollout, above, wanted.end))
        wanted = above
    return Lineage(tuple(reversed(steps)))


def find(file: Path, rollout: str) -> Path | None:
    """Return the path of a rollout in the same home as a file; None when there is none."""
    for folder in _folders(file, rollout):
        for other in _listed(folder).get(rollout, ()):
            if other != file:
                return other
    return None


def _rollouts(file: Path) -> Iterator[Path]:
    """Yield the rollouts next to a file and in its home."""
    for folder in dict.fromkeys(_folders(file, None)):
        for paths in _listed(folder).values():
            yield from paths


_Listing = dict[str, list[Path]]
"""The rollouts in a folder, by their id."""


class _Pass(NamedTuple):
    """What was listed in one pass over many files."""

    folders: dict[str, _Listing]
    days: dict[Path, list[str]]
    """The folders of all days, by home."""


_PASS: ContextVar[_Pass | None] = ContextVar("_PASS", default=None)


@contextmanager
def listing_once() -> Iterator[None]:
    """List each folder once while the block runs, for a pass over many files."""
    token = _PASS.set(_Pass({}, {}))
    try:
        yield
    finally:
        _PASS.reset(token)


def _listed(folder: str) -> _Listing:
    running = _PASS.get()
    if running is not None and folder in running.folders:
        return running.folders[folder]
    found: _Listing = {}
    for entry in scan_folder(folder):
        name = named(entry.name)
        if name is not None:
            found.setdefault(name.rollout, []).append(Path(entry.path))
    if running is not None:
        running.folders[folder] = found
    return found


def _folders(file: Path, rollout: str | None) -> Iterator[str]:
    yield str(file.parent)
    home = home_of(file)
    if home is None:
        return
    for day in _days(rollout):
        yield str(home / SESSIONS / day)
    yield str(home / ARCHIVED)
    running = _PASS.get()
    if running is None:
        yield from day_folders(home)
        return
    if home not in running.days:
        running.days[home] = list(day_folders(home))
    yield from running.days[home]


def _days(rollout: str | None) -> Iterator[str]:
    """Yield the folders in which a rollout can be, from the time in its id."""
    try:
        moment = datetime.fromtimestamp((UUID(rollout or "").int >> 80) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return
    for days in (0, -1, 1):
        yield f"{moment + timedelta(days=days):%Y/%m/%d}"


def day_folders(home: Path) -> Iterator[str]:
    """Yield the folders of all days."""
    folders = [str(home / SESSIONS)]
    for _ in ("year", "month", "day"):
        folders = [
            entry.path
            for folder in folders
            for entry in scan_folder(folder)
            if entry.name.isdigit() and not entry.is_file()
        ]
    yield from sorted(folders, reverse=True)


def started(file: Path, head: Head) -> str | None:
    """Return the start of a thread, from its first file."""
    own = named(file.name)
    if own is None or own.rollout == own.thread:
        return head.started
    first = find(file, own.thread)
    first_head = read_head(first) if first is not None else None
    return first_head.started if first_head is not None else head.started


def fork_of(file: Path, head: Head) -> Head:
    """Return the header of a thread's first file, which names the origin of a fork.

    The thread's later files do not name it.
    """
    own = named(file.name)
    if head.forked_from is not None or own is None or own.rollout == own.thread:
        return head
    first = find(file, own.thread)
    return (read_head(first) if first is not None else None) or head


def newest_file(home: Path, thread: str, beside: Path | None) -> Path | None:
    """Return the newest of a thread's files.

    Args:
        home: Codex's home.
        thread: The thread's id.
        beside: A session's file, in whose folder to look first.
    """
    found: dict[str, Path] = {}
    for folder in ([str(beside.parent)] if beside is not None else []) + [
        *(str(home / SESSIONS / day) for day in _days(thread)),
        *day_folders(home),
        str(home / ARCHIVED),
    ]:
        for entry in scan_folder(folder):
            name = named(entry.name)
            if name is not None and name.thread == thread:
                found.setdefault(name.rollout, Path(entry.path))
    if not found:
        return None
    return found[max(found, key=lambda rollout: (rollout != thread, rollout))]
