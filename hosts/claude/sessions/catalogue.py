"""Which Claude Code sessions there are, and what their files say of them.

What was learnt of a file is remembered as long as its size, time and inode stay the
same, and of a file that only grew no more than the new part is searched for a name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from hindnote.core.history.catalogue_cache import Look, entries
from hindnote.core.history.ends import Read, reader
from hindnote.core.history.files import is_folder, open_file, scan_folder
from hindnote.core.plugins.models import SessionEntry
from hindnote.core.system.shortage import is_shortage
from hindnote.hosts.claude.format.header import (
    SUBAGENTS,
    find_header,
    find_name,
    find_prompt,
    find_task,
    place_of,
)
from hindnote.hosts.claude.paths import HOST, config_dir
from hindnote.hosts.claude.sessions.facts import ADDED_WORDS

if TYPE_CHECKING:
    from hindnote.core.history.metadata_cache import FileFacts, Stamp
    from hindnote.core.plugins.models import HostCall

FORM = "claude-session-3"
"""The form of a session's facts in the cache."""

DEEPEST = 4
"""Folders within each other below ``subagents``; workflows take two."""


class _File(NamedTuple):
    """A session file as a folder lists it."""

    folder: str
    name: str
    path: str
    status: os.stat_result
    stamp: Stamp
    before: SessionEntry | None = None
    """What was known of it before it changed."""


class Catalogue:
    """The sessions of some folders. Thread-safe.

    Args:
        facts: Opens what other processes remembered of files, once there are many to
            look at; None: nothing is remembered.
    """

    def __init__(self, facts: Callable[[], FileFacts] | None = None) -> None:
        self._lock = Lock()
        self._facts = facts
        self._known: dict[str, tuple[Stamp, SessionEntry | None]] = {}

    def sessions(self, call: HostCall) -> list[SessionEntry]:
        """Return the sessions of a call's host, newest first.

        A file is left out that is not named like a session and in which no row names one.
        """
        with self._lock:
            found = [entry for entry in self._entries(call) if entry is not None]
        found.sort(key=attrgetter("modified"), reverse=True)
        return found

    def _entries(self, call: HostCall) -> list[SessionEntry | None]:
        found: list[SessionEntry | None] = []
        new: list[_File] = []
        for folder, listed, status in _files(_folders(call)):
            stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
            known = self._known.get(listed.path)
            if known is not None and known[0] == stamp:
                found.append(known[1])
            else:
                same = known is not None and known[0][2] == stamp[2]
                before = known[1] if known and same else None
                new.append(_File(folder, listed.name, listed.path, status, stamp, before))
        folders: dict[str, Path] = {}

        def looked(file: _File) -> SessionEntry | None:
            # A Path made of a folder's costs half of one made of a text.
            folder = folders.get(file.folder) or folders.setdefault(file.folder, Path(file.folder))
            if file.before is None:
                return look(file.path, folder / file.name, file.status)
            return look(file.path, folder / file.name, file.status, file.before)

        for file, entry in zip(new, entries(new, looked, self._facts), strict=True):
            if isinstance(entry, Look):
                # It is looked at again the next time, even if nothing of it changed.
                found.append(_unread(file))
            else:
                self._known[file.path] = (file.stamp, entry)
                found.append(entry)
        return found


def _folders(call: HostCall) -> Iterator[str]:
    """Yield the folders that hold sessions: one for each directory that the host ran in."""
    for entry in scan_folder(str(config_dir(call) / "projects")):
        if is_folder(entry):
            yield entry.path
    if call.host == HOST and call.session_file is not None:
        folder = (call.cwd / call.session_file).parent
        above = [up for up in (folder, *folder.parents[:DEEPEST]) if up.name == SUBAGENTS]
        yield str(above[0].parent.parent if above else folder)


def _files(folders: Iterable[str]) -> Iterator[tuple[str, os.DirEntry[str], os.stat_result]]:
    """Yield the folder, entry and status of each session file, once: subagents' as well."""
    seen: set[tuple[int, int]] = set()
    for folder in folders:
        for holder, file in _listed(folder):
            status = _status(file)
            if status is not None and (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                yield holder, file, status


def _listed(folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for entry in scan_folder(folder):
        if entry.name.endswith(".jsonl"):
            yield folder, entry
        elif is_folder(entry):
            yield from _subagents(f"{entry.path}/{SUBAGENTS}", DEEPEST)


def _subagents(folder: str, depth: int) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield the transcripts of subagents; a workflow's journal beside them is none."""
    for entry in scan_folder(folder):
        if entry.name.endswith(".jsonl"):
            if place_of(entry.path).agent is not None:
                yield folder, entry
        elif depth and is_folder(entry) and not entry.is_symlink():
            yield from _subagents(entry.path, depth - 1)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    if not entry.name.endswith(".jsonl"):
        return None
    try:
        status = entry.stat()
    except OSError as error:
        if is_shortage(error):
            raise
        return None
    return status if stat.S_ISREG(status.st_mode) else None


# -- one file ------------------------------------------------------------------


def look(
    path: str, file: Path, status: os.stat_result, before: SessionEntry | None = None
) -> SessionEntry | None:
    """Return what a file says of its session; None when it is no session.

    A file that is named like a session's or a subagent's is listed whatever is in it:
    whoever opens it is told what is wrong with it.

    Args:
        path: Where the file lies, as the folder lists it; what is opened.
        file: The same, for the entry to keep: to make a ``Path`` is dear.
        status: The file's status.
        before: What was known of the file before it changed.

    Raises:
        OSError: The file cannot be read.
    """
    size = status.st_size
    handle = open_file(file)
    try:
        read = reader(handle)
        header = find_header(path, read, size)
        if header.id is None:
            return None
        entry = SessionEntry(
            host=HOST,
            id=header.id,
            file=file,
            started=header.started,
            cwd=header.cwd,
            parent=header.parent,
            prompt=find_prompt(read, size, header.agent),
            size=size,
            modified=status.st_mtime,
            added_words=ADDED_WORDS,
        )
        name = find_task(file) if header.agent else _name(read, entry, before)
    finally:
        os.close(handle)
    return entry.model_copy(update={"name": name})


def _name(read: Read, entry: SessionEntry, before: SessionEntry | None) -> str | None:
    if before is not None and _goes_on(entry, before) and read(before.size - 1, 1) == b"\n":
        # It only grew, so the name that it had counts unless there is a later one.
        later = find_name(read, before.size, entry.size)
        if later.title or later.summary is None:
            return later.title or before.name
    return find_name(read, 0, entry.size).shown


def _goes_on(entry: SessionEntry, before: SessionEntry) -> bool:
    """Return whether two looks at a file saw the same session, and the later one more of it."""
    return 0 < before.size < entry.size and all(
        getattr(entry, fact) == getattr(before, fact) for fact in ("id", "started", "cwd", "parent")
    )


def _unread(file: _File) -> SessionEntry | None:
    """Return the entry of a session whose file cannot be read: opening it says why."""
    place = place_of(file.path)
    if place.session is None:
        return None
    return SessionEntry(
        host=HOST,
        id=f"{place.session}/{place.agent}" if place.agent else place.session,
        file=Path(file.path),
        parent=place.session if place.agent else None,
        size=file.status.st_size,
        modified=file.status.st_mtime,
    )
