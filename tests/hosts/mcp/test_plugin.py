from __future__ import annotations

from pathlib import Path

from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall, HostIdentity
from hindnote.hosts.mcp import plugin


def test_the_contract_s_rules_let_the_plugin_in() -> None:
    assert Hosts.of({"mcp": plugin}).slugs() == ("mcp",)


def test_the_identity_is_what_the_options_say() -> None:
    call = HostCall(host="mcp", cwd=Path("/"), session_id="s", agent="editor", model="m")

    assert plugin.host_identity(call) == HostIdentity(
        host="mcp", session_id="s", agent="editor", model="m"
    )


def test_the_identity_without_options_names_the_host_and_no_session(tmp_path: Path) -> None:
    told = Hosts.of({"mcp": plugin}).identity(HostCall(host="mcp", cwd=tmp_path))

    assert (told.agent, told.model, told.session_id) == ("mcp", "default", None)


def test_the_host_has_no_session_of_its_own(tmp_path: Path) -> None:
    hosts = Hosts.of({"mcp": plugin})
    call = HostCall(host="mcp", cwd=tmp_path, session_id="s")

    assert hosts.current(call) is None
    assert list(hosts.sessions(call, "mcp")) == []
