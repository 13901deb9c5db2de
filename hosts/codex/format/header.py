"""Read the header of a rollout: id, start, directory, origin of a fork, and name.

The catalogue and the decoder both use this module, so they always agree. The first row is a
``session_meta``; a fork in the older format also contains its parent's, after its own. A thread's
name is in ``session_index.jsonl`` in Codex's home; the last line with its id counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct

from hindnote.hosting import (
    Unreadable,
    accepted,
    clean,
    first_lines,
    first_words,
    nonempty,
    open_file,
    parse,
    shaped,
)
from hindnote.hosts.codex.format.kinds import META, USER, said_by_user
from hindnote.hosts.codex.format.rows import read_row

Read: TypeAlias = Callable[[int, int], bytes]
"""Returns the bytes at an offset; fewer at the end of the file."""

HEADER_WITHIN = 1 << 22
"""Number of bytes at the beginning of a file in which the header must end. The header contains the
system prompt."""

PROMPT_WITHIN = 1 << 18
"""Number of bytes after the header in which the catalogue looks for the first prompt."""

INDEX = "session_index.jsonl"
INDEX_WITHIN = 1 << 26
"""Maximum number of bytes that are read of ``session_index.jsonl``."""


class Base(Struct, frozen=True):
    """The part of another file that comes before a file's first row."""

    rollout: str
    """Id in the name of that file."""

    end: int
    """Number of bytes of that file, unpacked, that belong to the history."""


class Head(Struct, frozen=True):
    """The header of a rollout."""

    thread: str
    main: str
    """Id of a subagent's main thread; for any other thread its own id."""

    started: str | None = None
    cwd: str | None = None
    forked_from: str | None = None
    base: Base | None = None

    @property
    def session(self) -> str:
        """The session's id; a subagent's is ``<main session id>/<thread id>``."""
        return self.thread if self.main == self.thread else f"{self.main}/{self.thread}"

    @property
    def parent(self) -> str | None:
        """Id of the session that it was forked from, or of a subagent's main session."""
        return self.forked_from if self.main == self.thread else self.main


def head_of(line: bytes) -> Head | None:
    """Return the header on a line; None when the line is not a header."""
    if b'"session_meta"' not in line:
        return None
    try:
        row = accepted(line, _Row)
    except (msgspec.MsgspecError, RecursionError):
        return None
    payload = (shaped(row.payload, _Meta) if row.type == META else None) or _Meta()
    if not (thread := nonempty(payload.id)):
        return None
    sent_by = nonempty(payload.parent_thread_id) or _sender(payload.source)
    main = nonempty(payload.session_id) or sent_by
    forked = nonempty(payload.forked_from_id)
    return Head(
        thread,
        main if main and sent_by else thread,
        nonempty(payload.timestamp),
        nonempty(payload.cwd),
        None if forked == thread else forked,
        _base(payload.history_base),
    )


class _Row(Struct):
    type: Any = None
    payload: Raw = Raw()


class _Meta(Struct):
    """Fields accept any type. Other fields, such as the system prompt, are not decoded."""

    id: Any = None
    session_id: Any = None
    parent_thread_id: Any = None
    forked_from_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    source: Any = None
    history_base: Any = None


def _base(value: Any) -> Base | None:
    if not isinstance(value, dict):
        return None
    rollout, end = _text(value, "thread_id"), value.get("end_byte_offset")
    return Base(rollout, end) if rollout and isinstance(end, int) and end >= 0 else None


def _sender(source: Any) -> str | None:
    """Return the thread that started a subagent, as written before ``parent_thread_id``."""
    for key in ("subagent", "thread_spawn"):
        source = source.get(key) if isinstance(source, dict) else None
    return _text(source, "parent_thread_id") if isinstance(source, dict) else None


def _text(value: dict[str, Any], key: str) -> str | None:
    return nonempty(value.get(key))


def find_head(read: Read, size: int) -> Head | None:
    """Return the header of a file; None when its first row is not a header.

    Args:
        read: Reads the file, unpacked.
        size: Bytes of the file, unpacked.
    """
    for line in first_lines(read, size, HEADER_WITHIN):
        if not line.isspace():
            return head_of(line)
    return None


def find_head_and_prompt(read: Read, size: int) -> tuple[Head | None, str | None]:
    """Return the header of a file and the beginning of its first prompt.

    None in place of a header that is not in the first row, and of a prompt that is not near it.
    """
    head: Head | None = None
    seen, first = 0, True
    for line in first_lines(read, size, HEADER_WITHIN):
        if first and not line.isspace():
            head, first = head_of(line), False
        elif b'"session_meta"' not in line:
            seen += len(line)
            if (words := _prompt_on(line)) is not None:
                return head, words
        if seen > PROMPT_WITHIN:
            break
    return head, None


def _prompt_on(line: bytes) -> str | None:
    if b'"user"' not in line or b'"message"' not in line:
        return None
    try:
        payload = read_row(line).payload
    except Unreadable:
        return None
    if payload.role != "user" or payload.type != "message" or said_by_user(payload) != USER:
        return None
    try:
        return first_words(clean(_spoken(parse(bytes(payload.content)))))
    except Unreadable:
        return None


def _spoken(content: Any) -> str:
    """Return a person's text, without the marks that Codex puts around images."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(
        text
        for text in texts
        if isinstance(text, str) and not text.startswith(("<image ", "<image>", "</image>"))
    )


class Names:
    """The names of threads, by Codex's home. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[Path, tuple[tuple[int, int, int], dict[str, str]]] = {}

    def of(self, home: Path | None, thread: str) -> str | None:
        """Return a thread's name; None when it has none."""
        return self.all(home).get(thread)

    def all(self, home: Path | None) -> dict[str, str]:
        """Return the names of all threads of a home, by thread."""
        return self._read(home / INDEX) if home is not None else {}

    def _read(self, file: Path) -> dict[str, str]:
        with self._lock:
            try:
                status = file.stat()
                stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
                held = self._known.get(file)
                if held is not None and held[0] == stamp:
                    return held[1]
                with os.fdopen(open_file(file), "rb") as opened:
                    found = _names(opened.read(INDEX_WITHIN))
            except OSError:
                return {}
            self._known[file] = (stamp, found)
            return found


def _names(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in data.splitlines():
        try:
            row = parse(line)
        except Unreadable:
            continue
        if isinstance(row, dict) and (thread := _text(row, "id")):
            name = (_text(row, "thread_name") or "").strip()
            found[thread] = name
    return {thread: name for thread, name in found.items() if name}
