"""What the person at the terminal is asked, and what their answer does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from claude_host import DONE, PREFIX, Claude, results, texts, tool
from model import Turn
from terminal import Terminal

Start = Callable[..., Terminal]
QUESTION = "Do you want to proceed"
WRITE = tool("notes_write", address="@human/plan", content="# Plan\n\nShip it.\nSoon.\n")
CREATE = tool("project_todo_create", title="Ship it", priority="p1", body="Soon.")


def wrote(claude: Claude) -> bool:
    return (claude.notes / "human" / "plan.md").exists()


def test_the_notes_tools_ask_for_nothing_in_default_mode(claude: Claude, terminal: Start) -> None:
    claude.settings(hooks=claude.logging_hooks())
    claude.model.then(
        Turn(WRITE),
        Turn(tool("notes_read", address="@human/plan"), tool("notes_list")),
        Turn(tool("notes_search", query="ship"), tool("history_list"), tool("history_read", seq=1)),
        Turn(
            tool(
                "notes_update",
                address="@human/plan",
                edits=[{"old_text": "Soon", "new_text": "Now"}],
            )
        ),
        DONE,
    )
    screen = terminal("--permission-mode", "default")

    screen.type("keep the plan")
    screen.wait_for("^● Done\\.")

    assert QUESTION not in screen.screen()
    answers = [result for request in claude.model.played[1:] for result in results(request)]
    assert [result.is_error for result in answers] == [False] * 7
    assert [event for event, _ in claude.hooked()].count("PostToolUse") == 7


def test_an_ask_rule_asks_and_a_yes_runs_the_call(claude: Claude, terminal: Start) -> None:
    claude.settings(hooks=claude.logging_hooks(), ask=[PREFIX + "notes_write"])
    claude.model.then(Turn(WRITE), DONE)
    screen = terminal("--permission-mode", "acceptEdits")

    screen.type("write it")
    screen.wait_for(QUESTION)
    assert not wrote(claude)
    screen.press("1")
    screen.wait_for("^● Done\\.")

    assert wrote(claude)
    assert [event for event, _ in claude.hooked()] == ["PreToolUse", "PostToolUse"]


def test_a_no_runs_nothing(claude: Claude, terminal: Start) -> None:
    claude.settings(hooks=claude.logging_hooks(), ask=[PREFIX + "notes_write"])
    claude.model.then(Turn(WRITE), DONE)
    screen = terminal("--permission-mode", "default")

    screen.type("write it")
    screen.wait_for(QUESTION)
    screen.press("Escape")
    screen.wait_for("(?i)interrupted|rejected|declined")

    assert not wrote(claude)
    assert [event for event, _ in claude.hooked()] == ["PreToolUse"]


def test_a_todo_is_asked_about_and_can_be_allowed_for_good(claude: Claude, terminal: Start) -> None:
    claude.extra["HINDNOTE_PROJECT_TOOLS"] = "direct"
    again = tool("project_todo_create", title="Tell it", priority="p2", body="Later.")
    claude.model.then(Turn(CREATE), Turn(again), Turn(tool("project_todo_list")), DONE)
    screen = terminal("--permission-mode", "default")

    screen.type("make two todos")
    screen.wait_for(QUESTION)
    assert not (claude.project / "todos").exists()
    screen.wait_for("\\d\\. Yes, and don.t ask again")
    (number,) = re.findall("(\\d)\\. Yes, and don.t ask again", screen.screen())
    screen.press(number)
    screen.wait_for("^● Done\\.")

    made = sorted(file.name for file in (claude.project / "todos").iterdir())
    assert made == ["001-pending-p1-ship-it.md", "002-pending-p2-tell-it.md"]
    (saved,) = claude.project.glob(".claude/settings*.json")
    assert PREFIX + "project_todo_create" in json.loads(saved.read_text())["permissions"]["allow"]
    screen.wait_to_show("todos: 2")
    assert '{"' not in screen.screen()


def test_a_collapsed_list_of_events_begins_with_what_was_said(
    claude: Claude, terminal: Start
) -> None:
    claude.model.then(
        Turn(tool("history_list", roles=["user"])), Turn(tool("history_read", seq=1)), DONE
    )
    screen = terminal("--permission-mode", "default")

    screen.type("what did I say?")
    screen.wait_for("^● Done\\.")

    screen.wait_for(r"history_list.*\n  ⎿\s+user: what did I say\? \(seq 1, ")
    screen.wait_for(r"history_read.*\n  ⎿\s+what did I say\?$")
    (sent,) = texts(claude.model.played[1])
    assert sent.startswith("seq 1 | user\n")


def test_a_collapsed_note_begins_with_the_note(claude: Claude, terminal: Start) -> None:
    claude.model.then(
        Turn(WRITE),
        Turn(tool("notes_read", address="@human/plan")),
        Turn(tool("notes_read", address="@human/none")),
        DONE,
    )
    screen = terminal("--permission-mode", "default")

    screen.type("read it")
    screen.wait_for("^● Done\\.")

    screen.wait_for(r"notes_read.*\n  ⎿\s+# Plan$")
    screen.wait_for("error: not_found: there is no note")
    shown = screen.screen()
    assert "origin self" not in shown
    # What the model was sent is whole, and in its own order.
    (sent,) = texts(claude.model.played[2])
    assert sent.startswith("@human/plan.md | ")
    screen.press("C-o")
    screen.wait_for("origin self")
