"""Which Pi sessions there are, and what their files say of them.

What was learnt of a file is remembered as long as its size, time and inode stay the
same, and of a file that only grew no more than the new part is searched for a name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.history.catalogue_cache import File, Look, Seen, entries, goes_on, stamp_of
from hindnote.core.history.ends import reader
from hindnote.core.history.files import is_folder, open_file, scan_folder
from hindnote.core.plugins.models import SessionEntry
from hindnote.core.system.shortage import is_shortage
from hindnote.hosts.pi.format.header import (
    find_header,
    find_name,
    find_prompt,
    id_in_name,
    is_named,
    parent_id,
    read_header,
)
from hindnote.hosts.pi.format.line import ADDED_WORDS
from hindnote.hosts.pi.paths import agent_dir, session_dir

if TYPE_CHECKING:
    from collections.abc import Callable

    from hindnote.core.history.metadata_cache import FileFacts
    from hindnote.core.plugins.models import HostCall

HOST = "pi"
SESSION_DIR = "PI_CODING_AGENT_SESSION_DIR"

FORM = "pi-session-3"
"""The form of a session's facts in the cache."""


_NO_STAMP = (-1, -1, -1)
"""The stamp of no file."""


class Places(Struct, frozen=True):
    """Where to look for sessions; folders that do not exist are harmless."""

    folders: tuple[Path, ...]
    """They hold session files."""

    roots: tuple[Path, ...]
    """They hold a folder for each directory that Pi ran in."""


def places(call: HostCall) -> Places:
    """Return where a call's sessions lie, and those of this environment.

    Each way to move Pi's sessions counts, since all of them may have been used.
    """
    ours = call.host == HOST
    agent = call.config_dir if ours and call.config_dir else agent_dir()
    folders = [os.environ.get(SESSION_DIR), session_dir(agent / "settings.json")]
    roots = [agent / "sessions"]
    if ours:
        folders.append(session_dir(call.cwd / ".pi/settings.json"))
        for folder in _own_folders(call):
            folders.append(str(folder))
            if folder.name.startswith("--") and folder.name.endswith("--"):
                roots.append(folder.parent)
    found = (call.cwd / Path(folder).expanduser() for folder in folders if folder)
    return Places(tuple(found), tuple(roots))


def _own_folders(call: HostCall) -> Iterator[Path]:
    """Yield where the running session lies, and where the one lies that it was forked from."""
    if call.session_file is None:
        return
    file = call.cwd / call.session_file
    yield file.parent
    header = read_header(file)
    origin = call.cwd / header.parent if header and header.parent else None
    if origin is not None and read_header(origin) is not None:
        yield origin.parent


class Catalogue:
    """The sessions in some places. Thread-safe.

    Args:
        facts: Opens what other processes remembered of files, once there are many to
            look at; None: nothing is remembered.
    """

    def __init__(self, facts: Callable[[], FileFacts] | None = None) -> None:
        self._lock = Lock()
        self._facts = facts
        self._known: dict[str, dict[str, Seen]] = {}
        """By folder, then by file name."""

    def sessions(self, where: Places) -> list[SessionEntry]:
        """Return the sessions, newest first.

        A file is left out that is neither named like a session nor has a session's header.
        """
        with self._lock:
            folders = list(_folders(where))
            new = [file for folder in folders for file in self._scanned(folder)]
            self._learn(new)
            found = [
                entry
                for folder in folders
                for seen in self._known[folder].values()
                if (entry := seen.entry) is not None
            ]
        found.sort(key=attrgetter("modified"), reverse=True)
        return found

    def _scanned(self, folder: str) -> Iterator[File]:
        """Yield the files of a folder that are new or changed; the others stay known."""
        before = self._known.get(folder, {})
        known = self._known[folder] = {}
        for file in scan_folder(folder):
            name = file.name
            if not name.endswith(".jsonl"):
                continue
            try:
                status = file.stat()
            except OSError as error:
                if is_shortage(error):
                    raise
                continue
            held = before.get(name)
            if held is None:
                yield File(folder, name, status)
            elif held.stamp == stamp_of(status):
                known[name] = held
            else:
                yield File(folder, name, status, held.of(status))

    def _learn(self, new: list[File]) -> None:
        for file, entry in zip(new, entries(new, look, self._facts), strict=True):
            known = self._known[file.folder]
            if not isinstance(entry, Look):
                known[file.name] = Seen(file.stamp, entry)
            elif is_named(file.name):
                # It is looked at again the next time, even if nothing of it changed.
                known[file.name] = Seen(_NO_STAMP, _unread(file))


def _folders(where: Places) -> Iterator[str]:
    """Yield each folder with sessions once, by whichever way it is reached first."""
    folders = [str(folder) for folder in where.folders]
    for root in where.roots:
        folders += [entry.path for entry in scan_folder(str(root)) if is_folder(entry)]
        folders.append(str(root))
    seen: set[tuple[int, int]] = set()
    for folder in folders:
        try:
            status = os.stat(folder)  # noqa: PTH116 - a Path for each of many is what costs
        except OSError:
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            yield folder


def look(path: Path, file: File) -> SessionEntry | None:
    """Return what a file says of its session; None when it is no Pi session.

    A file that Pi named is listed even if its header is damaged: whoever opens it
    is told what is wrong with it.

    Args:
        path: Where the file lies.
        file: The file as its folder lists it.

    Raises:
        OSError: The file cannot be read.
    """
    if not stat.S_ISREG(file.status.st_mode):
        return None
    size = file.status.st_size
    handle = open_file(path)
    try:
        read = reader(handle)
        header = find_header(read, size)
        if header is None and not is_named(file.name):
            return None
        entry = SessionEntry(
            host=HOST,
            id=header.id if header else id_in_name(file.name),
            file=path,
            started=header.timestamp if header else None,
            cwd=header.cwd if header else None,
            parent=parent_id(header.parent, path) if header and header.parent else None,
            prompt=find_prompt(read, size),
            size=size,
            modified=file.status.st_mtime,
            added_words=ADDED_WORDS,
        )
        start, name = 0, None
        if file.before is not None and goes_on(entry, file.before, read):
            # It only grew, so the name that it had still counts.
            start, name = file.before.size, file.before.name
        latest = find_name(read, start, size)
    finally:
        os.close(handle)
    return entry.model_copy(update={"name": name if latest is None else latest or None})


def _unread(file: File) -> SessionEntry:
    """Return the entry of a session whose file cannot be read: opening it says why."""
    return SessionEntry(
        host=HOST,
        id=id_in_name(file.name),
        file=Path(file.path),
        size=file.status.st_size,
        modified=file.status.st_mtime,
    )
