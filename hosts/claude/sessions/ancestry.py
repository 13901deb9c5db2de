"""Whose notes the session of a fork inherits: its ancestors, remembered for each transcript."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hindnote.core.history.ends import last_lines_with, reader
from hindnote.core.history.files import open_file
from hindnote.core.history.times import known_instant
from hindnote.core.plugins.models import Ancestor
from hindnote.core.system.shortage import is_shortage
from hindnote.hosts.claude.format.header import read_header
from hindnote.hosts.claude.sessions.flush_wait import wait_for_call

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.plugins.models import HostCall
    from hindnote.hosts.claude.format.lineage import Origin

Known = tuple[str | None, tuple[Ancestor, ...]]

_KNOWN: dict[Path, Known] = {}
"""What cannot change any more. A process serves one session or a few."""


def session_and_ancestors(file: Path, call_id: str | None = None) -> Known:
    """Return the main session's id of a transcript, and the sessions that it was forked from.

    Both are empty for a file that is not there or cannot be read.

    Args:
        file: The transcript.
        call_id: The call that is answered. Claude Code writes a new session's first rows, the
            copied ones of a fork too, a moment after the first call has begun.
    """
    known = _KNOWN.get(file)
    if known is None:
        header = read_header(file)
        if call_id is not None and not header.is_final and file.exists():
            wait_for_call(file, call_id)
            header = read_header(file)
        known = header.session, tuple(map(_ancestor, header.origins))
        if header.is_final:
            _KNOWN[file] = known
    return known


def lacks_fork_block(call: HostCall) -> bool:
    """Return whether a session that begins with messages is a fork without a boot block of its own.

    Claude Code writes a fork's transcript with its first answer, so one that is not there is
    that of a fork; the id of its parent is not known until then.

    Args:
        call: The call with which the boot block is asked for.
    """
    if call.session_file is None or call.session_id is None:
        return False
    file = call.cwd / call.session_file
    try:
        handle = open_file(file)
    except (OSError, ValueError) as error:
        if is_shortage(error):
            raise
        return True
    try:
        mark = f"session {call.session_id}, agent".encode()
        blocks = last_lines_with(reader(handle), 0, os.fstat(handle).st_size, mark)
        return bool(session_and_ancestors(file)[1]) and next(blocks, None) is None
    finally:
        os.close(handle)


def _ancestor(origin: Origin) -> Ancestor:
    return Ancestor(session_id=origin.session, forked=known_instant(origin.forked))
