"""What the boot block says in the real Claude Code, then and later."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable

from claude_host import DONE, Claude, Dialogue, texts, tool
from model import Request, Text, Turn, offers_tools

BEGIN = "# Memory beyond this window"
NOTHING_YET = "No notes yet: this session, @project, @human, @self, @model."
MINUTE = r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}"

Start = Callable[..., Dialogue]


def is_compaction(request: Request) -> bool:
    return "summary of the conversation" in json.dumps(request.messages[-1])


def ordinary(*blocks: object) -> Turn:
    return Turn(*blocks, when=lambda r: offers_tools(r) and not is_compaction(r))


def compact(talk: Dialogue) -> None:
    talk.claude.model.then(Turn(Text("A summary."), when=is_compaction))
    talk.say("/compact")


def block(request: Request) -> str:
    """Return the one boot block of a request."""
    whole = "\n".join(
        part["text"]
        for message in request.messages
        for part in message["content"]
        if isinstance(part, dict) and part.get("type") == "text"
    )
    _, rest = whole.split(BEGIN)
    return BEGIN + rest.partition("\n</system-reminder>")[0]


def test_the_block_of_an_empty_memory_says_it_in_one_line(claude: Claude) -> None:
    claude.model.then(DONE)
    claude.run("begin")

    said = block(claude.model.played[0])
    assert re.match(rf"{BEGIN} \(hindnote\), as of {MINUTE} \(UTC[+-]\d\d:\d\d\)\n", said)
    assert NOTHING_YET in said.splitlines()
    assert said.count("notes_write") == 1
    assert "Windows of this session" not in said


def test_the_block_of_a_later_window_names_the_one_before_it(
    claude: Claude, dialogue: Start
) -> None:
    talk = dialogue()
    claude.model.then(ordinary(Text("The answer is 42.")))
    talk.say("what is the answer")
    compact(talk)
    claude.model.then(ordinary(Text("Go on then.")))
    talk.say("go on")
    said = block(claude.model.played[-1])
    recipe = re.search(r"The window before this one: mcp__hindnote__history_list (.*)", said)
    assert recipe is not None
    assert re.search(rf"- window 1: seq 1 to \d+, \d+ events, from {MINUTE}\n", said)

    claude.model.then(ordinary(tool("history_list", **json.loads(recipe[1]))), ordinary(Text("x")))
    talk.say("look back")
    [before] = texts(claude.model.played[-1])
    assert "The answer is 42." in before
    assert "Go on then." not in before
    # The same text is sent for as long as the window lasts.
    assert block(claude.model.played[-1]) == said


def test_a_resumed_session_s_block_says_as_of_when_it_was_true(claude: Claude) -> None:
    claude.model.then(DONE)
    session = claude.run("begin")
    before = block(claude.model.played[-1])
    claude.model.then(Turn(tool("notes_write", address="plan", content="Ship it.\n")), DONE)
    claude.run("go on", "--resume", session)

    after = block(claude.model.played[-1])
    assert after == before
    assert re.search(f"as of {MINUTE} ", after)


def test_a_session_outlives_its_directory(claude: Claude, dialogue: Start) -> None:
    """A worktree that is removed while the agent works in it."""
    address = {"address": "@human/likes", "content": "Short answers."}
    claude.hindnote("call", "notes_write", json.dumps(address))
    talk = dialogue()
    claude.model.then(ordinary(Text("Done.")))
    talk.say("begin")
    shutil.rmtree(claude.project)
    claude.model.then(
        ordinary(
            tool("notes_read", address="@human/likes"),
            tool("notes_write", address="plan", content="Go on.\n"),
            tool("notes_write", address="@project/plan", content="No.\n"),
            tool("notes_write", address="@project/plan", content="Yes.\n", cwd=str(claude.home)),
            tool("history_list"),
        ),
        ordinary(Text("Done.")),
    )
    talk.say("go on")

    read, written, refused, elsewhere, listed = texts(claude.model.played[-1])
    assert "Short answers." in read
    assert written.startswith("created plan.md")
    assert refused.startswith("error: invalid_cwd: ")
    assert elsewhere.startswith("created @project/plan.md")
    assert "begin" in listed

    compact(talk)
    claude.model.then(ordinary(Text("Done.")))
    talk.say("on")
    said = block(claude.model.played[-1])
    assert f"No project: the directory {claude.project} does not exist." in said
    assert "- plan.md" in said
    assert "@human/likes.md" in said
