"""A host plugin that breaks no rule, and the refusal of one that does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindnote import HostCall, HostIdentity, SessionEntry, hookimpl
from hindnote.core.errors import PluginRefused
from hindnote.core.plugins.hosts import Hosts


class Good:
    """The least that a host must answer."""

    @hookimpl
    def host_base_cwd(self, call: HostCall) -> Path:
        return call.cwd

    @hookimpl
    def host_identity(self, call: HostCall) -> HostIdentity:
        return HostIdentity(host="good", session_id="s1", agent="root", model="m")

    @hookimpl
    def host_projection(self, call: HostCall, session: SessionEntry | None) -> None:
        return None


def refusal(plugin: object, slug: str = "good") -> PluginRefused:
    with pytest.raises(PluginRefused) as caught:
        Hosts.of({slug: plugin})
    return caught.value
