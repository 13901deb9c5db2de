"""The ancestors of a forked session, whose notes it inherits; cached per transcript."""

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
"""Results that cannot change any more. A process serves only a few sessions."""


def session_and_ancestors(file: Path, call_id: str | None = None) -> Known:
    """Return the id of a transcript's main session, and the sessions it was forked from.

    Both are empty for a file that does not exist or cannot be read.

    Args:
        file: The transcript.
        call_id: The call that is being answered. Claude Code writes the first rows of a new
            session (in a fork these are the copied rows) shortly after its first call has begun.
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
    """Return whether a session that begins with messages is a fork without its own boot block.

    Claude Code writes a fork's transcript with its first answer, so a missing transcript means a
    fork; until then the id of its parent is unknown.

    Args:
        call: The call that requests the boot block.
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
