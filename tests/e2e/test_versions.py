"""The versions of the hosts that these tests run are the ones that hindnote says it works with."""

from __future__ import annotations

import json
from typing import Any

from pins import PINS

from hindnote.hosts.claude.install import NEEDED as CLAUDE
from hindnote.hosts.pi.install import PI

CLAUDE_CODE = "@anthropic-ai/claude-code-linux-x64"
PI_AGENT = "@earendil-works/pi-coding-agent"


def pinned(age: str, package: str) -> tuple[int, ...]:
    pins: dict[str, Any] = json.loads(PINS[age].read_text("utf-8"))
    return tuple(map(int, pins["dependencies"][package].split(".")))


def test_the_oldest_version_that_is_run_is_the_oldest_that_is_accepted() -> None:
    assert pinned("oldest", CLAUDE_CODE) == CLAUDE
    assert pinned("oldest", PI_AGENT)[: len(PI)] == PI


def test_a_newer_version_is_run_as_well() -> None:
    assert pinned("newest", CLAUDE_CODE) > pinned("oldest", CLAUDE_CODE)
    assert pinned("newest", PI_AGENT) > pinned("oldest", PI_AGENT)
