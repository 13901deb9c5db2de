"""The tools as the model and a codemode script meet them in the real Pi."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from model import ScriptedModel, Text, ToolCall, Turn
from pi_host import RESERVE, WINDOW, Pi, output, script

from hindnote.core.tools.registry import NAMES, registry

DONE = Turn(Text("done"))


def rendered(operation: str, result: dict[str, Any]) -> str:
    """Return the rendering of a wire result, derived by the core from the result alone."""
    declared = registry()[operation]
    return declared.render(declared.success.model_validate(result))


def tried(operation: str, arguments: dict[str, Any]) -> str:
    """Return a script that calls a tool and returns its result."""
    return f"return await tools.{operation}({json.dumps(arguments)})"


def unversioned(receipt: str) -> str:
    """Return a receipt without the version, which depends on when the note was made."""
    return re.sub("version [0-9a-f]+", "version", receipt)


READS: list[tuple[str, dict[str, Any]]] = [
    ("notes_list", {}),
    ("notes_list", {"glob": "@project/**"}),
    ("notes_read", {"address": "@project/plan"}),
    ("notes_read", {"address": "@project/plan", "offset_chars": -4}),
    ("notes_search", {"query": ["ship", "nothing"]}),
    ("history_list", {"before_seq": 3}),
    ("history_list", {"before_seq": None, "after_seq": 0, "from": "oldest", "limit": 1}),
    ("history_list", {"before_seq": 3, "query": "hello", "roles": ["user"]}),
    ("history_read", {"seq": 1}),
]


@pytest.mark.parametrize(("operation", "arguments"), READS)
def test_model_and_script_get_both_forms_of_one_result(
    pi: Pi, model: ScriptedModel, operation: str, arguments: dict[str, Any]
) -> None:
    pi.note("plan", "Ship it.\nThen rest.")
    # In one answer, so that both look at the same history.
    model.then(Turn(ToolCall(operation, arguments), script(tried(operation, arguments))), DONE)

    pi.say("hello")

    [direct, scripted] = model.played[1].results
    assert not direct.is_error, direct.text
    assert direct.text == rendered(operation, output(scripted))


def test_mutations_give_receipts_in_both_forms(pi: Pi, model: ScriptedModel) -> None:
    content = "one\ntwo\nthree"
    edits = [{"old_text": "two", "new_text": "2"}]
    model.then(
        Turn(ToolCall("notes_write", {"address": "a", "content": content})),
        Turn(ToolCall("notes_update", {"address": "a", "edits": edits})),
        Turn(script(tried("notes_write", {"address": "b", "content": content}))),
        Turn(script(tried("notes_update", {"address": "b", "edits": edits}))),
        DONE,
    )

    pi.say("hello")

    [wrote], [updated], [wrote_b], [updated_b] = [r.results for r in model.played[1:]]
    assert output(wrote_b)["outcome"] == "created"
    assert output(updated_b)["change"] == "body"
    receipts = [
        rendered("notes_write", output(wrote_b)),
        rendered("notes_update", output(updated_b)),
    ]
    direct = [result.text.replace("a.md", "b.md") for result in (wrote, updated)]
    assert [unversioned(text) for text in direct] == [unversioned(text) for text in receipts]
    [a, b] = sorted(pi.notes.glob("pi/session/*/*.md"))
    assert a.read_text("utf-8").endswith("one\n2\nthree")
    assert b.read_text("utf-8").endswith("one\n2\nthree")


def test_an_updates_diff_is_stored_for_the_person_and_shown_to_nobody_else(
    pi: Pi, model: ScriptedModel
) -> None:
    pi.note("plan", "one\ntwo\nthree")
    edits = [{"old_text": "two", "new_text": "2"}]
    model.then(Turn(ToolCall("notes_update", {"address": "@project/plan", "edits": edits})), DONE)

    pi.say("hello")

    [stored] = [
        entry["message"]
        for entry in pi.entries()
        if entry.get("message", {}).get("toolName") == "notes_update"
    ]
    assert stored["details"] == {"diff": " 1 one\n-2 two\n+2 2\n 3 three", "firstChangedLine": 2}
    assert "\n" not in model.played[-1].results[0].text


def test_a_refusal_is_an_error_with_a_code_for_both(pi: Pi, model: ScriptedModel) -> None:
    missing = {"address": "@project/missing"}
    model.then(
        Turn(ToolCall("notes_read", missing)),
        Turn(script(tried("notes_read", missing))),
        Turn(script("const r = await tools.notes_read({address: 'x'}); return 'error' in r")),
        DONE,
    )

    pi.say("hello")

    [direct], [scripted], [narrowed] = [request.results for request in model.played[1:]]
    result = output(scripted)
    assert set(result) == {"error", "code"}
    assert result["code"] == "not_found"
    assert direct.is_error
    assert direct.text == f"error: not_found: {result['error']}"
    assert output(narrowed) is True


def test_arguments_that_break_the_schema_are_pis_own_failure(pi: Pi, model: ScriptedModel) -> None:
    wrong = {"address": "@project/plan", "lines": 5}
    caught = "try { await tools.notes_read({}); return 'no' } catch (e) { return String(e) }"
    model.then(Turn(ToolCall("notes_read", wrong)), Turn(script(caught)), DONE)

    pi.say("hello")

    [direct], [scripted] = model.played[1].results, model.played[2].results
    assert direct.is_error
    assert "lines" in direct.text
    assert not direct.text.startswith("error: ")
    assert "address" in scripted.text


def test_parallel_calls_answer_each_its_own(pi: Pi, model: ScriptedModel) -> None:
    for number in range(6):
        pi.note(f"n{number}", f"body {number}")
    calls = [ToolCall("notes_read", {"address": f"@project/n{number}"}) for number in range(6)]
    everything = "return await Promise.all([0,1,2,3,4,5].map(async (n) => "
    everything += "(await tools.notes_read({address: `@project/n${n}`})).text))"
    model.then(Turn(*calls), Turn(script(everything)), DONE)

    pi.say("hello")

    bodies = [f"body {number}" for number in range(6)]
    assert [r.text.rpartition("\n\n")[2] for r in model.played[1].results] == bodies
    assert output(model.played[2].results[0]) == bodies


def test_a_call_sees_the_rest_of_its_batch_pending(pi: Pi, model: ScriptedModel) -> None:
    listing = ToolCall("history_list", {"roles": ["tool"]})
    model.then(Turn(ToolCall("bash", {"command": "sleep 2"}), listing), DONE)

    pi.say("hello")

    listed = model.played[1].results[1]
    assert not listed.is_error, listed.text
    assert listed.text.count(" | pending\n") == 2
    assert "bash" in listed.text


def test_nested_calls_see_their_own_script_pending(pi: Pi, model: ScriptedModel) -> None:
    model.then(Turn(script("return (await tools.history_list({roles: ['tool']})).items")), DONE)

    pi.say("hello")

    [row] = output(model.played[1].results[0])
    assert (row["tool"], row["tool_status"]) == ("codemode", "pending")


def test_the_tools_work_where_scripts_alone_can_reach_them(pi: Pi, model: ScriptedModel) -> None:
    pi.settings(codemode={"mode": "only"})
    pi.note("plan", "Ship it.")
    model.then(Turn(script(tried("notes_read", {"address": "@project/plan"}))), DONE)

    pi.say("hello")

    assert list(model.played[0].tools) == ["codemode"]
    described = model.played[0].tools["codemode"]["description"]
    assert "notes_read" in described
    assert output(model.played[1].results[0])["text"] == "Ship it."
    assert "@project/plan" in model.played[0].prompt


def test_where_scripts_are_the_only_way_what_pi_does_not_list_can_be_found(
    pi: Pi, model: ScriptedModel
) -> None:
    pi.settings(codemode={"mode": "only"})
    model.then(Turn(script('return await describeTool("history_list")')), DONE)
    pi.say("hello")
    pi.settings(codemode={"mode": "only", "inlineBudget": 4_000})
    model.then(DONE)
    pi.say("hello")

    small, told, large = model.played
    listed = {name for name in NAMES if f"### `{name}`" in small.tools["codemode"]["description"]}
    assert set(NAMES) - listed == {"history_list"}
    assert "history_list" in small.prompt
    assert "page_older" in told.results[0].text
    assert all(f"### `{name}`" in large.tools["codemode"]["description"] for name in NAMES)


def test_the_remaining_context_is_what_pi_counts_less_its_reserve(
    pi: Pi, model: ScriptedModel
) -> None:
    asked = Turn(ToolCall("get_context_remaining", {}), input_tokens=50_000)
    scripted = Turn(script("return await tools.get_context_remaining({})"), input_tokens=60_000)
    model.then(asked, scripted, DONE)

    pi.say("hello")

    [direct], [nested] = model.played[1].results, model.played[2].results
    left = WINDOW - RESERVE - 50_000 - 10
    assert direct.text == f"{left} tokens remain"
    assert output(nested) == {"remaining_tokens": WINDOW - RESERVE - 60_000 - 10}


def test_a_models_own_reserve_goes_before_the_general_one(pi: Pi, model: ScriptedModel) -> None:
    override = {"scripted/scripted-1": {"reserveTokens": 190_000}}
    pi.settings(compaction={"reserveTokens": 1, "modelOverrides": override, "enabled": False})
    model.then(Turn(ToolCall("get_context_remaining", {}), input_tokens=50_000), DONE)

    pi.say("hello")

    assert model.played[1].results[0].text == "0 tokens remain"
