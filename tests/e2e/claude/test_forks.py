"""Forked and resumed sessions in the real Claude Code: their notes and their boot blocks."""

from __future__ import annotations

import uuid
from typing import Any

from claude_host import DONE, Claude, results, tool
from model import Request, Result, Turn

BEGIN = "# Memory beyond this window"


def call(claude: Claude, name: str, *options: str, **arguments: Any) -> Result:
    """Let the model make one call in a session, and return what it was sent."""
    claude.model.then(Turn(tool(name, **arguments)), DONE)
    claude.run("go on", *options)
    [result] = results(claude.model.played[-1])
    return result


def blocks(request: Request) -> list[str]:
    """Return the boot blocks of a request, oldest first."""
    return [BEGIN + rest[:700] for rest in request.everything.split(BEGIN)[1:]]


def test_a_fork_has_the_notes_of_its_line_and_a_block_that_says_so(claude: Claude) -> None:
    first, second, third = (str(uuid.uuid4()) for _ in range(3))
    call(claude, "notes_write", "--session-id", first, address="plan", content="Ship it.\n")

    resumed = ("--resume", first, "--fork-session", "--session-id", second)
    read = call(claude, "notes_read", *resumed, address="plan")
    assert "Ship it." in read.text
    assert f"inherited from {first}" in read.text
    # The first one came with the messages of the session that was forked.
    [_, said] = blocks(claude.model.played[-1])
    assert f"session {second}" in said
    assert "Forked from another session" in said
    assert "No notes yet: this session" not in said

    again = ("--resume", second, "--fork-session", "--session-id", third)
    written = call(claude, "notes_write", *again, address="plan", content="Ship it later.\n")
    assert written.text.startswith("overwrote plan.md")
    listed = call(claude, "notes_list", "--resume", third)
    assert "1 note" in listed.text
    assert "inherited" not in listed.text
    original = call(claude, "notes_read", "--resume", first, address="plan")
    assert original.text.endswith("Ship it.\n")


def test_a_resumed_fork_keeps_the_block_that_it_has(claude: Claude) -> None:
    first, second = (str(uuid.uuid4()) for _ in range(2))
    call(claude, "notes_write", "--session-id", first, address="plan", content="Ship it.\n")
    call(claude, "notes_list", "--resume", first, "--fork-session", "--session-id", second)
    before = [said[:400] for said in blocks(claude.model.played[-1])]
    call(claude, "notes_list", "--resume", second)
    assert [said[:400] for said in blocks(claude.model.played[-1])] == before
    call(claude, "notes_list", "--resume", first)
    assert len(blocks(claude.model.played[-1])) == 1


def test_a_new_session_s_block_speaks_of_no_fork(claude: Claude) -> None:
    claude.model.then(DONE)
    claude.run("begin")

    [said] = blocks(claude.model.played[-1])
    assert "orked" not in said
    assert "No notes yet: this session" in said
