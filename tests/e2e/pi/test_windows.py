"""Sessions that move on: windows, branches, and sessions without a file."""

from __future__ import annotations

import re
import shutil

from boot_blocks import blocks, shown
from model import Request, ScriptedModel, Text, ToolCall, Turn
from pi_host import Pi, output, script

DONE = Turn(Text("done"))


def place(request: Request, text: str) -> int:
    """Return the index of the message that consists of a text."""
    return next(
        index
        for index, message in enumerate(request.messages)
        if message["content"][0].get("text") == text
    )


def test_the_boot_block_opens_the_window_and_stays_the_same(pi: Pi, model: ScriptedModel) -> None:
    pi.note("plan", "Ship it.")
    with pi.rpc() as rpc:
        model.then(Turn(ToolCall("notes_list", {})), DONE)
        rpc.prompt("one")
        pi.note("later", "Written after the block.")
        model.then(DONE)
        rpc.prompt("two")

    [block] = blocks(pi.entries())
    assert block["window"] == "root"
    assert "@project/plan" in block["text"]
    assert [shown(request, block["text"]) for request in model.played] == [1, 1, 1]
    assert [place(request, block["text"]) for request in model.played] == [0, 0, 0]


def test_the_block_names_the_tools_as_the_model_sees_them(pi: Pi, model: ScriptedModel) -> None:
    model.then(DONE)
    pi.say("one")

    [block] = blocks(pi.entries())
    assert block["text"].count("notes_write") == 1
    assert "mcp__" not in block["text"]


def test_the_block_of_an_empty_memory_says_it_in_one_line_and_as_of_when(
    pi: Pi, model: ScriptedModel
) -> None:
    model.then(DONE)
    pi.say("one")

    [block] = blocks(pi.entries())
    first, *lines = block["text"].splitlines()
    assert re.search(r"as of \d{4}-\d{2}-\d{2} \d{2}:\d{2} \(UTC[+-]\d\d:\d\d\)$", first)
    assert "No notes yet: this session, @project, @human, @self, @model." in lines


def test_the_block_names_no_tool_that_the_session_was_not_offered(
    pi: Pi, model: ScriptedModel
) -> None:
    model.then(DONE)
    pi.say("one", "--tools", "read,notes_list")

    [block] = blocks(pi.entries())
    assert "notes_write" not in block["text"]
    assert "history_list" not in block["text"]


def test_a_session_outlives_its_directory(pi: Pi, model: ScriptedModel) -> None:
    """A worktree that is removed while the agent works in it."""
    pi.call("notes_write", {"address": "@human/likes", "content": "Short answers."})
    with pi.rpc() as rpc:
        model.then(DONE)
        rpc.prompt("one")
        shutil.rmtree(pi.project)
        model.then(
            Turn(
                ToolCall("notes_read", {"address": "@human/likes"}),
                ToolCall("notes_write", {"address": "plan", "content": "go on"}),
                ToolCall("notes_write", {"address": "@project/plan", "content": "no"}),
                ToolCall("history_list", {}),
            ),
            DONE,
        )
        rpc.prompt("two")

    results = model.played[-1].results
    assert [result.text.partition("\n")[0][:25] for result in results][1:3] == [
        "created plan.md | version",
        "error: invalid_cwd: the s",
    ]
    assert "Short answers." in results[0].text
    assert "user" in results[3].text


def test_a_compaction_opens_a_window_with_a_block_of_its_own(pi: Pi, model: ScriptedModel) -> None:
    with pi.rpc() as rpc:
        model.then(Turn(Text("the answer is 42")))
        rpc.prompt("what is the answer")
        rpc.ask("compact")
        model.then(DONE)
        rpc.prompt("go on")
        model.then(
            Turn(script("return await tools.history_list({query: 'answer is', before_seq: 4})")),
            DONE,
        )
        rpc.prompt("look back")

    entries = pi.entries()
    [first, second] = blocks(entries)
    [compaction] = [entry for entry in entries if entry["type"] == "compaction"]
    assert (first["window"], second["window"]) == ("root", compaction["id"])
    recipe = 'The window before this one: history_list {"after_seq":0,"before_seq":3}'
    assert recipe in second["text"].splitlines()
    after = model.played[1]
    assert shown(after, first["text"]) == 0
    assert shown(after, second["text"]) == 1
    # Behind the summary, in front of what goes on.
    assert place(after, second["text"]) == 1
    assert "the answer is 42" not in after.prompt
    [hit] = output(model.played[-1].results[0])["items"]
    assert "the answer is 42" in hit["content"]


def test_a_resumed_session_keeps_its_block(pi: Pi, model: ScriptedModel) -> None:
    model.then(DONE, DONE)
    pi.say("one")
    pi.note("later", "Written between.")
    pi.say("two", "--continue")

    [block] = blocks(pi.entries())
    assert [shown(request, block["text"]) for request in model.played] == [1, 1]


def test_a_reload_keeps_block_and_tools(pi: Pi, model: ScriptedModel) -> None:
    reloader = pi.agent_dir / "extensions" / "reloader.ts"
    reloader.write_text(
        """export default (pi) => pi.registerCommand("again", {
            description: "reload", handler: async (_args, ctx) => { await ctx.reload(); },
        });"""
    )
    with pi.rpc() as rpc:
        model.then(Turn(ToolCall("notes_list", {})), DONE)
        rpc.prompt("one")
        rpc.prompt("/again")
        model.then(Turn(ToolCall("notes_list", {})), DONE)
        rpc.prompt("two")
        assert rpc.notifications() == []

    [block] = blocks(pi.entries())
    assert [shown(request, block["text"]) for request in model.played] == [1] * 4
    assert not model.played[-1].results[0].is_error


def test_a_new_session_and_back_answers_from_the_session_that_runs(
    pi: Pi, model: ScriptedModel
) -> None:
    listing = script("return (await tools.history_list({roles: ['user']})).items")
    with pi.rpc() as rpc:
        model.then(DONE)
        rpc.prompt("in the first")
        first = rpc.ask("get_state")["sessionFile"]
        rpc.ask("new_session")
        model.then(Turn(listing), DONE)
        rpc.prompt("in the second")
        assert [r["content"] for r in output(model.played[-1].results[0])] == ["in the second"]
        rpc.ask("switch_session", sessionPath=first)
        model.then(Turn(listing), DONE)
        rpc.prompt("first again")

    rows = output(model.played[-1].results[0])
    assert [row["content"] for row in rows] == ["in the first", "first again"]


def test_a_branch_left_behind_is_not_history(pi: Pi, model: ScriptedModel) -> None:
    navigator = pi.agent_dir / "extensions" / "navigator.ts"
    navigator.write_text(
        """export default (pi) => pi.registerCommand("back", {
            description: "navigate", handler: async (args, ctx) => {
                await ctx.navigateTree(args.trim());
            },
        });"""
    )
    listing = script("return (await tools.history_list({roles: ['user', 'assistant']})).items")
    with pi.rpc() as rpc:
        model.then(Turn(Text("to be kept")))
        rpc.prompt("one")
        kept = rpc.ask("get_entries")["entries"][-1]["id"]
        model.then(Turn(Text("to be left")))
        rpc.prompt("two")
        rpc.prompt(f"/back {kept}")
        model.then(Turn(listing), DONE)
        rpc.prompt("three")

    rows = output(model.played[-1].results[0])
    assert [row["content"] for row in rows] == ["one", "to be kept", "three"]
    [block] = blocks(pi.entries())
    assert shown(model.played[-1], block["text"]) == 1


def test_a_session_without_a_file_has_history_and_notes(pi: Pi, model: ScriptedModel) -> None:
    listing = script("return (await tools.history_list({roles: ['user', 'context']})).items")

    def seen() -> list[tuple[str, str]]:
        rows = output(model.played[-1].results[0])
        return [(row["role"], row["content"]) for row in rows]

    with pi.rpc("--no-session") as rpc:
        model.then(Turn(ToolCall("notes_write", {"address": "a", "content": "b"})), DONE)
        rpc.prompt("one")
        model.then(Turn(listing), DONE)
        rpc.prompt("two")
        assert seen() == [("user", "one"), ("user", "two")]
        summary = rpc.ask("compact")["summary"]
        model.then(Turn(listing), DONE)
        rpc.prompt("three")
        assert seen() == [("user", "one"), ("user", "two"), ("context", summary), ("user", "three")]

    assert pi.session_files() == []
    assert [note.name for note in pi.notes.glob("pi/session/*/*.md")] == ["a.md"]


def test_the_running_call_is_pending_in_its_own_history(pi: Pi, model: ScriptedModel) -> None:
    for arguments in ((), ("--no-session",)):
        model.then(Turn(ToolCall("history_list", {"roles": ["tool"]}, id="toolu_asking")), DONE)
        pi.say("hello", *arguments)

        [result] = model.played[-1].results
        assert not result.is_error, result.text
        assert "history_list" in result.text
        assert "pending" in result.text
