"""A server's settings, the data that a program sends with each call, and the call made of both."""

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
"""Maximum length of a name that a program sends, in characters."""


class Settings(NamedTuple):
    """The settings for all calls of one server."""

    directory: Path
    """``--cwd``, or else the directory in which the server was started, absolute: the base
    directory."""

    home: Path | NotesHome
    """The notes home; a plain path is absolute, and counts as set by the caller."""

    fixed: bool = False
    """Whether ``--cwd`` was given; then the program's roots are not used."""

    agent: str | None = None
    model: str | None = None
    session_id: str | None = None
    """Session of the notes; None: the program's own session, if the program sends its id."""

    host: str | None = None
    """Slug of the host whose agent starts the server: every call is one of that host. None: of
    this one, which knows nothing of its program."""

    history_of: str | None = None
    """Slug of the host whose sessions the history tools read; None: no current session."""

    session_file: Path | None = None
    """File of the current session, absolute."""

    project_tools: bool = False
    """Whether the project tools are offered beside the seven."""


class Caller(NamedTuple):
    """The data about itself that a program sends with one call."""

    session_id: str | None = None
    """Id of the main session, to which the notes belong."""

    thread_id: str | None = None
    """Id of the calling session: the main one or a subagent's."""

    call_id: str | None = None
    model: str | None = None


def caller(meta: Any) -> Caller:
    """Return the caller, from a request's ``_meta``.

    Codex (0.171) writes ``sessionId``, ``threadId``, ``callId`` and, below
    ``x-codex-turn-metadata``, ``model``. Other programs send none of these.
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
    """Return the call for the notes tools; for history too, where a host is named."""
    from hindnote.core.plugins.models import HostCall

    return HostCall(
        host=settings.host or HOST,
        session_id=settings.session_id or by.session_id,
        session_file=settings.session_file if settings.host else None,
        call_id=by.call_id,
        agent_id=by.thread_id if settings.host and by.thread_id != by.session_id else None,
        cwd=directory,
        agent=settings.agent,
        model=settings.model or by.model,
    )


def history_call(settings: Settings, by: Caller, directory: Path, hosts: Hosts) -> HostCall:
    """Return the call for the history tools.

    It is bound to the host whose sessions are read. The current session is the file in the
    settings, else the one whose id the program sends, else that host's newest session in the
    directory. It is looked up for each call, since the program may begin another session while the
    server runs.

    Raises:
        HostFailure: The plugin of that host failed.
    """
    call = notes_call(settings, by, directory)
    if settings.history_of is None or settings.host is not None:
        # Either there is no current session, or the host finds it by what the program tells.
        return call
    call = call.model_copy(update={"host": settings.history_of, "session_id": by.thread_id})
    if settings.session_file is not None:
        # The person's option takes precedence over the id that the program sends.
        return call.model_copy(update={"session_file": settings.session_file, "session_id": None})
    sessions = hosts.sessions(call, settings.history_of)
    if by.thread_id is not None:
        entry = next((one for one in sessions if _is(one, by.thread_id)), None)
    else:
        here = (one for one in sessions if _runs_in(one, directory))
        entry = max(here, key=lambda one: one.modified, default=None)
    return call if entry is None else call.model_copy(update={"session_file": entry.file})


def _is(entry: SessionEntry, thread: str) -> bool:
    # A subagent's session is listed with its main session's id in front.
    return entry.id == thread or entry.id.endswith(f"/{thread}")


def _runs_in(entry: SessionEntry, directory: Path) -> bool:
    return "/" not in entry.id and bool(entry.cwd) and Path(entry.cwd or "") == directory
