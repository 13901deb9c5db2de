"""Which files a session's history lies in: those of its thread, and of what it was forked from.

A fork holds no copy. Its first row names the file in which its past lies, and how many bytes of it
belong to the fork. A thread whose turns were taken back goes on in another file in the same way;
its older files do not change any more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from msgspec import Struct

from hindnote.hosting import is_shortage, open_file, reader, scan_folder
from hindnote.hosts.codex.format.header import HEADER_WITHIN, Base, Head, find_head
from hindnote.hosts.codex.format.packed import head as packed_head
from hindnote.hosts.codex.paths import ARCHIVED, PACKED, SESSIONS, home_of, named

DEEPEST = 256
"""Forks of forks that are followed, at most."""


class Step(Struct, frozen=True):
    """One file of a session's history, in the order in which it is read."""

    file: Path
    rollout: str
    base: Base | None
    """Where its own past lies, if it has one."""

    end: int | None = None
    """Bytes that belong to the session; None: all there are and will be."""


class Lineage(Struct, frozen=True):
    """All files of a session but its own, oldest first."""

    steps: tuple[Step, ...] = ()
    missing: str | None = None
    """The rollout that could not be found, and what lay before it with it."""


def read_head(file: Path) -> Head | None:
    """Return a rollout's header; None for a file without one, or that cannot be read.

    Raises:
        Refused: The file is compressed, and nothing here can unpack it.
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
    """Return what lies before a session's own file."""
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
    """Return the files in which the same thread lay before, oldest first."""
    found: dict[str, Path] = {}
    for other in _rollouts(file, None):
        name = named(other.name)
        if name is not None and name.thread == thread and _before(name.rollout, rollout, thread):
            found.setdefault(name.rollout, other)
    steps = []
    # A thread's first file has its own id, which is older than those of the others.
    for one in sorted(found):
        head = read_head(found[one])
        steps.append(Step(found[one], one, head.base if head is not None else None))
    return steps


def _before(one: str, other: str, thread: str) -> bool:
    return one < other or (one == thread and other != thread)


def _ancestors(file: Path, base: Base) -> Lineage:
    """Return the files behind a fork, from the one that it names to the oldest, turned around."""
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
    """Return where a rollout lies, as seen from a file in the same home; None when nowhere."""
    for other in _rollouts(file, rollout):
        name = named(other.name)
        if name is not None and name.rollout == rollout and other != file:
            return other
    return None


def _rollouts(file: Path, rollout: str | None) -> Iterator[Path]:
    """Yield the rollouts beside a file and in its home, likely folders first."""
    seen: set[str] = set()
    for folder in _folders(file, rollout):
        if folder not in seen:
            seen.add(folder)
            for entry in scan_folder(folder):
                yield Path(entry.path)


def _folders(file: Path, rollout: str | None) -> Iterator[str]:
    yield str(file.parent)
    home = home_of(file)
    if home is None:
        return
    for day in _days(rollout):
        yield str(home / SESSIONS / day)
    yield str(home / ARCHIVED)
    yield from day_folders(home)


def _days(rollout: str | None) -> Iterator[str]:
    """Yield the folders of the days on which a rollout was begun, by the time in its id."""
    try:
        moment = datetime.fromtimestamp((UUID(rollout or "").int >> 80) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return
    for days in (0, -1, 1):
        yield f"{moment + timedelta(days=days):%Y/%m/%d}"


def day_folders(home: Path) -> Iterator[str]:
    """Yield the folders of all days on which sessions were begun."""
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
    """Return when a thread was begun: its first file says so."""
    own = named(file.name)
    if own is None or own.rollout == own.thread:
        return head.started
    first = find(file, own.thread)
    first_head = read_head(first) if first is not None else None
    return first_head.started if first_head is not None else head.started


def fork_of(file: Path, head: Head) -> Head:
    """Return the header that says what a thread was forked from: that of its first file.

    One in which a thread goes on names no fork.
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
