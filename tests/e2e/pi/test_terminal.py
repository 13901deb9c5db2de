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

    assert "notes_read @project/long" in terminal.screen()
    assert "line 29" not in terminal.screen()
    assert "more lines" in terminal.screen()
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

    shown = terminal.screen()
    assert "-2 two" in shown
    assert "+2 2" in shown
    assert "error: not_found:" in shown
