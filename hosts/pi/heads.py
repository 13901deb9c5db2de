"""What the head of a Pi session file says: its header row, and nothing behind it."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePath

from hindnote.core.history.jsontext import Unreadable, parse
from hindnote.hosts.pi.rows import Header, header_of

HEAD_BYTES = 8192


def read_header(path: Path) -> Header | None:
    """Return a session file's header; None when there is no such file, or no header in it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        return header_in(os.pread(fd, HEAD_BYTES, 0))
    finally:
        os.close(fd)


def header_in(head: bytes) -> Header | None:
    """Return the header in the first bytes of a file; None when its first line is none."""
    line = head.lstrip().split(b"\n", 1)[0]
    try:
        value = parse(line)
    except Unreadable:
        return None
    if not isinstance(value, dict) or value.get("type") != "session":
        return None
    return header_of(value)


def id_in_name(file: str) -> str:
    """Return the session id in a file name like ``<time>_<id>.jsonl``, else the bare name."""
    stem = PurePath(file).name.removesuffix(".jsonl")
    return stem.split("_", 1)[1] if "_" in stem[:-1] else stem
