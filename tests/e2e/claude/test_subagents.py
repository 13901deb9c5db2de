"""Subagents in the real Claude Code: the boot block that each of them is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from claude_host import DONE, PREFIX, Claude, texts, tool
from model import Request, Text, ToolCall, Turn

BEGIN = "# Memory beyond this window"
TASK = "Look into the matter."
ABOUT_SUBAGENTS = "You are a subagent"


def start(kind: str = "general-purpose") -> ToolCall:
    """The call with which a model starts a subagent and waits for it."""
    task = {"description": "look", "prompt": TASK, "subagent_type": kind}
    return ToolCall("Agent", {**task, "run_in_background": False})


def is_subagent(request: Request) -> bool:
    """Return whether a subagent asks: the first thing that it was told is its task."""
    told = [json.dumps(m["content"]) for m in request.messages if m["role"] == "user"]
    return bool(request.tools) and TASK in told[0]


def is_main(request: Request) -> bool:
    return bool(request.tools) and not is_subagent(request)


def main(*blocks: Any) -> Turn:
    return Turn(*blocks, when=is_main)


def sub(*blocks: Any) -> Turn:
    return Turn(*blocks, when=is_subagent)


def blocks(request: Request) -> list[str]:
    """Return the boot blocks of a request, oldest first."""
    return [rest[:1500] for rest in request.everything.split(BEGIN)[1:]]


def ours(request: Request) -> list[str]:
    """Return our tools among those that were offered."""
    return [name for name in request.tools if name.startswith(PREFIX)]


def of_subagents(claude: Claude) -> list[Request]:
    return [request for request in claude.model.played if is_subagent(request)]


def test_a_subagent_is_shown_the_notebook_as_it_is_when_it_starts(claude: Claude) -> None:
    claude.model.then(
        main(tool("notes_write", address="plan", content="Ship it.\n")),
        main(start()),
        sub(tool("history_list", session="@parent")),
        sub(Text("It is so.")),
        main(tool("notes_write", address="traps", content="Mind the gap.\n")),
        main(start()),
        sub(tool("notes_read", address="traps")),
        sub(Text("It still is.")),
        main(Text("Done.")),
    )
    session = claude.run("begin")

    first, second, third, fourth = of_subagents(claude)
    [block] = blocks(first)
    assert f"session {session}" in block
    assert ABOUT_SUBAGENTS in block
    assert "- plan.md" in block
    assert "traps.md" not in block
    assert "No notes yet: this session" not in block
    # What it was told of the session's history is a call that works.
    assert "begin" in texts(second)[0]
    assert blocks(second) == [block]
    [later] = blocks(third)
    assert "- plan.md" in later
    assert "- traps.md" in later
    assert texts(fourth)[0].endswith("Mind the gap.\n")
    # The main session keeps the block that it had.
    last = claude.model.played[-1]
    assert len(blocks(last)) == 1
    assert ABOUT_SUBAGENTS not in blocks(last)[0]
    assert "No notes yet: this session" in blocks(last)[0]


def test_a_subagent_of_a_resumed_session_has_a_block_of_its_own(claude: Claude) -> None:
    claude.model.then(main(tool("notes_write", address="plan", content="Ship it.\n")), DONE)
    session = claude.run("begin")
    claude.model.then(main(start()), sub(Text("It is so.")), main(Text("Done.")))
    claude.run("go on", "--resume", session)

    [request] = of_subagents(claude)
    [block] = blocks(request)
    assert ABOUT_SUBAGENTS in block
    assert "- plan.md" in block


def test_subagents_side_by_side_have_each_a_true_block(claude: Claude) -> None:
    claude.model.then(
        main(tool("notes_write", address="plan", content="Ship it.\n")),
        main(start(), start("Explore")),
        sub(Text("One.")),
        sub(Text("Two.")),
        main(Text("Done.")),
    )
    claude.run("begin")

    requests = of_subagents(claude)
    assert len(requests) == 2
    for request in requests:
        [block] = blocks(request)
        assert ABOUT_SUBAGENTS in block
        assert "- plan.md" in block


def test_a_subagent_that_is_a_fork_is_told_so_beside_the_block_of_its_session(
    claude: Claude,
) -> None:
    claude.model.then(
        main(tool("notes_write", address="plan", content="Ship it.\n")),
        main(start("fork")),
        Turn(Text("It is so.")),
        Turn(Text("Done.")),
    )
    claude.run("begin")

    # A fork begins with the messages of the session.
    [fork] = [request for request in claude.model.played if ABOUT_SUBAGENTS in request.everything]
    [before, own] = blocks(fork)
    assert "No notes yet: this session" in before
    assert ABOUT_SUBAGENTS in own
    assert "- plan.md" in own


def agent_file(claude: Claude, tools: str) -> None:
    """Define a subagent that is offered the tools given."""
    folder = claude.project / ".claude" / "agents"
    folder.mkdir(parents=True)
    text = f"---\nname: narrow\ndescription: A narrow one.\ntools: {tools}\n---\nDo it.\n"
    (folder / "narrow.md").write_text(text, "utf-8")


@pytest.fixture
def narrow(claude: Claude, pytestconfig: pytest.Config) -> Claude:
    """Skip where the host does not tell what a subagent is offered."""
    if pytestconfig.getoption("--e2e-hosts") == "oldest":
        pytest.skip("2.1.326 does not tell what a subagent is offered")
    return claude


def test_a_subagent_s_block_names_no_tool_that_it_was_not_offered(narrow: Claude) -> None:
    agent_file(narrow, "Read, mcp__hindnote__notes_read")
    narrow.model.then(main(start("narrow")), sub(Text("It is so.")), main(Text("Done.")))
    narrow.run("begin")

    [request] = of_subagents(narrow)
    assert ours(request) == ["mcp__hindnote__notes_read"]
    [block] = blocks(request)
    assert ABOUT_SUBAGENTS in block
    assert "notes_write" not in block
    assert "history_list" not in block


def test_a_subagent_that_was_offered_none_of_the_tools_has_no_block(narrow: Claude) -> None:
    agent_file(narrow, "Read")
    narrow.model.then(main(start("narrow")), sub(Text("It is so.")), main(Text("Done.")))
    narrow.run("begin")

    [request] = of_subagents(narrow)
    assert ours(request) == []
    assert "hindnote" not in json.dumps(request.messages)
