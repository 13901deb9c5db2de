"""The MCP plugin: implements the hooks of the host contract.

A program that speaks MCP does not show its sessions to a server, so this host has no history of
its own. ``hosts.mcp.calls`` binds history calls to the host that the settings name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.plugins.models import HostCall, HostIdentity, SessionEntry
from hindnote.hookspecs import hookimpl
from hindnote.hosts.mcp.calls import HOST

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.history.projection import Projection


@hookimpl
def host_base_cwd(call: HostCall) -> Path | None:
    return call.cwd


@hookimpl
def host_identity(call: HostCall) -> HostIdentity | None:
    return HostIdentity(
        host=HOST,
        session_id=call.session_id,
        agent=call.agent or HOST,
        model=call.model or "default",
    )


@hookimpl
def host_projection(call: HostCall, session: SessionEntry | None) -> Projection | None:
    return None
