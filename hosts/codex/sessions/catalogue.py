"""The catalogue of Codex's sessions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from hindnote.hosting import (
    FileFacts,
    HostCall,
    ListedFile,
    Refused,
    SessionEntry,
    SessionFiles,
    distinct_folders,
    open_file,
    reader,
)
from hindnote.hosts.codex.format.header import HEADER_WITHIN, find_head_and_prompt
from hindnote.hosts.codex.format.line import ADDED_WORDS
from hindnote.hosts.codex.format.packed import head as packed_head
from hindnote.hosts.codex.paths import ARCHIVED, HOST, PACKED, codex_home, home_of, named
from hindnote.hosts.codex.sessions.lineage import day_folders, fork_of, listing_once, started
from hindnote.hosts.codex.sessions.projection import NAMES, id_in_name

FORM = "codex-session-1"
"""Name of the facts' format in the cache."""


class Catalogue:
    """The sessions in Codex's homes. Thread-safe."""

    def __init__(self) -> None:
        self._files = SessionFiles(look, unread, lambda: FileFacts(FORM))

    def sessions(self, call: HostCall) -> list[SessionEntry]:
        """Return the sessions that a call may name, newest first.

        Of a thread with several files the newest is listed, because it refers to the others.
        """
        with listing_once():
            found = self._files.sessions(_folders(call), lambda name: named(name) is not None)
        newest: dict[str, tuple[_Rank, SessionEntry]] = {}
        for entry in found:
            rank = _rank(entry)
            held = newest.get(entry.id)
            if held is None or rank > held[0]:
                newest[entry.id] = rank, entry
        named_ones = _named([entry for _, entry in newest.values()])
        return sorted(named_ones, key=attrgetter("modified"), reverse=True)


def _named(entries: list[SessionEntry]) -> Iterator[SessionEntry]:
    """Yield entries with the names of their threads.

    The names are in a separate file, which changes independently of the session's file.
    """
    homes: dict[Path, dict[str, str]] = {}
    for entry in entries:
        folder = entry.file.parent
        if folder not in homes:
            homes[folder] = NAMES.all(home_of(entry.file))
        name = homes[folder].get(entry.id.rpartition("/")[2])
        yield entry if name is None else entry.model_copy(update={"name": name})


_Rank = tuple[bool, bool, str, bool]


def _rank(entry: SessionEntry) -> _Rank:
    """Return the sort key of a thread's files; the first file has the thread's own id.

    A file that cannot be read does not hide the others.
    """
    name = named(entry.file.name)
    assert name is not None
    first = name.rollout == name.thread
    readable = entry.cwd is not None or entry.started is not None
    return readable, not first, name.rollout, not entry.file.name.endswith(PACKED)


def _folders(call: HostCall) -> Iterator[str]:
    homes = [codex_home(call)]
    folders: list[str] = []
    if call.host == HOST and call.session_file is not None:
        file = call.cwd / call.session_file
        home = home_of(file)
        if home is not None:
            homes.append(home)
        folders.append(str(file.parent))
    for home in homes:
        folders += [*day_folders(home), str(home / ARCHIVED)]
    return distinct_folders(folders)


def look(path: Path, listed: ListedFile) -> SessionEntry | None:
    """Return the catalogue entry of a session, from its file.

    Raises:
        OSError: The file cannot be read.
    """
    packed = path.name.endswith(PACKED)
    if packed:
        try:
            data = packed_head(path, HEADER_WITHIN)
        except Refused:
            # Opening it reports what is missing.
            return unread(path, listed)
        head, prompt = find_head_and_prompt(
            lambda offset, size: data[offset : offset + size], len(data)
        )
    else:
        handle = open_file(path)
        try:
            head, prompt = find_head_and_prompt(reader(handle), listed.status.st_size)
        finally:
            os.close(handle)
    if head is None:
        return unread(path, listed)
    fork = fork_of(path, head)
    # The bytes of the file do not contain all words: a fork inherits other files, and a file may
    # be compressed.
    alone = not packed and head.base is None
    return SessionEntry(
        host=HOST,
        id=head.session,
        file=path,
        started=started(path, head),
        cwd=head.cwd,
        parent=fork.parent,
        prompt=prompt,
        size=listed.status.st_size,
        modified=listed.status.st_mtime,
        added_words=ADDED_WORDS if alone else None,
    )


def unread(path: Path, listed: ListedFile) -> SessionEntry:
    """Return the entry of a session whose file cannot be read; opening it reports the reason."""
    return SessionEntry(
        host=HOST,
        id=id_in_name(path),
        file=path,
        size=listed.status.st_size,
        modified=listed.status.st_mtime,
    )
