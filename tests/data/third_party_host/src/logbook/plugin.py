"""The host plugin: answers to the five questions of hindnote's contract."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindnote import Decoration, HostCall, HostIdentity, SessionEntry, hookimpl

if TYPE_CHECKING:
    from hindnote.core.history.projection import Projection

SLUG = "logbook"
HEAD_BYTES = 8_192


@hookimpl
def host_base_cwd(call: HostCall) -> Path | None:
    return call.cwd


@hookimpl
def host_identity(call: HostCall) -> HostIdentity | None:
    head = first_line(call.session_file) if call.session_file else {}
    return HostIdentity(
        host=SLUG,
        session_id=call.session_id or head.get("id"),
        agent=call.agent or "logbook",
        model=call.model or "default",
    )


@hookimpl
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    from logbook.session import open_logbook

    file = session.file if session else call.session_file
    return open_logbook(file) if file else None


@hookimpl
def host_sessions(call: HostCall) -> Iterable[SessionEntry]:
    folder = _folder(call)
    files = sorted(folder.glob("*.log"), key=lambda file: file.stat().st_mtime, reverse=True)
    return [_entry(file) for file in files if "logbook" in first_line(file)]


@hookimpl
def host_decoration(operation: str) -> Decoration | None:
    return Decoration(suffix="\n-- from the logbook")


def first_line(file: Path) -> dict[str, Any]:
    """Return what the first line of a logbook says, empty when it says nothing."""
    try:
        with file.open("rb") as lines:
            row = json.loads(lines.readline(HEAD_BYTES))
    except (OSError, ValueError):
        return {}
    return row if isinstance(row, dict) else {}


def _folder(call: HostCall) -> Path:
    # A call of another host says nothing of where our sessions lie.
    if call.host == SLUG and call.session_file:
        return call.session_file.parent
    return Path.home() / ".logbook"


def _entry(file: Path) -> SessionEntry:
    head, status = first_line(file), file.stat()
    return SessionEntry(
        host=SLUG,
        id=str(head["id"]),
        file=file,
        started=head.get("started"),
        cwd=head.get("cwd"),
        size=status.st_size,
        modified=status.st_mtime,
    )
