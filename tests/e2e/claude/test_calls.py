"""Calls in the real Claude Code: what the model was sent, and what the transcript holds."""

from __future__ import annotations

import json
import subprocess

from claude_host import DONE, PREFIX, Claude, results, texts, tool
from model import Request, Text, ToolCall, Turn

from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration, opened


def test_the_model_is_offered_the_seven_tools_as_declared(claude: Claude) -> None:
    claude.model.then(DONE)

    claude.run("hello")

    offered = claude.model.played[0].tools
    ours = [name for name in offered if name.startswith(PREFIX)]
    assert sorted(ours) == sorted(PREFIX + name for name in registry())
    for name, operation in registry().items():
        declared = declaration(operation)
        assert offered[PREFIX + name]["description"] == declared["description"]
        assert offered[PREFIX + name]["input_schema"] == opened(declared["inputSchema"])


def test_each_text_is_what_the_command_line_prints_for_the_same_state(claude: Claude) -> None:
    body = "# Plan\n\nWe use SQLite.\u2028Ünïcödé 👩‍👩‍👧 <b>&amp;</b> \t end\n\n"
    looks = [
        ("notes_list", {"glob": "@project/**"}),
        ("notes_read", {"address": "@project/plan"}),
        ("notes_read", {"address": "@project/plan", "limit_chars": 5}),
        ("notes_search", {"query": ["sqlite", "nothing"]}),
        ("notes_read", {"address": "own"}),
        ("history_read", {"seq": 1}),
        ("history_list", {"before_seq": 2}),
    ]
    claude.model.then(
        Turn(
            tool("notes_write", address="@project/plan", content=body),
            tool("notes_write", address="own", content="of this session"),
            # Events enough that a history read's recipe, which spans ten, does not change.
            *[tool("notes_read", address="own") for _ in range(9)],
        ),
        *[Turn(tool(name, **given)) for name, given in looks],
        DONE,
    )

    session = claude.run("remember the plan")

    answers = claude.model.played[2:]
    assert len(answers) == len(looks)
    for (name, given), request in zip(looks, answers, strict=True):
        (result,) = results(request)
        assert not result.is_error
        assert result.text == claude.printed(name, session, **given), name
    rows = json.dumps(claude.transcript(session), ensure_ascii=False)
    for request in answers:
        assert json.dumps(texts(request)[0], ensure_ascii=False)[1:-1] in rows


def test_a_page_recipe_is_accepted_as_it_was_printed(claude: Claude) -> None:
    recipe = {"before_seq": None, "after_seq": 0, "from": "oldest"}
    claude.model.then(Turn(tool("history_list", **recipe)), DONE)

    claude.run("hello")

    (result,) = results(claude.model.played[1])
    assert not result.is_error, result.text
    assert result.text.startswith("seq 1 | user")


def test_a_change_is_made_and_its_receipt_is_what_the_command_line_prints(claude: Claude) -> None:
    claude.model.then(
        Turn(tool("notes_write", address="@human/list", content="- one\n")),
        Turn(
            tool(
                "notes_update",
                address="@human/list",
                edits=[{"old_text": "- one\n", "new_text": "- one\n- two\n"}],
            )
        ),
        Turn(tool("notes_update", address="@human/list", rename_to="@human/items")),
        DONE,
    )

    session = claude.run("keep a list")

    assert claude.printed("notes_read", session, address="@human/items").endswith("- one\n- two\n")
    note = claude.notes / "human" / "items.md"
    assert note.read_text().endswith("- one\n- two\n")
    assert not (claude.notes / "human" / "list.md").exists()
    # Repeated with the same state before: renamed there and back.
    claude.printed("notes_update", session, address="@human/items", rename_to="@human/list")
    again = claude.printed("notes_update", session, address="@human/list", rename_to="@human/items")
    assert texts(claude.model.played[3]) == [again]


def test_a_refusal_is_one_line_and_what_the_command_line_prints(claude: Claude) -> None:
    claude.model.then(Turn(tool("notes_read", address="nowhere")), DONE)

    session = claude.run("read it")

    (result,) = results(claude.model.played[1])
    assert result.is_error
    assert result.text.startswith("error: not_found: ")
    assert "\n" not in result.text
    assert result.text == claude.printed("notes_read", session, 1, address="nowhere")


def test_bad_arguments_are_an_error_result_that_says_what_is_right(claude: Claude) -> None:
    claude.model.then(
        Turn(
            tool("notes_read", address=5),
            tool("notes_list", tool="x", agentId="y"),
        ),
        DONE,
    )

    claude.run("read it")

    first, second = results(claude.model.played[1])
    assert first.is_error
    assert "notes_read: invalid arguments: address: " in first.text
    assert second.is_error
    assert "agentId: unknown field" in second.text
    assert "tool: unknown field" in second.text


def test_parallel_calls_are_answered_each_with_its_own(claude: Claude) -> None:
    claude.model.then(
        Turn(*[tool("notes_write", address=f"n{n}", content=f"note {n}") for n in range(6)]),
        Turn(*[tool("notes_read", f"toolu_r{n}", address=f"n{n}") for n in range(6)]),
        DONE,
    )

    claude.run("write six")

    read = results(claude.model.played[2])
    assert [result.call_id for result in read] == [f"toolu_r{n}" for n in range(6)]
    for n, result in enumerate(read):
        assert result.text.endswith(f"note {n}")


def test_a_subagent_shares_the_notebook_and_has_a_history_of_its_own(claude: Claude) -> None:
    errand = "SUBAGENT ERRAND: read what was left for you"
    agent = {"description": "errand", "prompt": errand, "subagent_type": "general-purpose"}

    def is_subagents(request: Request) -> bool:
        return errand in json.dumps(request.messages[0])

    def is_mains(request: Request) -> bool:
        return bool(request.tools) and not is_subagents(request)

    claude.model.then(
        Turn(tool("notes_write", address="left", content="for the subagent"), when=is_mains),
        Turn(ToolCall("Agent", agent), when=is_mains),
        Turn(
            tool("notes_read", address="left"),
            tool("history_list", query=["ERRAND"]),
            tool("history_list", query=["MAIN PROMPT"]),
            when=is_subagents,
        ),
        Turn(Text("Read."), when=is_subagents),
        *[Turn(Text("Sent."), when=is_mains) for _ in range(2)],
    )

    claude.run("MAIN PROMPT: send somebody")

    inside = next(r for r in claude.model.played if is_subagents(r) and len(results(r)) == 3)
    note, own, main = results(inside)
    assert note.text.endswith("for the subagent")
    assert errand in own.text
    assert "MAIN PROMPT" not in main.text.replace('"MAIN PROMPT"', "")


def test_a_cd_before_a_call_does_not_move_the_project(claude: Claude) -> None:
    elsewhere = claude.project / "elsewhere"
    elsewhere.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=elsewhere, check=True)
    claude.model.then(
        Turn(ToolCall("Bash", {"command": "cd elsewhere && pwd"})),
        Turn(tool("notes_write", address="@project/here", content="of the root")),
        Turn(tool("notes_write", address="@project/there", content="x", cwd="elsewhere")),
        DONE,
    )

    session = claude.run("go", "--allowedTools", "Bash")

    rows = claude.transcript(session)
    assert any(row.get("cwd") == str(elsewhere) for row in rows)
    listed = claude.printed("notes_list", session, glob="@project/**")
    assert "@project/here.md" in listed
    assert "@project/there.md" not in listed


def test_a_result_near_the_budget_reaches_the_model_whole(claude: Claude) -> None:
    body = " ".join(f"{n:05d} ünd so weiter …" for n in range(1400))
    claude.model.then(
        Turn(tool("notes_write", address="long", content=body)),
        Turn(tool("notes_read", address="long", limit_chars=50_000)),
        DONE,
    )

    session = claude.run("read it all")

    (text,) = texts(claude.model.played[2])
    assert 32_000 < len(text.encode()) <= 32_768
    assert text == claude.printed("notes_read", session, address="long", limit_chars=50_000)
