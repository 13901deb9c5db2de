"""The list of Pi sessions, with the facts that their files contain.

The facts about a file are cached while its size, time and inode are unchanged. If a file only
grew, only its new part is searched for a name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.history.catalogue_cache import ListedFile, goes_on
from hindnote.core.history.ends import reader
from hindnote.core.history.files import distinct_folders, is_folder, open_file, scan_folder
from hindnote.core.history.session_files import SessionFiles
from hindnote.core.plugins.models import SessionEntry
from hindnote.hosts.pi.format.header import (
    find_name,
    find_start,
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
"""Name of the facts' format in the cache."""


class Places(Struct, frozen=True):
    """Where to search for sessions; folders that do not exist are ignored."""

    folders: tuple[Path, ...]
    """Folders that contain session files."""

    roots: tuple[Path, ...]
    """Folders that contain a subfolder for each directory in which Pi ran."""


def places(call: HostCall) -> Places:
    """Return where to search for sessions: the call's places and those of this environment.

    All settings that move Pi's sessions are used, since each may have been in effect once.
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
    """Yield the folder of the running session, and that of the session it was forked from."""
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
        cache: Opens the cache shared by processes, used for many files; None: no shared cache.
    """

    def __init__(self, cache: Callable[[], FileFacts] | None = None) -> None:
        self._files = SessionFiles(look, _unread, cache)

    def sessions(self, where: Places) -> list[SessionEntry]:
        """Return the sessions, newest first.

        Leaves out a file that has neither a session's name nor a session header.
        """
        return self._files.sessions(_folders(where), lambda name: name.endswith(".jsonl"))


def _folders(where: Places) -> Iterator[str]:
    """Yield each folder with sessions once, even if several paths lead to it."""
    folders = [str(folder) for folder in where.folders]
    for root in where.roots:
        folders += [entry.path for entry in scan_folder(str(root)) if is_folder(entry)]
        folders.append(str(root))
    return distinct_folders(folders)


def look(path: Path, file: ListedFile) -> SessionEntry | None:
    """Return the catalogue entry of a file; None when it is not a Pi session.

    A file with the name of a Pi session is listed even if its header is damaged; opening it
    reports the damage.

    Args:
        path: The file's path.
        file: The file as listed in its folder.

    Raises:
        OSError: The file cannot be read.
    """
    if not stat.S_ISREG(file.status.st_mode):
        return None
    size = file.status.st_size
    # Opened by its name: to make a text of each of thousands of paths takes time.
    handle = open_file(file.path)
    try:
        read = reader(handle)
        header, prompt = find_start(read, size)
        if header is None and not is_named(file.name):
            return None
        entry = SessionEntry(
            host=HOST,
            id=header.id if header else id_in_name(file.name),
            file=path,
            started=header.timestamp if header else None,
            cwd=header.cwd if header else None,
            parent=parent_id(header.parent, path) if header and header.parent else None,
            prompt=prompt,
            size=size,
            modified=file.status.st_mtime,
            added_words=ADDED_WORDS,
        )
        start, name = 0, None
        if file.before is not None and goes_on(entry, file.before, read):
            # It only grew, so its name is unchanged unless a later row sets one.
            start, name = file.before.size, file.before.name
        latest = find_name(read, start, size)
    finally:
        os.close(handle)
    name = name if latest is None else latest or None
    return entry if name is None else entry.model_copy(update={"name": name})


def _unread(path: Path, file: ListedFile) -> SessionEntry | None:
    """Return the entry of a session whose file cannot be read: opening it gives the reason."""
    if not is_named(file.name):
        return None
    return SessionEntry(
        host=HOST,
        id=id_in_name(file.name),
        file=path,
        size=file.status.st_size,
        modified=file.status.st_mtime,
    )
