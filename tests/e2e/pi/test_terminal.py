"""How calls look to the person at the terminal."""

from __future__ import annotations

from model import ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi, Terminal


def test_a_long_result_is_collapsed_until_the_person_expands_it(
    pi: Pi, model: ScriptedModel, terminal: Terminal
) -> None:
    pi.note("long", "\n".join(f"line {number}" for number in range(30)))
    model.then(Turn(ToolCall("notes_read", {"address": "@project/long"})), Turn(Text("finished")))

    terminal.type("read it")
    terminal.wait_for("^ *finished")

    terminal.wait_to_show("notes_read @project/long", "more lines")
    assert "line 29" not in terminal.screen()
    terminal.press("C-o")
    terminal.wait_for("line 29")


def test_an_update_shows_its_diff_and_a_refusal_its_reason(
    pi: Pi, model: ScriptedModel, terminal: Terminal
) -> None:
    pi.note("plan", "one\ntwo")
    edit = {"old_text": "two", "new_text": "2"}
    model.then(
        Turn(
            ToolCall("notes_update", {"address": "@project/plan", "edits": [edit]}),
            ToolCall("notes_read", {"address": "@project/none"}),
        ),
        Turn(Text("finished")),
    )

    terminal.type("update it")
    terminal.wait_for("^ *finished")

    terminal.wait_to_show("-2 two", "+2 2", "error: not_found:")


def test_a_collapsed_result_shows_where_it_was_cut(
    pi: Pi, model: ScriptedModel, terminal: Terminal
) -> None:
    pi.note("long", "\n".join(f"line {number} {'x' * 60}" for number in range(1_000)))
    model.then(
        Turn(Text("\n\n".join(["the first answer", *"abcdefgh"]))),
        Turn(ToolCall("notes_read", {"address": "@project/long"})),
        Turn(ToolCall("history_list", {"limit": 1, "before_seq": 3})),
        Turn(Text("finished")),
    )
    terminal.type("hello")
    terminal.wait_for("the first answer")

    terminal.type("read it")
    terminal.wait_for("^ *finished")

    terminal.wait_to_show("[truncated; continue at offset_chars=12000]", "page_older: {")
    assert "line 100 " not in terminal.screen()


def test_an_expanded_call_shows_all_that_it_was_given_and_the_whole_result(
    pi: Pi, model: ScriptedModel, terminal: Terminal
) -> None:
    pi.note("plan", "one")
    edit = {"old_text": "not there", "new_text": "first\nlast of the edit"}
    body = "\n".join(f"line {number}" for number in range(12))
    model.then(
        Turn(
            ToolCall("notes_write", {"address": "new", "content": body, "description": "About."}),
            ToolCall("notes_update", {"address": "@project/plan", "edits": [edit]}),
        ),
        Turn(Text("finished")),
    )

    terminal.type("write it")
    terminal.wait_for("^ *finished")
    assert "last of the edit" not in terminal.screen()
    terminal.press("C-o")
    terminal.wait_for("last of the edit")

    terminal.wait_to_show("address: new", "line 11", "description: About.", "old_text: not there")
