"""The tokens that hindnote costs with each request, as Claude Code sends it. ``-s`` prints the table."""

from __future__ import annotations

import sys

from claude_host import DONE, PREFIX, Claude
from costs import cost, row
from model import Request


def first_request(claude: Claude) -> Request:
    """Run one prompt and return the request that carries it."""
    before = len(claude.model.played)
    claude.model.then(DONE)
    claude.run("hello")
    return next(r for r in claude.model.played[before:] if "hello" in r.prompt)


def test_what_a_session_in_claude_code_costs(bare_claude: Claude) -> None:
    without = first_request(bare_claude)
    bare_claude.hindnote("install", "claude")

    found = cost(without, first_request(bare_claude), bare_claude.project, PREFIX)

    sys.stdout.write(f"\n{row('Claude Code', found)}\n")
    assert found.declarations <= 5_400
    assert found.added <= 6_700
    assert 0 < found.boot < 500
