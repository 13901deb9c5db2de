"""An earlier session and a note are found by what they are about, in the real Pi."""

from __future__ import annotations

from typing import Any

import pytest
from model import ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi, output, script
from test_tools import rendered, tried

DONE = Turn(Text("done"))
REMEMBERED = "The importer stopped because the delivery had no header line; it is skipped now."
ABOUT_IMPORT = {"about": "why did importing crash on files without headers"}
ABOUT_STORAGE = {"about": "which database do we store invoices in"}


@pytest.fixture
def remembered(pi: Pi, model: ScriptedModel) -> str:
    """The first of two earlier sessions, beside two notes."""
    model.then(Turn(Text(REMEMBERED)))
    pi.say("The nightly import broke again, please look at it")
    [file] = pi.session_files()
    model.then(DONE)
    pi.say("Paint the buttons of the settings page blue")
    pi.note("storage", "Invoices live in PostgreSQL, attachments in a bucket.")
    pi.note("colors", "Buttons are blue.")
    return f"pi:{pi.entries(file)[0]['id']}"


def scripted(pi: Pi, model: ScriptedModel, operation: str, given: dict[str, Any]) -> Any:
    """Return the result that a script gets, in a session of its own."""
    model.then(Turn(script(tried(operation, given))), DONE)
    pi.say("look it up")
    return output(model.played[-1].results[0])


def test_model_and_script_get_both_forms_of_one_ranking(
    pi: Pi, model: ScriptedModel, remembered: str
) -> None:
    looks = [
        ("history_list", {"session": remembered, **ABOUT_IMPORT}),
        ("notes_search", ABOUT_STORAGE),
    ]
    texts = [ToolCall(operation, given) for operation, given in looks]
    model.then(Turn(*texts, *[script(tried(*look)) for look in looks]), DONE)

    pi.say("look it up")

    results = model.played[-1].results
    for (operation, _), text, result in zip(looks, results[:2], results[2:], strict=True):
        assert not text.is_error, text.text
        assert text.text == rendered(operation, output(result))


def test_a_session_is_found_in_other_words_and_read_where_the_hit_points(
    pi: Pi, model: ScriptedModel, remembered: str
) -> None:
    call = ToolCall("history_list", {"session": "*", **ABOUT_IMPORT})
    model.then(Turn(call), DONE)
    pi.say("What do we know of the import?")
    [answer] = model.played[-1].results
    [first, *_] = scripted(pi, model, "history_list", call.arguments)["items"]

    read = scripted(pi, model, "history_read", {"session": first["session"], "seq": first["seq"]})

    assert first["session"] == remembered
    assert f"session {remembered} | seq {first['seq']}" in answer.text
    assert read["text"] == REMEMBERED


def test_a_note_is_found_in_other_words(pi: Pi, model: ScriptedModel, remembered: str) -> None:
    [first, *_] = scripted(pi, model, "notes_search", ABOUT_STORAGE)["files"]

    assert first["address"] == "@project/storage.md"


def test_what_nobody_ever_said_is_not_found(pi: Pi, model: ScriptedModel, remembered: str) -> None:
    given = {"session": "*", "about": "sourdough hydration percentages"}

    assert scripted(pi, model, "history_list", given)["items"] == []
