"""What a server was told at its start, and the call that it makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hindnote.core.calls import HostCall
from hindnote.hosts.mcp.plugin import HOST

if TYPE_CHECKING:
    from hindnote.core.plugins import Hosts


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for every call of one server."""

    directory: Path
    """Where the server was started: the calls' base directory, absolute."""

    agent: str | None = None
    model: str | None = None
    session_id: str | None = None
    """Names the session notes; None: the server has none."""

    history_of: str | None = None
    """Slug of the host whose sessions the history tools read; None: no current session."""

    session_file: Path | None = None
    """The session that is the current one, absolute."""


def notes_call(settings: Settings) -> HostCall:
    """Return the call in whose name the notes tools run."""
    return HostCall(
        host=HOST,
        session_id=settings.session_id,
        cwd=settings.directory,
        agent=settings.agent,
        model=settings.model,
    )


def history_call(settings: Settings, hosts: Hosts) -> HostCall:
    """Return the call in whose name the history tools run.

    It is bound to the host that is read. Without a session file the current session
    is that host's newest one in the server's directory, looked up for each call,
    since the program may begin another session while the server runs.

    Raises:
        HostFailure: The host that is read failed.
    """
    if settings.history_of is None:
        return notes_call(settings)
    call = HostCall(
        host=settings.history_of,
        session_file=settings.session_file,
        cwd=settings.directory,
        agent=settings.agent,
        model=settings.model,
    )
    if settings.session_file is not None:
        return call
    here = [
        entry
        for entry in hosts.sessions(call, settings.history_of)
        # A subagent's session runs within one that is listed too.
        if "/" not in entry.id and entry.cwd and Path(entry.cwd) == settings.directory
    ]
    newest = max(here, key=lambda entry: entry.modified, default=None)
    return call if newest is None else call.model_copy(update={"session_file": newest.file})
