"""The real Codex with hindnote installed by its own command: what its model was sent."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from codex_host import AppServer, Codex, ours
from model import Text, ToolCall, Turn

from hindnote.core.tools.registry import registry

DATA = Path(__file__).parents[2] / "data"
DONE = Turn(Text("Done."))
TITLE = "# Memory beyond this window (hindnote)"


def start(server: AppServer, codex: Codex, **params: Any) -> str:
    started = server.request("thread/start", cwd=str(codex.project), **params)
    return str(started["thread"]["id"])


def compact(server: AppServer, codex: Codex, thread: str, summary: str) -> None:
    codex.model.then(Turn(Text(summary), when=lambda request: True))
    before = server.told
    server.request("thread/compact/start", threadId=thread)
    server.turn_end(thread, before)


def results(codex: Codex) -> list[str]:
    """Return the results of our calls, in order."""
    return [result.text for request in codex.model.played for result in request.results]


def blocks(request: Any) -> list[str]:
    """Return the boot blocks that a request holds."""
    return [
        message["content"]
        for message in request.messages
        if message["role"] == "developer" and TITLE in message["content"]
    ]


@pytest.mark.campaign
def test_the_tools_are_there_at_each_start(codex: Codex, rounds: Callable[[int], int]) -> None:
    missing = []
    for _ in range(rounds(20)):
        codex.model.then(DONE)
        codex.run("--skip-git-repo-check", "hello")
        offered = codex.model.played[-1].tools
        missing += [name for name in registry() if f"mcp__hindnote/{name}" not in offered]

    assert missing == []


def test_the_model_writes_reads_and_is_refused(codex: Codex) -> None:
    codex.model.then(
        Turn(ours("notes_write", address="plan", content="We use SQLite. naïve 👋\n")),
        Turn(ours("notes_read", address="plan")),
        Turn(ours("notes_read", address="@project/absent")),
        DONE,
    )

    codex.run("--skip-git-repo-check", "remember the plan")

    (rollout,) = codex.home.glob(".codex/sessions/*/*/*/rollout-*.jsonl")
    (note,) = codex.notes.glob("codex/session/*/plan.md")
    assert rollout.stem.endswith(note.parent.name)
    written, read, refused = results(codex)
    assert "created" in written
    assert "naïve 👋" in read
    assert "not_found" in refused


def test_history_is_the_running_session_and_reaches_behind_a_compaction(codex: Codex) -> None:
    with codex.served() as server:
        thread = start(server, codex)
        codex.model.then(
            Turn(ToolCall("exec_command", {"cmd": "echo the needle is 4711"})),
            Turn(Text("Found.")),
        )
        server.turn(thread, "Find the needle.")
        compact(server, codex, thread, "They looked for something.")
        codex.model.then(
            Turn(ours("history_list", query="needle")),
            Turn(ours("history_list", session=f"codex:{thread}", limit=3)),
            DONE,
        )
        server.turn(thread, "What did we find?")

    found, listed = results(codex)[-2:]
    assert "the needle is 4711" in found
    assert "What did we find?" in listed


def test_a_session_of_claude_code_is_found_by_what_it_is_about_and_by_its_words(
    codex: Codex,
) -> None:
    projects = codex.home / ".claude" / "projects" / "-workspace-demo"
    projects.mkdir(parents=True)
    shutil.copy(DATA / "claude" / "basic.jsonl", projects / "s.jsonl")
    first = json.loads((DATA / "claude" / "expected.json").read_text())["basic.jsonl"]
    codex.model.then(
        Turn(ours("history_list", session="claude:*", limit=1)),
        Turn(ours("history_list", session="*", query="greeting helper")),
        Turn(ours("history_list", session="*", about="adding a helper that greets")),
        DONE,
    )

    codex.run("--skip-git-repo-check", "what did Claude do?")

    listed, queried, about = results(codex)
    for answer in (listed, queried, about):
        assert f"claude:{first['session_id']}" in answer


def test_each_window_begins_with_a_block_of_its_own_once_the_hook_is_trusted(codex: Codex) -> None:
    with codex.served() as server:
        thread = start(server, codex)
        codex.model.then(DONE)
        server.turn(thread, "before anybody trusts it")
        codex.trust(server)
    untrusted = codex.model.played[-1]
    with codex.served() as server:
        thread = start(server, codex)
        codex.model.then(Turn(ours("notes_write", address="plan", content="Sail.\n")), DONE)
        server.turn(thread, "hello")
        first = codex.model.played[-1]
        compact(server, codex, thread, "They wrote a plan.")
        codex.model.then(DONE)
        server.turn(thread, "and now?")
        second = codex.model.played[-1]
    with codex.served() as server:
        server.request("thread/resume", threadId=thread)
        codex.model.then(DONE)
        server.turn(thread, "the next day")
        resumed = codex.model.played[-1]
        forked = server.request("thread/fork", threadId=thread)["thread"]["id"]
        codex.model.then(DONE)
        server.turn(forked, "in the fork")

    assert blocks(untrusted) == []
    (block,) = blocks(first)
    assert f"session {thread}" in block
    assert "No notes yet" in block
    (block,) = blocks(second)
    assert "plan.md" in block
    assert "Windows of this session" in block
    assert blocks(resumed) == blocks(second)
    assert f"session {forked}" in blocks(codex.model.played[-1])[-1]


def test_a_subagent_shares_the_notebook_and_has_a_history_of_its_own(codex: Codex) -> None:
    def main(request: Any) -> bool:
        return "Send an agent." in request.prompt

    def sent(request: Any) -> bool:
        return "Count the files." in request.prompt and not main(request)

    with codex.served() as server:
        codex.trust(server)
    with codex.served() as server:
        thread = start(server, codex)
        child: list[str] = []

        def wait(request: Any) -> list[ToolCall]:
            child.append(json.loads(request.results[-1].text)["agent_id"])
            return [ToolCall("multi_agent_v1/wait_agent", {"targets": child})]

        codex.model.then(
            Turn(ToolCall("multi_agent_v1/spawn_agent", {"message": "Count the files."})),
            Turn(ours("notes_write", address="found", content="One.\n"), when=sent),
            Turn(ours("history_list"), when=sent),
            Turn(Text("There is one."), when=sent),
            Turn(wait, when=main),
            Turn(ours("history_list", session=f"codex:{thread}/*"), when=main),
            Turn(Text("One."), when=main),
        )
        server.turn(thread, "Send an agent.")

    (note,) = codex.notes.glob("codex/session/*/found.md")
    assert note.parent.name == thread
    of_child = [request for request in codex.model.played if sent(request)]
    assert "Count the files." in of_child[2].results[0].text
    assert "Send an agent." not in of_child[2].results[0].text
    (block,) = blocks(of_child[0])
    assert f"session {thread}" in block


def test_uninstalling_leaves_the_configuration_as_codex_and_the_person_wrote_it(
    codex: Codex,
) -> None:
    installed = codex.config.read_bytes()
    codex.hindnote("uninstall", "codex")
    before = codex.config.read_bytes()
    assert before in installed
    assert before.startswith(b"# mine\n")
    assert b"hindnote" not in before

    codex.hindnote("install", "codex")
    assert codex.config.read_bytes() == installed
    with codex.served() as server:
        codex.trust(server)
    codex.hindnote("uninstall", "codex")

    left = codex.config.read_text()
    assert left.startswith(before.decode())
    assert "boot codex" not in left
    assert "mcp_servers" not in left
    codex.model.then(DONE)
    codex.run("--skip-git-repo-check", "hello")
    assert not any("hindnote" in name for name in codex.model.played[-1].tools)


def test_project_tools_are_offered_when_they_were_asked_for(codex: Codex) -> None:
    codex.hindnote("install", "codex", "--project-tools")
    codex.model.then(Turn(ours("project_todo_list")), DONE)

    codex.run("--skip-git-repo-check", "todos?")

    assert "mcp__hindnote/project_todo_list" in codex.model.played[0].tools
    assert '"ok":' in results(codex)[0]
