"""The host plugin: answers to the five questions of hindnote's contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindnote.hosting import (
    Ancestor,
    Decoration,
    HostCall,
    HostIdentity,
    SessionEntry,
    Unreadable,
    hookimpl,
    parse,
    recorded,
)

if TYPE_CHECKING:
    from hindnote.hosting import Projection

SLUG = "logbook"
HEAD_LIMIT = 1 << 20
"""Bytes of a first line, at most; a file with a longer one is no logbook."""

MOST_FORKS = 100
"""Logbooks that a fork descends from, at most; two broken ones may name each other."""


@hookimpl
def host_base_cwd(call: HostCall) -> Path | None:
    return call.cwd


@hookimpl
def host_identity(call: HostCall) -> HostIdentity | None:
    head = first_line(call.session_file) if call.session_file else {}
    return HostIdentity(
        host=SLUG,
        session_id=call.session_id or _id(head),
        agent=call.agent or "logbook",
        model=call.model or "default",
        ancestors=tuple(_ancestors(call, head)),
    )


@hookimpl
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    from logbook.session import open_logbook

    file = session.file if session else call.session_file
    if file and call.agent_id and not session:
        # A mate, whom the logbook's agent sent: its log lies beside the main one.
        file = file.with_suffix(f".{call.agent_id}.log")
    return open_logbook(file) if file else None


@hookimpl
def host_sessions(call: HostCall) -> Iterable[SessionEntry]:
    entries = [entry for file in _folder(call).glob("*.log") if (entry := _entry(file))]
    return sorted(entries, key=lambda entry: entry.modified, reverse=True)


@hookimpl
def host_decoration(operation: str) -> Decoration | None:
    return Decoration(suffix="\n-- from the logbook")


def first_line(file: Path) -> dict[str, Any]:
    """Return what the first line of a logbook says, empty when it says nothing."""
    try:
        with file.open("rb") as lines:
            row = parse(lines.readline(HEAD_LIMIT))
    except (OSError, Unreadable):
        return {}
    return row if isinstance(row, dict) and "logbook" in row else {}


def _id(head: dict[str, Any]) -> str | None:
    named = head.get("id")
    return named if isinstance(named, str) and named else None


def _ancestors(call: HostCall, head: dict[str, Any]) -> Iterator[Ancestor]:
    """Yield the logbooks that a fork descends from, the nearest first."""
    for _ in range(MOST_FORKS):
        parent = head.get("parent")
        if not isinstance(parent, str) or Path(parent).name != parent:
            return
        yield Ancestor(session_id=parent)
        head = first_line(_folder(call) / f"{parent}.log")


def _folder(call: HostCall) -> Path:
    # A call of another host says nothing of where our sessions lie.
    if call.host == SLUG and call.session_file:
        return call.session_file.parent
    return Path.home() / ".logbook"


def _entry(file: Path) -> SessionEntry | None:
    """Return a session's facts; None for a file that is gone, broken or no logbook."""
    head = first_line(file)
    named, cwd, parent = _id(head), head.get("cwd"), head.get("parent")
    if named is None:
        return None
    try:
        status = file.stat()
    except OSError:
        return None
    return SessionEntry(
        host=SLUG,
        id=named,
        file=file,
        started=recorded(head.get("started")),
        cwd=cwd if isinstance(cwd, str) else None,
        parent=parent if isinstance(parent, str) else None,
        size=status.st_size,
        modified=status.st_mtime,
    )
