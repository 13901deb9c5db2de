"""Forked sessions in the real Pi, made in each way: their notes, their history, their blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from boot_blocks import blocks, shown
from model import Request, Result, ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi, Rpc, output, script

DONE = Turn(Text("done"))


def ask(rpc: Rpc, model: ScriptedModel, prompt: str, *calls: ToolCall) -> list[Result]:
    """Send a prompt whose answer makes these calls, and return what they answered."""
    model.then(*([Turn(*calls)] if calls else []), DONE)
    rpc.prompt(prompt)
    return model.played[-1].results


def write(address: str, content: str) -> ToolCall:
    return ToolCall("notes_write", {"address": address, "content": content})


def listing() -> ToolCall:
    return script("return (await tools.history_list({roles: ['user']})).items")


def test_a_fork_has_its_own_history_and_one_block(pi: Pi, model: ScriptedModel) -> None:
    listing = script("return (await tools.history_list({roles: ['user']})).items")
    with pi.rpc() as rpc:
        for prompt in ("one", "two"):
            model.then(DONE)
            rpc.prompt(prompt)
        [_, second] = rpc.ask("get_fork_messages")["messages"]
        rpc.ask("fork", entryId=second["entryId"])
        model.then(Turn(listing), DONE)
        rpc.prompt("other two")

    rows = output(model.played[-1].results[0])
    assert [row["content"] for row in rows] == ["one", "other two"]
    [_, fork] = pi.session_files()
    # Its parent's was copied with the other entries, and is not shown.
    [_, block] = blocks(pi.entries(fork))
    assert shown(model.played[-1], block["text"]) == 1


def test_a_fork_has_the_notes_of_its_parent_and_a_block_that_says_so(
    pi: Pi, model: ScriptedModel
) -> None:
    with pi.rpc() as rpc:
        model.then(
            Turn(ToolCall("notes_write", {"address": "plan", "content": "Ship it.\n"})), DONE
        )
        rpc.prompt("one")
        model.then(DONE)
        rpc.prompt("two")
        [_, second] = rpc.ask("get_fork_messages")["messages"]
        rpc.ask("fork", entryId=second["entryId"])
        edit = {"old_text": "it", "new_text": "later"}
        model.then(
            Turn(ToolCall("notes_list", {})),
            Turn(ToolCall("notes_update", {"address": "plan", "edits": [edit]})),
            DONE,
        )
        rpc.prompt("other two")

    [parent, fork] = pi.session_files()
    first = pi.entries(parent)[0]["id"]
    [listed] = model.played[-2].results
    assert f"inherited from {first}" in listed.text
    assert not model.played[-1].results[0].is_error
    # The first one was copied with the parent's entries, and no request of the fork shows it.
    [copied, block] = blocks(pi.entries(fork))
    assert (shown(model.played[-1], copied["text"]), shown(model.played[-1], block["text"])) == (
        0,
        1,
    )
    assert f"Forked from {first}" in block["text"]
    assert "- plan.md" in block["text"]
    files = sorted(pi.notes.glob("pi/session/*/plan.md"))
    assert sorted(file.read_text().split("---\n")[-1] for file in files) == [
        "Ship it.\n",
        "Ship later.\n",
    ]


@contextmanager
def cloned(pi: Pi, rpc: Rpc, options: list[str]) -> Iterator[Rpc]:
    rpc.ask("clone")
    yield rpc


@contextmanager
def forked_at_start(pi: Pi, rpc: Rpc, options: list[str]) -> Iterator[Rpc]:
    rpc.close()
    [source] = pi.session_files()
    with pi.rpc("--fork", str(source), *options) as again:
        yield again


WAYS = pytest.mark.parametrize(
    ("way", "options"),
    [(cloned, []), (forked_at_start, []), (forked_at_start, ["--session-id", "of-my-choice"])],
    ids=["clone", "--fork", "--fork --session-id"],
)
"""The ways besides ``/fork``, which leave out nothing of the session that they copy."""


@WAYS
def test_a_copy_of_a_session_keeps_the_notebook_and_has_a_true_block(
    pi: Pi, model: ScriptedModel, way: Any, options: list[str]
) -> None:
    with pi.rpc() as rpc:
        ask(rpc, model, "one", write("plan", "Ship it.\n"))
        [source] = pi.session_files()
        with way(pi, rpc, options) as copy:
            read, listed = ask(
                copy,
                model,
                "two",
                ToolCall("notes_read", {"address": "plan"}),
                ToolCall("notes_list", {}),
            )
            [rows] = ask(copy, model, "three", listing())
            block = the_block(pi, source, model.played[-1])
            ask(copy, model, "four", write("plan", "Ship later.\n"))

    first = pi.entries(source)[0]["id"]
    own = pi.entries(the_copy(pi, source))[0]["id"]
    assert own != first
    assert options == [] or own == options[1]
    assert "Ship it." in read.text
    assert f"inherited from {first}" in listed.text
    assert [row["content"] for row in output(rows)] == ["one", "two", "three"]
    assert f"session {own}" in block
    assert f"Forked from {first}" in block
    assert "- plan.md" in block
    assert "No notes yet: this session" not in block
    texts = {file.read_text().split("---\n")[-1] for file in pi.notes.glob("pi/session/*/plan.md")}
    assert texts == {"Ship it.\n", "Ship later.\n"}


@WAYS
def test_a_copy_of_a_compacted_session_is_told_its_windows(
    pi: Pi, model: ScriptedModel, way: Any, options: list[str]
) -> None:
    with pi.rpc() as rpc:
        model.then(Turn(Text("the answer is 42")))
        rpc.prompt("what is the answer")
        rpc.ask("compact")
        ask(rpc, model, "go on")
        [source] = pi.session_files()
        with way(pi, rpc, options) as copy:
            recipe = {"after_seq": 0, "before_seq": 3}
            [older] = ask(copy, model, "look back", ToolCall("history_list", recipe))
            block = the_block(pi, source, model.played[-1])

    assert "- window 1: seq 1 to 2, 2 events" in block
    assert f"history_list {json.dumps(recipe, separators=(',', ':'))}" in block
    assert "the answer is 42" in older.text


def the_copy(pi: Pi, source: Path) -> Path:
    """Return the file of the one session besides the first."""
    [copy] = [file for file in pi.session_files() if file != source]
    return copy


def the_block(pi: Pi, source: Path, request: Request) -> str:
    """Return the one boot block that a request of the copy shows, which is its own."""
    own = pi.entries(source)[0]["id"]
    stored = blocks(pi.entries(the_copy(pi, source)))
    seen = [block for block in stored if shown(request, block["text"])]
    [block] = seen
    assert block["session"] != own
    assert shown(request, block["text"]) == 1
    text: str = block["text"]
    return text
