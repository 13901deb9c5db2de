"""What the head of a Pi session file says: its header row, and nothing behind it."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath

import msgspec
from msgspec import Struct

from hindnote.core.history.files import open_file
from hindnote.core.history.jsontext import Unreadable, parse
from hindnote.core.shortage import is_shortage
from hindnote.hosts.pi.session.rows import Header, header_of

HEAD_BYTES = 8192

_NAMED = re.compile(r"(?:^|[/\\])\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z_([^/\\]+?)(?:\.jsonl)?$")


def read_header(path: Path) -> Header | None:
    """Return a session file's header; None when there is no such file, or no header in it."""
    try:
        fd = open_file(path)
    except (OSError, ValueError) as error:
        if is_shortage(error):
            raise
        return None
    try:
        return header_in(os.pread(fd, HEAD_BYTES, 0))
    finally:
        os.close(fd)


class _Row(Struct, tag_field="type", tag="session"):
    id: str
    version: int = 1
    timestamp: str | None = None
    cwd: str | None = None
    parentSession: str | None = None


_decode = msgspec.json.Decoder(_Row).decode


def header_in(head: bytes) -> Header | None:
    """Return the header in the first bytes of a file; None when its first entry is none."""
    line = head[: head.find(b"\n") + 1] or head
    try:
        row = _decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return _picked_header(head)
    if not row.id:
        return None
    return Header(row.id, row.version, row.timestamp, row.cwd, row.parentSession)


def _picked_header(head: bytes) -> Header | None:
    """Return the header behind blank and malformed lines, or not as Pi writes it now."""
    for line in head.split(b"\n"):
        try:
            value = parse(line)
        except Unreadable:
            continue
        if not isinstance(value, dict) or value.get("type") != "session":
            return None
        return header_of(value)
    return None


def id_in_name(file: str) -> str:
    """Return the session id in a file name like ``<time>_<id>.jsonl``, else the bare name."""
    named = _NAMED.search(file)
    return named.group(1) if named else PurePath(file).name.removesuffix(".jsonl")


def is_named(file: str) -> bool:
    """Return whether a file is named the way Pi names its sessions."""
    return _NAMED.search(file) is not None


def parent_id(recorded: str) -> str:
    """Return the id of the session in a recorded file, which need not exist any more."""
    header = None if is_named(recorded) else read_header(Path(recorded))
    return header.id if header else id_in_name(recorded)
