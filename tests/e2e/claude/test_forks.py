"""Forked and resumed sessions in the real Claude Code: their notes and their boot blocks."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from claude_host import DONE, Claude, results, tool
from model import Request, Result, Turn

BEGIN = "# Memory beyond this window"


def call(claude: Claude, name: str, *options: str, **arguments: Any) -> Result:
    """Let the model make one call in a session, and return what it was sent."""
    claude.model.then(Turn(tool(name, **arguments)), DONE)
    claude.run("go on", *options)
    [result] = results(claude.model.played[-1])
    return result


def block(request: Request) -> str:
    """Return the boot block of a request."""
    assert request.everything.count(BEGIN) == 1
    return request.everything[request.everything.index(BEGIN) :][:2_000]


def test_a_fork_has_the_notes_of_its_line_and_a_block_that_says_so(claude: Claude) -> None:
    first, second, third = (str(uuid.uuid4()) for _ in range(3))
    call(claude, "notes_write", "--session-id", first, address="plan", content="Ship it.\n")

    resumed = ("--resume", first, "--fork-session", "--session-id", second)
    read = call(claude, "notes_read", *resumed, address="plan")
    assert "Ship it." in read.text
    assert f"inherited from {first}" in read.text
    said = block(claude.model.played[-1])
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


def test_a_resumed_fork_s_block_names_the_session_that_it_was_forked_from(
    claude: Claude,
) -> None:
    first, second = (str(uuid.uuid4()) for _ in range(2))
    call(claude, "notes_write", "--session-id", first, address="plan", content="Ship it.\n")
    call(claude, "notes_list", "--resume", first, "--fork-session", "--session-id", second)
    call(claude, "notes_list", "--resume", second)

    said = block(claude.model.played[-1])
    assert f"Forked from {first}" in said
    assert "- plan.md" in said


@pytest.mark.parametrize("prompt", ["first"])
def test_a_new_session_s_block_speaks_of_no_fork(claude: Claude, prompt: str) -> None:
    claude.model.then(DONE)
    claude.run(prompt)

    said = block(claude.model.played[-1])
    assert "orked" not in said
    assert "No notes yet: this session" in said
