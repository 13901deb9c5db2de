"""What a server was told at its start and with each call, and the core's call that it makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hindnote.core.places.home import NotesHome
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.core.plugins.models import HostCall, SessionEntry

HOST = "mcp"
"""The slug of this host."""

_LONGEST = 256
"""Characters of a name that a program gives, at most."""


class Settings(NamedTuple):
    """What holds for every call of one server."""

    directory: Path
    """``--cwd``, else where the server was started: the calls' base directory, absolute."""

    home: Path | NotesHome
    """The notes home; a path is absolute, and its caller answers for it."""

    fixed: bool = False
    """Whether the person named the directory, so that a program's roots do not."""

    agent: str | None = None
    model: str | None = None
    session_id: str | None = None
    """Names the session notes; None: the program's own session, where it tells of one."""

    history_of: str | None = None
    """Slug of the host whose sessions the history tools read; None: no current session."""

    session_file: Path | None = None
    """The session that is the current one, absolute."""


class Caller(NamedTuple):
    """What a program tells of itself with one call."""

    session_id: str | None = None
    """The main session, to which the notes belong."""

    thread_id: str | None = None
    """The session that calls: the main one, or a subagent's."""

    call_id: str | None = None
    model: str | None = None


def caller(meta: Any) -> Caller:
    """Return who calls, by a request's ``_meta``.

    Codex (0.171) writes ``sessionId``, ``threadId``, ``callId`` and, below
    ``x-codex-turn-metadata``, ``model``. Other programs tell nothing of this.
    """
    if not isinstance(meta, dict):
        return Caller()
    turn = meta.get("x-codex-turn-metadata")
    model = turn.get("model") if isinstance(turn, dict) else None
    session, thread = _name(meta.get("sessionId")), _name(meta.get("threadId"))
    return Caller(session or thread, thread or session, _name(meta.get("callId")), _name(model))


def _name(value: Any) -> str | None:
    if not isinstance(value, str) or not value or len(value) > _LONGEST:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def notes_call(settings: Settings, by: Caller, directory: Path) -> HostCall:
    """Return the call in whose name the notes tools run."""
    from hindnote.core.plugins.models import HostCall

    return HostCall(
        host=HOST,
        session_id=settings.session_id or by.session_id,
        call_id=by.call_id,
        cwd=directory,
        agent=settings.agent,
        model=settings.model or by.model,
    )


def history_call(settings: Settings, by: Caller, directory: Path, hosts: Hosts) -> HostCall:
    """Return the call in whose name the history tools run.

    It is bound to the host that is read. The current session is the file of the options,
    else the one that the program names, else that host's newest in the directory; it is
    looked up for each call, since the program may begin another while the server runs.

    Raises:
        HostFailure: The host that is read failed.
    """
    call = notes_call(settings, by, directory)
    if settings.history_of is None:
        return call
    call = call.model_copy(update={"host": settings.history_of, "session_id": by.thread_id})
    if settings.session_file is not None:
        # Whatever the program calls its session: the person named this one.
        return call.model_copy(update={"session_file": settings.session_file, "session_id": None})
    sessions = hosts.sessions(call, settings.history_of)
    if by.thread_id is not None:
        entry = next((one for one in sessions if _is(one, by.thread_id)), None)
    else:
        here = (one for one in sessions if _runs_in(one, directory))
        entry = max(here, key=lambda one: one.modified, default=None)
    return call if entry is None else call.model_copy(update={"session_file": entry.file})


def _is(entry: SessionEntry, thread: str) -> bool:
    # A subagent's session is listed below its main one.
    return entry.id == thread or entry.id.endswith(f"/{thread}")


def _runs_in(entry: SessionEntry, directory: Path) -> bool:
    return "/" not in entry.id and bool(entry.cwd) and Path(entry.cwd or "") == directory
