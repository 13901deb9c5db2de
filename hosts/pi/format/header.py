"""The header of a Pi session: its id, start, directory, parent and name.

The catalogue and the decoder both use this module, so they always agree. Pi writes a ``session``
row first; forks of Pi write other rows before it. A ``session_info`` row names the session, and
the last one in the file is valid.
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
from hindnote.core.history.jsontext import Unreadable, decoded_by, parse
from hindnote.core.system.shortage import is_shortage
from hindnote.core.text import clean
from hindnote.core.text.messages import first_words

VERSIONS = range(1, 4)
"""Known versions of the format; Pi 1.5 writes the last one."""

HEADER_WITHIN = 1 << 20
"""Number of bytes at the beginning of a file within which its header must end."""

PROMPT_WITHIN = 1 << 18
"""Number of bytes at the beginning of a file that a catalogue searches for the first prompt."""

NAME_WITHIN = 1 << 28
"""Number of bytes at the end of a file that a catalogue searches for the session's name."""

_NAMED = re.compile(r"(?:^|[/\\])\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:-\d+)?Z?_([^/\\]+?)(?:\.jsonl)?$")
_HEADER = b'"session"'
_NAMING = b'"session_info"'
# Quotes inside a JSON string are escaped, so neither can match inside one.


class Header(Struct):
    """The header row of a session file."""

    id: str
    version: int = 1
    timestamp: str | None = None
    cwd: str | None = None
    parent: str | None = None
    """Path of the session file from which it was forked, as recorded."""


def header_of(value: dict[str, Any]) -> Header | None:
    """Return the header in a parsed row; None when the row has no session id."""
    id_ = value.get("id")
    if not isinstance(id_, str) or not id_:
        return None
    version = value.get("version", 1)
    return Header(
        id_,
        version if isinstance(version, int) else 0,
        _text(value, "timestamp"),
        _text(value, "cwd"),
        # Session versions before 3 called it branchedFrom.
        _text(value, "parentSession") or _text(value, "branchedFrom"),
    )


def _text(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def read_header(path: Path) -> Header | None:
    """Return a session file's header; None when the file or its header does not exist."""
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
    """Return the first header row of a file; other rows may be before it.

    Args:
        read: Reads the file.
        size: Size of the file in bytes.
    """
    for line in first_lines(read, size, HEADER_WITHIN):
        if _HEADER in line and (header := _header_on(line)) is not None:
            return header
    return None


class _HeaderRow(Struct, tag_field="type", tag="session", forbid_unknown_fields=True):
    """A header as Pi writes it now; any other is parsed as plain JSON."""

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
    """Return the session's last name; empty when the name was removed.

    Args:
        read: Reads the file.
        start: Offset at which the search ends: the beginning of a line.
        size: Size of the file in bytes.

    Returns:
        None when no row after ``start`` names the session.
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


def find_start(read: Read, size: int) -> tuple[Header | None, str | None]:
    """Return a file's header and the beginning of its first prompt; None for what is not found.

    Args:
        read: Reads the file.
        size: Size of the file in bytes.
    """
    header: Header | None = None
    prompt: str | None = None
    passed = 0
    for line in first_lines(read, size, HEADER_WITHIN):
        passed += len(line)
        if header is None and _HEADER in line:
            header = _header_on(line)
        if prompt is None and passed <= PROMPT_WITHIN and b'"user"' in line:
            prompt = _prompt_on(line)
        if header is not None and (prompt is not None or passed > PROMPT_WITHIN):
            break
    return header, prompt


def _prompt_on(line: bytes) -> str | None:
    row = _prompting(line)
    if row is None or row.message.role != "user":
        return None
    return first_words(_words(row.message.content))


class _Message(Struct):
    """Fields accept any type: a value of the wrong type is ignored instead of raising an error."""

    role: Any = None
    content: Any = None


class _MessageRow(Struct):
    message: _Message


_decode_message = msgspec.json.Decoder(_MessageRow).decode


def _prompting(line: bytes) -> _MessageRow | None:
    """Return the message on a line; None for any other line, also one nested too deeply."""
    # Not every nesting is checked, as only the first words of a text are taken.
    return decoded_by(_decode_message, line)


def _words(content: Any) -> str:
    """Return the text of a prompt, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def id_in_name(file: str) -> str:
    """Return the session id in a file name like ``<time>_<id>.jsonl``; else the name's stem."""
    named = _NAMED.search(file)
    # A file name need not be valid Unicode.
    return clean(named.group(1) if named else PurePath(file).name.removesuffix(".jsonl"))


def is_named(file: str) -> bool:
    """Return whether a file name has the form that Pi uses for sessions."""
    return _NAMED.search(file) is not None


def parent_id(recorded: str, child: Path) -> str:
    """Return the id of the session from which another one was forked.

    Args:
        recorded: The parent's path in the child's header. The file need not exist any more.
        child: The child's file. If both files were moved, the parent is searched for next to it.
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
    """Yield the sessions from which a session was forked, nearest first.

    A session named in a header is yielded even if its file was deleted; then its own ancestors are
    unknown.

    Args:
        file: The session's file, which need not exist.
        header: Its header; None when it has none.

    Yields:
        Id of a session, and recorded time at which the fork of it was made.
    """
    seen = set()
    while header is not None and header.parent and header.id not in seen:
        seen.add(header.id)
        found = _parent(header.parent, file)
        yield (id_in_name(header.parent) if found is None else found[1].id), header.timestamp
        file, header = found or (file, None)
