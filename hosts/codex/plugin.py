"""The Codex plugin: implements the hooks of the host contract."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from hindnote.hosting import Ancestor, HostIdentity, hookimpl
from hindnote.hosts.codex.paths import HOST, TOOL_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hindnote.hosting import HostCall, Projection, SessionEntry
    from hindnote.hosts.codex.sessions.catalogue import Catalogue


@cache
def _catalogue() -> Catalogue:
    from hindnote.hosts.codex.sessions.catalogue import Catalogue

    return Catalogue()


@hookimpl
def host_base_cwd(call: HostCall) -> Path | None:
    return call.cwd


@hookimpl
def host_identity(call: HostCall) -> HostIdentity | None:
    session_id = call.session_id
    ancestors: tuple[Ancestor, ...] = ()
    file = _main_file(call)
    if file is not None:
        from hindnote.hosts.codex.sessions.ancestry import ancestors_of, main_thread

        session_id = session_id or main_thread(file)
        ancestors = tuple(ancestors_of(file))
    return HostIdentity(
        host=HOST,
        session_id=session_id,
        agent=call.agent or "codex",
        model=call.model or "default",
        tool_prefix=TOOL_PREFIX,
        ancestors=ancestors,
    )


@hookimpl
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    # Only history needs the decoder, so calls for notes start without importing it.
    from hindnote.hosts.codex.sessions.projection import open_rollout

    if session is not None:
        return open_rollout(session.file)
    if call.host != HOST:
        return None
    file = _main_file(call) if call.agent_id is None else _file_of(call, call.agent_id)
    return None if file is None else open_rollout(file, running=True)


@hookimpl
def host_sessions(call: HostCall) -> Iterable[SessionEntry]:
    return _catalogue().sessions(call)


def _main_file(call: HostCall) -> Path | None:
    """Return the file of a call's main session; None when it is not known yet."""
    if call.session_file is not None:
        return call.cwd / call.session_file
    return None if call.session_id is None else _file_of(call, call.session_id)


def _file_of(call: HostCall, thread: str) -> Path | None:
    """Return the newest file of a thread in the call's home; None when it has no file yet."""
    from hindnote.hosts.codex.paths import codex_home, home_of
    from hindnote.hosts.codex.sessions.lineage import newest_file

    beside = None if call.session_file is None else call.cwd / call.session_file
    home = (home_of(beside) if beside is not None else None) or codex_home(call)
    return newest_file(home, thread, beside)
