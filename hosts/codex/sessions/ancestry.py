"""Find the sessions from which a session was forked, in the headers of rollouts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hindnote.hosting import Ancestor, Refused, known_instant
from hindnote.hosts.codex.format.header import Head
from hindnote.hosts.codex.sessions.lineage import DEEPEST, find, fork_of, read_head
from hindnote.hosts.codex.sessions.projection import id_in_name


def main_thread(file: Path) -> str | None:
    """Return the main thread of the session in a file; None when the file is not there yet."""
    head = _head(file)
    if head is not None:
        return head.main
    return id_in_name(file) if file.exists() else None


def ancestors_of(file: Path) -> Iterator[Ancestor]:
    """Yield the sessions that a session was forked from, the nearest first."""
    seen: set[str] = set()
    head = _head(file)
    while head is not None and len(seen) < DEEPEST:
        head = fork_of(file, head)
        if head.forked_from is None or head.thread in seen:
            return
        seen.add(head.thread)
        yield Ancestor(session_id=head.forked_from, forked=known_instant(head.started))
        found = find(file, head.forked_from)
        file, head = (file, None) if found is None else (found, _head(found))


def _head(file: Path) -> Head | None:
    try:
        return read_head(file)
    except Refused:
        return None
