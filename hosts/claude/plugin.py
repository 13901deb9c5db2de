"""The Claude Code plugin: answers to the host contract's questions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hindnote.core.calls import Decoration, HostCall, HostIdentity, SessionEntry
from hindnote.hookspecs import hookimpl
from hindnote.hosts.claude.layout import HOST, recorded_session_id

if TYPE_CHECKING:
    from hindnote.core.history.projection import Projection

TOOL_PREFIX = "mcp__hindnote__"
"""Claude Code names a mod's tools after the mod."""


@hookimpl
def host_base_cwd(call: HostCall) -> Path:
    return call.cwd


@hookimpl
def host_identity(call: HostCall) -> HostIdentity:
    session_id = call.session_id
    if session_id is None and call.session_file is not None:
        session_id = recorded_session_id(call.session_file)
    return HostIdentity(
        host=HOST,
        session_id=session_id,
        agent=call.agent or "claude",
        model=call.model or "default",
        tool_prefix=TOOL_PREFIX,
    )


@hookimpl
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    return None


@hookimpl
def host_sessions(call: HostCall) -> Iterable[SessionEntry]:
    return ()


@hookimpl
def host_decoration(operation: str) -> Decoration | None:
    return None
