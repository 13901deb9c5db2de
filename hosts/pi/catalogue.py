"""Which Pi sessions there are, from the heads and tails of their files.

What was learnt of a file is remembered as long as its size, time and inode stay
the same. Nothing but facts about files is kept, and no whole file is ever read.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from itertools import chain
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from hindnote.core.calls import SessionEntry
from hindnote.core.history.filelooks import entries
from hindnote.core.history.files import is_folder, read_file, scan_folder
from hindnote.core.history.jsontext import Unreadable, parse
from hindnote.core.shortage import is_shortage
from hindnote.hosts.pi.places import agent_dir
from hindnote.hosts.pi.session.facts import ADDED_WORDS
from hindnote.hosts.pi.session.heads import (
    HEAD_BYTES,
    header_in,
    id_in_name,
    is_named,
    parent_id,
    read_header,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hindnote.core.calls import HostCall
    from hindnote.core.history.filefacts import FileFacts, Stamp

HOST = "pi"
SESSION_DIR = "PI_CODING_AGENT_SESSION_DIR"
TAIL_BYTES = HEAD_BYTES

_NAMING = b'"type":"session_info"'
"""As Pi writes it; the longer what is searched for, the faster the search."""

FORM = "pi-session-1"
"""The form of a session's facts in the cache."""


Known = tuple["Stamp", SessionEntry | None]


class _File(NamedTuple):
    """A session file as a folder lists it."""

    folder: str
    name: str
    status: os.stat_result
    stamp: Stamp

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


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
    folders = [os.environ.get(SESSION_DIR), _setting(agent / "settings.json")]
    roots = [agent / "sessions"]
    if ours:
        folders.append(_setting(call.cwd / ".pi/settings.json"))
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


def _setting(settings: Path) -> str | None:
    """Return the ``sessionDir`` of a settings file, if it sets one."""
    try:
        value = json.loads(read_file(settings))
    except (OSError, ValueError, RecursionError) as error:
        if is_shortage(error):
            raise
        return None
    folder = value.get("sessionDir") if isinstance(value, dict) else None
    return folder if isinstance(folder, str) else None


class Catalogue:
    """The sessions in some places. Thread-safe.

    Args:
        facts: Opens what other processes remembered of files, once there are many to
            look at; None: nothing is remembered.
    """

    def __init__(self, facts: Callable[[], FileFacts] | None = None) -> None:
        self._lock = Lock()
        self._facts = facts
        self._known: dict[str, dict[str, Known]] = {}
        """By folder, then by file name."""

    def sessions(self, where: Places) -> list[SessionEntry]:
        """Return the sessions, newest first; what cannot be read is left out."""
        with self._lock:
            folders = list(_folders(where))
            new = [file for folder in folders for file in self._scanned(folder)]
            self._learn(new)
            found = [
                entry
                for folder in folders
                for _, entry in self._known[folder].values()
                if entry is not None
            ]
        found.sort(key=attrgetter("modified"), reverse=True)
        return found

    def _scanned(self, folder: str) -> Iterator[_File]:
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
            stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
            held = before.get(name)
            if held is not None and held[0] == stamp:
                known[name] = held
            else:
                yield _File(folder, name, status, stamp)

    def _learn(self, new: list[_File]) -> None:
        folders: dict[str, Path] = {}

        def looked(file: _File) -> SessionEntry | None:
            # A Path made of a folder's costs half of one made of a text.
            folder = folders.get(file.folder) or folders.setdefault(file.folder, Path(file.folder))
            return look(folder / file.name, file.status)

        for file, entry in zip(new, entries(new, looked, self._facts), strict=True):
            self._known[file.folder][file.name] = (file.stamp, entry)


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


def look(path: Path, status: os.stat_result) -> SessionEntry | None:
    """Return what the head and the tail of a file say; None when it is no Pi session.

    A file that Pi named is listed even if its header is damaged: whoever opens it
    is told what is wrong with it.
    """
    size = status.st_size
    if not stat.S_ISREG(status.st_mode):
        return None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            head = os.pread(fd, HEAD_BYTES, 0)
            rest = os.pread(fd, TAIL_BYTES, max(HEAD_BYTES, size - TAIL_BYTES))
        finally:
            os.close(fd)
    except OSError as error:
        if is_shortage(error):
            raise
        return None
    header = header_in(head)
    if header is None and not (size and is_named(path.name)):
        return None
    # Either one piece, or two of which the second starts within a line.
    whole = size <= HEAD_BYTES + TAIL_BYTES
    names = _names(head + rest) if whole else chain(_names(rest), _names(head))
    more: dict[str, Any] = {}
    if header is not None:
        parent = parent_id(header.parent) if header.parent else None
        more = {"started": header.timestamp, "cwd": header.cwd, "parent": parent}
    return SessionEntry(
        host=HOST,
        id=header.id if header else id_in_name(path.name),
        file=path,
        name=next(names, None) or None,
        size=size,
        modified=status.st_mtime,
        added_words=ADDED_WORDS,
        **more,
    )


def _names(data: bytes) -> Iterator[str]:
    """Yield the names that the session was given, the latest first; empty for a cleared one."""
    end = len(data)
    while (found := data.rfind(_NAMING, 0, end)) >= 0:
        start = data.rfind(b"\n", 0, found) + 1
        stop = data.find(b"\n", found)
        end = start
        try:
            row = parse(data[start : stop if stop >= 0 else len(data)])
        except Unreadable:
            continue
        if isinstance(row, dict) and row.get("type") == "session_info":
            name = row.get("name")
            yield name.strip() if isinstance(name, str) else ""
