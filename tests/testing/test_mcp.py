"""The kit over the MCP host: its own plugin, and Pi's sessions through its server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from writers import ClaudeWriter, PiWriter

from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall
from hindnote.hosts.mcp import plugin
from hindnote.hosts.mcp.answers import Answers
from hindnote.hosts.mcp.calls import Caller, Settings
from hindnote.hosts.mcp.versions import HANDSHAKE
from hindnote.testing import CHECKS, Bench, Check, SessionWriter
from hindnote.testing.checks import (
    base_cwd_is_steady,
    catalogue_answers_a_call_of_another_host,
    decoration_is_steady_and_small,
    session_without_turns_is_empty,
)

WITHOUT_SESSIONS = (
    base_cwd_is_steady,
    session_without_turns_is_empty,
    catalogue_answers_a_call_of_another_host,
    decoration_is_steady_and_small,
)
"""What a host can be asked that records no session; the other checks need one."""


class NoSessions:
    """A program that speaks MCP tells nothing of its sessions."""

    slug = plugin.HOST
    plugin = plugin

    def begin(self, folder: Path) -> HostCall:
        return HostCall(host=self.slug, session_id="s", cwd=folder)

    def append(self, call: HostCall, turns: object) -> None:
        """Nothing records what is said."""

    def damage(self, call: HostCall) -> bool:
        return False


@pytest.mark.parametrize("check", WITHOUT_SESSIONS, ids=lambda check: check.__name__)
def test_the_plugin_passes_what_needs_no_session(check: Check, tmp_path: Path) -> None:
    check(Bench(NoSessions(), tmp_path))


@dataclass
class Answer:
    """A result of the server, as the checks look at one."""

    sent: dict[str, Any]

    @property
    def is_error(self) -> bool:
        return bool(self.sent["isError"])

    @property
    def result(self) -> Any:
        return self.sent["structuredContent"]

    @property
    def text(self) -> str:
        (block,) = self.sent["content"]
        return str(block["text"])

    def structured(self) -> str:
        return json.dumps(self.result, ensure_ascii=False, separators=(",", ":"))


class ServerBench(Bench):
    """A bench whose calls go through a server that reads the written session."""

    def ask(self, operation: str, arguments: dict[str, Any]) -> Any:
        hosts = Hosts.of({plugin.HOST: plugin, self.writer.slug: self.writer.plugin})
        cwd, home = self.call.cwd, self.folder / "notes"
        told = {"history_of": self.writer.slug, "session_file": self.call.session_file}
        answers = Answers(Settings(cwd, home, **told), hosts)
        return Answer(answers.call(operation, arguments, Caller(), cwd, HANDSHAKE[-1]))


@pytest.mark.parametrize("writer", [PiWriter, ClaudeWriter], ids=["pi", "claude"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_host_s_history_passes_through_the_server(
    check: Check, writer: type[SessionWriter], tmp_path: Path
) -> None:
    check(ServerBench(writer(), tmp_path))
