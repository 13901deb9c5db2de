"""The list of Claude Code sessions, with the facts that their files contain.

The facts about a file are cached while its size, time and inode are unchanged. If a file only
grew, only its new part is searched for a name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hindnote.core.history.catalogue_cache import ListedFile, goes_on
from hindnote.core.history.ends import Read, reader
from hindnote.core.history.files import is_folder, open_file, scan_folder
from hindnote.core.history.session_files import SessionFiles
from hindnote.core.plugins.models import SessionEntry
from hindnote.core.system.shortage import is_shortage
from hindnote.hosts.claude.format.header import (
    SUBAGENTS,
    find_header,
    find_name,
    find_task,
    place_of,
)
from hindnote.hosts.claude.format.line import ADDED_WORDS
from hindnote.hosts.claude.paths import HOST, config_dir

if TYPE_CHECKING:
    from hindnote.core.history.metadata_cache import FileFacts
    from hindnote.core.plugins.models import HostCall

FORM = "claude-session-3"
"""Name of the facts' format in the cache."""

DEEPEST = 4
"""Maximum folder depth below ``subagents``; workflows use two levels."""


class Catalogue:
    """The sessions in some folders. Thread-safe.

    Args:
        facts: Opens the cache shared by processes, used for many files; None: no shared cache.
    """

    def __init__(self, facts: Callable[[], FileFacts] | None = None) -> None:
        self._files = SessionFiles(look, _unread, facts)

    def sessions(self, call: HostCall) -> list[SessionEntry]:
        """Return the sessions of a call's host, newest first.

        Leaves out a file that does not have a session's name and whose rows contain no session id.
        """
        return self._files.of(_files(_folders(call)))


def _folders(call: HostCall) -> Iterator[str]:
    """Yield the folders with sessions: one for each directory in which the host ran."""
    for entry in scan_folder(str(config_dir(call) / "projects")):
        if is_folder(entry):
            yield entry.path
    if call.host == HOST and call.session_file is not None:
        folder = (call.cwd / call.session_file).parent
        above = [up for up in (folder, *folder.parents[:DEEPEST]) if up.name == SUBAGENTS]
        yield str(above[0].parent.parent if above else folder)


def _files(folders: Iterable[str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield folder and entry of each session file, including subagents', once each."""
    seen: set[tuple[int, int]] = set()
    for folder in folders:
        for holder, file in _listed(folder):
            status = _status(file)
            if status is not None and (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                yield holder, file


def _listed(folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for entry in scan_folder(folder):
        if entry.name.endswith(".jsonl"):
            yield folder, entry
        elif is_folder(entry):
            yield from _subagents(f"{entry.path}/{SUBAGENTS}", DEEPEST)


def _subagents(folder: str, depth: int) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield the transcripts of subagents, but not a workflow's journal in the same folder."""
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


def look(path: Path, file: ListedFile) -> SessionEntry | None:
    """Return the catalogue entry of a file; None when it is not a session.

    A file with the name of a session or subagent is always listed: opening it reports what is
    wrong with its content.

    Args:
        path: The file's path.
        file: The file as listed in its folder.

    Raises:
        OSError: The file cannot be read.
    """
    size = file.status.st_size
    # Opened by its name: to make a text of each of thousands of paths takes time.
    handle = open_file(file.path)
    try:
        read = reader(handle)
        header = find_header(file.path, read, size, prompt=True)
        if header.id is None:
            return None
        entry = SessionEntry(
            host=HOST,
            id=header.id,
            file=path,
            started=header.started,
            cwd=header.cwd,
            parent=header.parent,
            prompt=header.prompt,
            size=size,
            modified=file.status.st_mtime,
            added_words=ADDED_WORDS,
        )
        name = find_task(path) if header.agent else _name(read, entry, file.before)
    finally:
        os.close(handle)
    return entry if name is None else entry.model_copy(update={"name": name})


def _name(read: Read, entry: SessionEntry, before: SessionEntry | None) -> str | None:
    if before is not None and goes_on(entry, before, read):
        # It only grew, so its name is unchanged unless a later row sets one.
        later = find_name(read, before.size, entry.size)
        if later.title or later.summary is None:
            return later.title or before.name
    return find_name(read, 0, entry.size).shown


def _unread(path: Path, file: ListedFile) -> SessionEntry | None:
    """Return the entry of a session whose file cannot be read; opening it reports the reason."""
    place = place_of(file.path)
    if place.session is None:
        return None
    return SessionEntry(
        host=HOST,
        id=f"{place.session}/{place.agent}" if place.agent else place.session,
        file=path,
        parent=place.session if place.agent else None,
        size=file.status.st_size,
        modified=file.status.st_mtime,
    )
