"""The Claude Code plugin: implements the hooks of the host contract."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hindnote.core.errors import HostFailure
from hindnote.core.plugins.models import Ancestor, Decoration, HostCall, HostIdentity, SessionEntry
from hindnote.hookspecs import hookimpl
from hindnote.hosts.claude.paths import HOST, TOOL_PREFIX, session_file

if TYPE_CHECKING:
    from hindnote.core.history.metadata_cache import FileFacts
    from hindnote.core.history.projection import Projection
    from hindnote.hosts.claude.sessions.catalogue import Catalogue


@cache
def _catalogue() -> Catalogue:
    from hindnote.hosts.claude.sessions.catalogue import FORM, Catalogue

    def remembered() -> FileFacts:
        from hindnote.core.history.metadata_cache import FileFacts

        return FileFacts(FORM)

    return Catalogue(remembered)


@hookimpl
def host_base_cwd(call: HostCall) -> Path:
    return call.cwd


@hookimpl
def host_identity(call: HostCall) -> HostIdentity:
    session_id = call.session_id
    ancestors: tuple[Ancestor, ...] = ()
    is_unwritten_fork = False
    if call.session_file is not None:
        from hindnote.hosts.claude.sessions.ancestry import session_and_ancestors

        file = call.cwd / call.session_file
        call_id = None if call.agent_id else call.call_id
        named, ancestors = session_and_ancestors(file, call_id)
        session_id = named if session_id is None else session_id
        # A fork has messages before its transcript, which is written with the first answer.
        is_unwritten_fork = call.extra.get("has_messages") is True and not file.exists()
    return HostIdentity(
        host=HOST,
        session_id=session_id,
        agent=call.agent or "claude",
        model=call.model or "default",
        tool_prefix=TOOL_PREFIX,
        ancestors=ancestors,
        has_unnamed_ancestors=is_unwritten_fork,
    )


@hookimpl
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    # Imported here: only history needs a decoder.
    from hindnote.hosts.claude.sessions.flush_wait import wait_for_call
    from hindnote.hosts.claude.sessions.projection import open_transcript

    if session is None and call.leaf_id is not None:
        raise HostFailure(
            "no leaf can be chosen for Claude Code (--leaf): its transcript itself tells where the "
            "session stands; leave it out"
        )
    file = session_file(call) if session is None else session.file
    if file is None:
        return None
    if session is None and call.call_id is not None:
        wait_for_call(file, call.call_id)
    return open_transcript(file, running=session is None)


@hookimpl
def host_sessions(call: HostCall) -> Iterable[SessionEntry]:
    return _catalogue().sessions(call)


@hookimpl
def host_decoration(operation: str) -> Decoration | None:
    return None
