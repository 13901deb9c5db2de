"""The life of helper, session and window in the real Claude Code."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable

from claude_host import DONE, Claude, Dialogue, results, texts, tool
from model import Hold, Request, Text, Turn, offers_tools
from tmux import wait_until

Start = Callable[..., Dialogue]


def is_compaction(request: Request) -> bool:
    return "summary of the conversation" in json.dumps(request.messages[-1])


def is_ordinary(request: Request) -> bool:
    return offers_tools(request) and not is_compaction(request)


def started(claude: Claude) -> int:
    """How many resident helpers the host started, by its own log."""
    return claude.log.read_text().count("$.process.spawn (hindnote): ") - ended(claude)


def ended(claude: Claude) -> int:
    return sum(
        "$.process.spawn (hindnote): " in line and " ended (" in line
        for line in claude.log.read_text().splitlines()
    )


# -- the helper ----------------------------------------------------------------


def test_one_helper_serves_a_session_and_ends_with_it(claude: Claude) -> None:
    going_on = threading.Event()
    claude.model.then(
        Turn(tool("notes_list")),
        Turn(tool("notes_list")),
        Turn(Hold(going_on), Text("Done.")),
    )

    process = claude.start("look twice")
    claude.model.wait_for(lambda model: len(model.played) == 3)
    assert len(claude.helpers()) == 1
    (folder,) = claude.sockets()
    assert folder.stat().st_mode & 0o777 == 0o700
    going_on.set()

    assert process.wait(30) == 0
    wait_until(lambda: not claude.helpers(), 5)
    assert claude.sockets() == []
    assert started(claude) == 1


def test_a_helper_that_is_killed_is_replaced(claude: Claude) -> None:
    killed = threading.Event()
    claude.model.then(
        Turn(tool("notes_write", address="a", content="before")),
        Turn(Hold(killed), tool("notes_write", address="b", content="after")),
        Turn(tool("notes_read", address="b")),
        DONE,
    )

    process = claude.start("write two")
    claude.model.wait_for(lambda model: len(model.played) == 2)
    (helper,) = claude.helpers()
    os.kill(helper, signal.SIGKILL)
    wait_until(lambda: not claude.helpers())
    killed.set()

    assert process.wait(60) == 0
    (text,) = texts(claude.model.played[3])
    assert text.endswith("after")
    assert started(claude) == 2
    wait_until(lambda: not claude.helpers(), 5)
    assert claude.sockets() == []


def test_without_a_unix_socket_each_call_runs_a_process(claude: Claude) -> None:
    python = claude.home / "python"
    without = "import runpy, socket; del socket.AF_UNIX; "
    run = "runpy.run_module('hindnote.hosts.claude', run_name='__main__', alter_sys=True)"
    # The mod's own options stand before the arguments of the helper.
    python.write_text(f'#!/bin/sh\nshift 4\nexec {sys.executable} -P -c "{without}{run}" "$@"\n')
    python.chmod(0o755)
    (named,) = claude.home.glob(".claude/skills/hindnote/hooks/runtime.ts")
    named.write_text(named.read_text().replace(json.dumps(sys.executable), json.dumps(str(python))))
    claude.model.then(
        Turn(tool("notes_write", address="a", content="x" * 5000)),
        Turn(tool("notes_read", address="a")),
        Turn(tool("notes_read", address="b")),
        DONE,
    )

    session = claude.run("write and read")

    for asked, address, status in ((2, "a", 0), (3, "b", 1)):
        (result,) = results(claude.model.played[asked])
        assert result.text == claude.printed("notes_read", session, status, address=address)
    assert "$.http.fetch (hindnote)" not in claude.log.read_text()
    assert started(claude) == 1


def test_a_host_that_is_killed_leaves_no_helper(claude: Claude) -> None:
    claude.model.then(Turn(tool("notes_list")), Turn(Hold(threading.Event())))

    process = claude.start("look")
    claude.model.wait_for(lambda model: len(model.played) == 2)
    assert len(claude.helpers()) == 1
    process.kill()
    process.wait()

    wait_until(lambda: not claude.helpers(), 5)
    assert claude.sockets() == []


# -- sessions and windows ------------------------------------------------------


def test_clear_begins_a_notebook_of_its_own_and_resume_finds_it_again(
    claude: Claude, dialogue: Start
) -> None:
    talk = dialogue()
    claude.model.then(Turn(tool("notes_write", address="mine", content="of the first")), DONE)
    talk.say("write")
    first = talk.session
    claude.model.then(Turn(tool("notes_read", address="mine")), DONE)
    talk.say("/clear")
    talk.say("read")
    second = talk.session
    claude.model.then(Turn(tool("notes_read", address="mine")), DONE)
    claude.run("read again", "--resume", first)

    assert first != second
    (after_clear,) = texts(claude.model.played[3])
    (resumed,) = texts(claude.model.played[5])
    assert after_clear == claude.printed("notes_read", second, 1, address="mine")
    assert resumed == claude.printed("notes_read", first, address="mine")
    assert resumed.endswith("of the first")


def test_what_came_before_a_compaction_can_be_read_after_it(
    claude: Claude, dialogue: Start
) -> None:
    talk = dialogue()
    claude.model.then(
        # More than the ten events that a read's recipe spans: what follows does not change it.
        Turn(tool("notes_write", address="a", content="early"), when=is_ordinary),
        Turn(*[tool("notes_list") for _ in range(10)], when=is_ordinary),
        Turn(Text("The early answer."), when=is_ordinary),
    )
    talk.say("the EARLY prompt")
    claude.model.then(Turn(Text("A summary."), when=is_compaction))
    talk.say("/compact")
    claude.model.then(
        Turn(
            tool("history_read", seq=1),
            tool("history_list", query=["early"]),
            tool("notes_read", address="a"),
            when=is_ordinary,
        ),
        Turn(Text("Done."), when=is_ordinary),
    )
    talk.say("what was it?")

    asked = claude.model.played[-2]
    assert "A summary." in asked.prompt
    assert "The early answer." not in asked.prompt
    read, found, note = results(claude.model.played[-1])
    assert "the EARLY prompt" in read.text
    assert "The early answer." in found.text
    assert note.text.endswith("early")
    assert read.text == claude.printed("history_read", talk.session, seq=1)


def test_the_boot_block_is_there_once_a_window(claude: Claude, dialogue: Start) -> None:
    (claude.notes / "human").mkdir(parents=True)
    (claude.notes / "human" / "MAP.md").write_text("THE MAP OF IT ALL")
    talk = dialogue()
    for prompt, turn in (
        ("one", Turn(Text("One."), when=is_ordinary)),
        ("two", Turn(Text("Two."), when=is_ordinary)),
        ("/compact", Turn(Text("A summary."), when=is_compaction)),
        ("three", Turn(Text("Three."), when=is_ordinary)),
        ("/clear", None),
        ("four", Turn(Text("Four."), when=is_ordinary)),
    ):
        if turn is not None:
            claude.model.then(turn)
        talk.say(prompt)
    claude.model.then(Turn(Text("Five."), when=is_ordinary))
    claude.run("five", "--resume", talk.session)

    ordinary = [request for request in claude.model.played if is_ordinary(request)]
    assert len(ordinary) == 5
    for request in ordinary:
        assert request.everything.count("THE MAP OF IT ALL") == 1
        assert "mcp__hindnote__notes_write" in request.prompt
        assert request.prompt.count("THE MAP OF IT ALL") == 1


def test_the_boot_block_names_no_tool_that_a_rule_takes_away(claude: Claude) -> None:
    claude.model.then(DONE)

    claude.run("one", "--disallowedTools", "mcp__hindnote__notes_write")

    [request] = [request for request in claude.model.played if is_ordinary(request)]
    assert "# Memory beyond this window" in request.everything
    assert "mcp__hindnote__history_list {" in request.everything
    assert "notes_write as soon as" not in request.everything
