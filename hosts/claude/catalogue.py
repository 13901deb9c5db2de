"""Which Claude Code sessions there are, from the heads and tails of their files.

What was learnt of a file is remembered as long as its size, time and inode stay the
same. Nothing but facts about files is kept, and no whole file is ever read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct

from hindnote.core.calls import SessionEntry
from hindnote.core.history.filelooks import entries
from hindnote.core.history.files import is_folder, read_file, scan_folder
from hindnote.core.history.jsontext import mend
from hindnote.core.shortage import is_shortage
from hindnote.hosts.claude.layout import HOST, config_dir
from hindnote.hosts.claude.transcript.facts import ADDED_WORDS

if TYPE_CHECKING:
    from hindnote.core.calls import HostCall
    from hindnote.core.history.filefacts import FileFacts, Stamp

HEAD_BYTES = 8192
TAIL_BYTES = HEAD_BYTES
COPIED_BYTES = 1 << 18
"""Bytes behind the head in which a copy is asked where it came from."""

SUBAGENTS = "subagents"

# A quote within a text is escaped, so this never matches inside of one.
_ORIGIN = re.compile(rb'"(?:requestSessionId|forkedFrom":\{"sessionId)":"([^"\\]+)"')

FORM = "claude-session-1"
"""The form of a session's facts in the cache."""


class _File(NamedTuple):
    """A session file as a folder lists it."""

    folder: str
    name: str
    path: str
    status: os.stat_result
    stamp: Stamp


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
        """Return the sessions of a call's host, newest first; what cannot be read is left out."""
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
                new.append(_File(folder, listed.name, listed.path, status, stamp))
        folders: dict[str, Path] = {}

        def looked(file: _File) -> SessionEntry | None:
            # A Path made of a folder's costs half of one made of a text.
            folder = folders.get(file.folder) or folders.setdefault(file.folder, Path(file.folder))
            return look(file.path, folder / file.name, file.status)

        learnt = entries(new, looked, self._facts)
        for file, entry in zip(new, learnt, strict=True):
            self._known[file.path] = (file.stamp, entry)
        return found + learnt


def _folders(call: HostCall) -> Iterator[str]:
    """Yield the folders that hold sessions: one for each directory that the host ran in."""
    for entry in scan_folder(str(config_dir(call) / "projects")):
        if is_folder(entry):
            yield entry.path
    if call.host == HOST and call.session_file is not None:
        folder = (call.cwd / call.session_file).parent
        yield str(folder.parent.parent if folder.name == SUBAGENTS else folder)


def _files(folders: Iterable[str]) -> Iterator[tuple[str, os.DirEntry[str], os.stat_result]]:
    """Yield the folder, entry and status of each session file, once: subagents' as well."""
    seen: set[tuple[int, int]] = set()
    for folder in folders:
        for entry in scan_folder(folder):
            holder, inner = folder, [entry]
            if not entry.name.endswith(".jsonl"):
                holder = f"{entry.path}/{SUBAGENTS}"
                inner = scan_folder(holder) if is_folder(entry) else []
            for file in inner:
                status = _status(file)
                if status is not None and (status.st_dev, status.st_ino) not in seen:
                    seen.add((status.st_dev, status.st_ino))
                    yield holder, file, status


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


class _Row(Struct, rename="camel"):
    """Fields are loosely typed: what has the wrong type is left out, never an error."""

    type: Any = None
    uuid: Any = None
    is_sidechain: Any = None
    session_id: Any = None
    agent_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    custom_title: Any = None
    summary: Any = None


_decode = msgspec.json.Decoder(_Row).decode


def look(path: str, file: Path, status: os.stat_result) -> SessionEntry | None:
    """Return what the head and the tail of a file say; None when it is no session.

    Args:
        path: Where the file lies, as the folder lists it; what is opened.
        file: The same, for the entry to keep: to make a ``Path`` is dear.
        status: The file's status.
    """
    size = status.st_size
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            head = os.pread(fd, HEAD_BYTES, 0)
            tail = os.pread(fd, TAIL_BYTES, max(HEAD_BYTES, size - TAIL_BYTES))
            facts = _Facts()
            facts.gather(head)
            facts.gather(tail)
            behind = os.pread(fd, COPIED_BYTES, HEAD_BYTES) if facts.is_copy else b""
        finally:
            os.close(fd)
    except OSError as error:
        if is_shortage(error):
            raise
        return None
    main, agent = facts.session_id, facts.agent_id
    if not main:
        return None
    return SessionEntry(
        host=HOST,
        id=f"{main}/{agent}" if agent else main,
        file=file,
        started=facts.started,
        cwd=facts.cwd,
        parent=main if agent else _origin(main, head + behind, facts.is_copy),
        name=_task(file) if agent else _name(head, tail),
        size=size,
        modified=status.st_mtime,
        added_words=ADDED_WORDS,
    )


class _Facts:
    """What the first rows that say anything say."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.agent_id: str | None = None
        self.started: str | None = None
        self.cwd: str | None = None
        self.is_copy = False
        """The conversation is older than the file: it may have been copied from another."""
        self._conversed = False

    def gather(self, data: bytes) -> None:
        """Take in the lines of a piece of the file, until nothing is missing.

        A line that is cut at an end of the piece is no JSON and says nothing.
        """
        start = 0
        while start < len(data) and not (self.session_id and self.started and self.cwd):
            end = data.find(b"\n", start)
            row = _read(data[start : end if end >= 0 else len(data)])
            if row is not None:
                self._take(row)
            start = end + 1 if end >= 0 else len(data)

    def _take(self, row: _Row) -> None:
        self.session_id = self.session_id or _text(row.session_id)
        self.cwd = self.cwd or _text(row.cwd)
        time = _text(row.timestamp)
        if not self._conversed and _text(row.uuid):
            self._conversed = True
            self.is_copy = bool(time and self.started and time < self.started)
            if row.is_sidechain is True:
                self.agent_id = _text(row.agent_id)
        self.started = self.started or time


def _read(line: bytes) -> _Row | None:
    try:
        return _decode(line)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        return _decode(mend(line))
    except (msgspec.MsgspecError, RecursionError):
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _origin(session_id: str, data: bytes, is_copy: bool) -> str | None:
    """Return the id of the session from which rows were copied, where they say so."""
    # To look for a word costs as much as to read the file, so there has to be a hint.
    if not is_copy and data.rfind(b'"forkedFrom"') < 0:
        return None
    for found in _ORIGIN.finditer(data):
        named = found.group(1).decode("utf-8", "replace")
        if named != session_id:
            return named
    return None


def _name(head: bytes, tail: bytes) -> str | None:
    """Return the name that the person gave the session, else an older version's summary."""
    named = _said(tail, "custom-title", "custom_title") or _said(
        head, "custom-title", "custom_title"
    )
    if named is None and head.startswith(b'{"type":"summary"'):
        return _said(head, "summary", "summary")
    return named


def _said(data: bytes, type_: str, field: str) -> str | None:
    """Return what the last row of a type says in a field."""
    mark, end = f'"{type_}"'.encode(), len(data)
    while (found := data.rfind(mark, 0, end)) >= 0:
        end = found
        start, stop = data.rfind(b"\n", 0, found) + 1, data.find(b"\n", found)
        row = _read(data[start : stop if stop >= 0 else len(data)])
        if row is not None and row.type == type_:
            return _text(getattr(row, field))
    return None


def _task(file: Path) -> str | None:
    """Return how the main agent described a subagent's task."""
    try:
        found = msgspec.json.decode(read_file(file.with_suffix(".meta.json")))
    except (OSError, ValueError, RecursionError) as error:
        if is_shortage(error):
            raise
        return None
    return _text(found.get("description")) if isinstance(found, dict) else None
