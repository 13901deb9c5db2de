"""What a Pi session says of itself: id, start, directory, parent and name.

The catalogue and the decoder both ask here, so that they cannot disagree. Pi writes a
``session`` row first; forks of Pi put rows of their own before it. A ``session_info`` row
names the session, and the last one of the file counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import msgspec
from msgspec import Struct

from hindnote.core.history.ends import Read, first_lines, last_lines_with, reader
from hindnote.core.history.files import open_file
from hindnote.core.history.jsontext import Unreadable, parse
from hindnote.core.system.shortage import is_shortage
from hindnote.core.text import clean
from hindnote.core.text.messages import first_words

VERSIONS = range(1, 4)
"""Versions of the format that are known; Pi 1.5 writes the last one."""

HEADER_WITHIN = 1 << 20
"""Bytes at the beginning of a file within which its header has to end."""

PROMPT_WITHIN = 1 << 18
"""Bytes at the beginning of a file among which a catalogue looks for the first prompt."""

NAME_WITHIN = 1 << 28
"""Bytes at the end of a file among which a catalogue looks for the session's name."""

_NAMED = re.compile(r"(?:^|[/\\])\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:-\d+)?Z?_([^/\\]+?)(?:\.jsonl)?$")
_HEADER = b'"session"'
_NAMING = b'"session_info"'
# A quote within a text is escaped, so neither is ever found inside of one.


class Header(Struct):
    """The header row of a session file."""

    id: str
    version: int = 1
    timestamp: str | None = None
    cwd: str | None = None
    parent: str | None = None
    """The file that the session was forked from, as recorded."""


def header_of(value: dict[str, Any]) -> Header | None:
    """Return a parsed header row; None when it names no session."""
    id_ = value.get("id")
    if not isinstance(id_, str) or not id_:
        return None
    version = value.get("version", 1)
    return Header(
        id_,
        version if isinstance(version, int) else 0,
        _text(value, "timestamp"),
        _text(value, "cwd"),
        # Versions before 3 called it branchedFrom.
        _text(value, "parentSession") or _text(value, "branchedFrom"),
    )


def _text(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def read_header(path: Path) -> Header | None:
    """Return a session file's header; None when there is no such file, or no header in it."""
    try:
        handle = open_file(path)
    except (OSError, ValueError) as error:
        if is_shortage(error):
            raise
        return None
    try:
        return find_header(reader(handle), os.fstat(handle).st_size)
    except OSError:
        return None
    finally:
        os.close(handle)


def find_header(read: Read, size: int) -> Header | None:
    """Return the first header row of a file, behind whatever else stands before it.

    Args:
        read: Reads the file.
        size: Bytes of the file.
    """
    for line in first_lines(read, size, HEADER_WITHIN):
        if _HEADER in line and (header := _header_on(line)) is not None:
            return header
    return None


class _HeaderRow(Struct, tag_field="type", tag="session", forbid_unknown_fields=True):
    """A header as Pi writes it now; any other is read as plain JSON, with care."""

    id: str
    version: int = 1
    timestamp: str | None = None
    cwd: str | None = None
    parentSession: str | None = None


_decode = msgspec.json.Decoder(_HeaderRow).decode


def _header_on(line: bytes) -> Header | None:
    try:
        row = _decode(line)
    except (msgspec.MsgspecError, RecursionError):
        pass
    else:
        fields = row.timestamp or None, row.cwd or None, row.parentSession or None
        return Header(row.id, row.version, *fields) if row.id else None
    try:
        value = parse(line)
    except Unreadable:
        return None
    is_header = isinstance(value, dict) and value.get("type") == "session"
    return header_of(value) if is_header else None


def find_name(read: Read, start: int, size: int) -> str | None:
    """Return the name that a session was given last; empty when that one took it away.

    Args:
        read: Reads the file.
        start: Where to begin to look, at the beginning of a line.
        size: Bytes of the file.

    Returns:
        None when nothing behind ``start`` names the session.
    """
    start = max(start, size - NAME_WITHIN)
    for line in last_lines_with(read, start, size, _NAMING):
        try:
            value = parse(line)
        except Unreadable:
            continue
        if isinstance(value, dict) and value.get("type") == "session_info":
            name = value.get("name")
            return name.strip() if isinstance(name, str) else ""
    return None


def find_prompt(read: Read, size: int) -> str | None:
    """Return how the first prompt of a file begins; None when it is not near the beginning.

    Args:
        read: Reads the file.
        size: Bytes of the file.
    """
    for line in first_lines(read, size, PROMPT_WITHIN):
        if b'"user"' not in line:
            continue
        try:
            value = parse(line)
        except Unreadable:
            continue
        message = value.get("message") if isinstance(value, dict) else None
        if not isinstance(message, dict) or message.get("role") != "user":
            continue
        if words := first_words(clean(_words(message.get("content")))):
            return words
    return None


def _words(content: Any) -> str:
    """Return the text of a prompt: a string, or text among other blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def id_in_name(file: str) -> str:
    """Return the session id in a file name like ``<time>_<id>.jsonl``, else the bare name."""
    named = _NAMED.search(file)
    # A name need not be text.
    return clean(named.group(1) if named else PurePath(file).name.removesuffix(".jsonl"))


def is_named(file: str) -> bool:
    """Return whether a file is named the way Pi names its sessions."""
    return _NAMED.search(file) is not None


def parent_id(recorded: str, child: Path) -> str:
    """Return the id of the session that another one was forked from.

    Args:
        recorded: The parent's file as the child's header names it. It need not exist any more.
        child: The child's file. When the folder of both was moved, the parent lies beside it.
    """
    found = _parent(recorded, child)
    return id_in_name(recorded) if found is None else found[1].id


def _parent(recorded: str, child: Path) -> tuple[Path, Header] | None:
    name = re.split(r"[/\\]", recorded)[-1]
    for file in (child.parent / recorded, child.parent / name):
        header = read_header(file) if name else None
        if header is not None:
            return file, header
    return None


def ancestors(file: Path, header: Header | None) -> Iterator[tuple[str, str | None]]:
    """Yield the sessions that a session was forked from, the nearest first.

    What a header names is yielded though its file is gone; what that file's own header named
    cannot be known any more.

    Args:
        file: Where the session lies, or would.
        header: Its header; None when it has none.

    Yields:
        The id of a session, and the time at which its fork was made, as recorded.
    """
    seen = set()
    while header is not None and header.parent and header.id not in seen:
        seen.add(header.id)
        found = _parent(header.parent, file)
        yield (id_in_name(header.parent) if found is None else found[1].id), header.timestamp
        file, header = found or (file, None)
