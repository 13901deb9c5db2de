"""The seven tools in the real Claude Code, over MCP: what its model was sent."""

from __future__ import annotations

import json
import threading

from claude_host import DONE, PREFIX, Claude, results, texts, tool
from model import Hold, Turn
from tmux import wait_until

from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration


def test_the_model_is_offered_the_seven_as_declared(program: Claude, options: list[str]) -> None:
    # Else it looks tools up when it needs them.
    program.extra["ENABLE_TOOL_SEARCH"] = "false"
    program.model.then(DONE)

    program.run("hello", *options)

    offered = program.model.played[0].tools
    ours = {name.removeprefix(PREFIX) for name in offered if name.startswith(PREFIX)}
    assert ours == set(registry())
    for name, operation in registry().items():
        assert offered[PREFIX + name]["description"] == declaration(operation)["description"]
        assert offered[PREFIX + name]["input_schema"] == declaration(operation)["inputSchema"]


def test_the_model_writes_reads_and_is_refused(program: Claude, options: list[str]) -> None:
    program.model.then(
        Turn(tool("notes_write", address="@project/plan", content="We use SQLite. naïve 👋\n")),
        Turn(tool("notes_read", address="@project/plan")),
        Turn(tool("notes_read", address="@project/absent")),
        DONE,
    )

    program.run("remember the plan", *options)

    (note,) = program.notes.glob("project/*/plan.md")
    assert note.read_text("utf-8").endswith("We use SQLite. naïve 👋\n")
    read, refused = (results(request)[0] for request in program.model.played[2:])
    assert not read.is_error
    # Of a result that has a structure this program shows its model the structure.
    assert json.loads(read.text)["text"] == "We use SQLite. naïve 👋\n"
    assert refused.is_error
    assert refused.text.startswith("error: not_found: there is no note “@project/absent.md”")


def test_arguments_that_break_the_schema_are_an_error_that_names_them(
    program: Claude, options: list[str]
) -> None:
    program.model.then(Turn(tool("notes_read", adress="plan")), DONE)

    program.run("read", *options)

    (result,) = results(program.model.played[1])
    assert result.is_error
    assert "address" in result.text


def test_history_is_the_running_session_of_the_directory(
    program: Claude, options: list[str]
) -> None:
    # No model answers as soon as this one; the host writes its session's file a moment later.
    written = threading.Event()
    program.model.then(Turn(Hold(written), tool("history_read", seq=1)), DONE)

    process = program.start("What was the first thing I said?", *options)
    wait_until(lambda: bool(list(program.home.glob(".claude/projects/*/*.jsonl"))))
    written.set()
    assert process.wait(60) == 0

    assert "What was the first thing I said?" in texts(program.model.played[1])[0]
