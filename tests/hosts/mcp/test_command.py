"""``hindnote mcp`` as a program starts it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import anyio
import pytest
from click.testing import CliRunner, Result
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from hindnote.hosts.mcp.command import MISSING, mcp

RECORDED = Path(__file__).parents[2] / "data" / "pi" / "basic.jsonl"
SERVER = ["-W", "error", "-c", "from hindnote.hosts.mcp.command import mcp; mcp()"]

T = TypeVar("T")


def over_stdio(folder: Path, talk: Callable[[Client], Awaitable[T]], *options: str) -> T:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*SERVER, *options],
        cwd=folder,
        env={"HINDNOTE_HOME": str(folder / "notes"), "HOME": str(folder)},
    )

    async def main() -> T:
        with anyio.fail_after(60):
            async with Client(parameters) as client:
                return await talk(client)

    return anyio.run(main)


def test_a_program_writes_reads_and_is_refused_over_stdio(tmp_path: Path) -> None:
    async def talk(client: Client) -> list[CallToolResult]:
        return [
            await client.call_tool("notes_write", {"address": "@self/a", "content": "é\u2028\n"}),
            await client.call_tool("notes_read", {"address": "@self/a"}),
            await client.call_tool("history_read", {"seq": 1}),
            await client.call_tool("notes_read", {"address": "@self/b"}),
        ]

    options = ["--agent", "Ed", "--history-of", "pi", "--session-file", str(RECORDED)]
    written, read, history, refused = over_stdio(tmp_path, talk, *options)

    assert (tmp_path / "notes/agents/ed/a.md").is_file()
    assert written.structured_content["outcome"] == "created"
    assert read.structured_content["text"] == "é\u2028\n"
    assert read.structured_content["next_offset_chars"] is None
    assert history.structured_content["role"] == "user"
    assert refused.is_error
    assert refused.structured_content["code"] == "not_found"


def test_project_notes_are_those_of_the_directory_of_the_start(tmp_path: Path) -> None:
    async def talk(client: Client) -> CallToolResult:
        return await client.call_tool("notes_write", {"address": "@project/a", "content": "x"})

    project = tmp_path / "my-project"
    (project / ".git").mkdir(parents=True)
    over_stdio(project, talk)

    (note,) = project.glob("notes/project/*/a.md")
    assert note.parent.name.startswith("my-project-")


@pytest.mark.usefixtures("measured")
def test_a_server_answers_what_it_can_read_and_ends_with_its_input(tmp_path: Path) -> None:
    client = {"name": "t", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    write = {"name": "notes_write", "arguments": {"address": "@human/a", "content": "CONTENT"}}
    lines = [
        b"{ torn",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode(),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": write})
        # Half of a pair, as a program writes it whose strings are UTF-16; then a byte.
        .replace("CONTENT", "a \\ud83d b \\ud83d\\udc4b\\n")
        .encode(),
    ]
    done = subprocess.run(
        [sys.executable, *SERVER],
        cwd=tmp_path,
        env={**os.environ, "HINDNOTE_HOME": str(tmp_path / "notes")},
        input=b"\n".join(lines) + b"\n",
        capture_output=True,
        timeout=60,
        check=False,
    )

    # Nothing but messages comes out, or a line would not be JSON.
    answers = {a.get("id"): a for a in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0
    assert answers[1]["result"]["serverInfo"]["name"] == "hindnote"
    note = (tmp_path / "notes/human/a.md").read_text("utf-8")
    assert note.endswith("a \ufffd b 👋\n")


def invoke(*options: str) -> Result:
    return CliRunner().invoke(mcp, options)


def test_without_the_sdk_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "hindnote.hosts.mcp.command.find_spec",
        lambda name: None if name == "mcp" else found(name),
    )

    result = invoke()

    assert (result.exit_code, result.stderr) == (2, f"Error: {MISSING}\n")


def test_a_host_that_is_not_there_is_refused_at_the_start() -> None:
    result = invoke("--history-of", "nobody")

    assert result.exit_code == 2
    assert "no history of 'nobody' can be read; there are: claude, pi" in result.stderr


def test_the_server_s_own_history_cannot_be_read() -> None:
    assert "there are: claude, pi" in invoke("--history-of", "mcp").stderr


def test_a_session_file_needs_the_host_that_wrote_it() -> None:
    result = invoke("--session-file", str(RECORDED))

    assert result.exit_code == 2
    assert "--session-file needs --history-of" in result.stderr
