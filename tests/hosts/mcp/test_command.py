"""``hindnote mcp`` as a program starts it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from click.testing import CliRunner, Result
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from hindnote.core.project.tools import TOOLS
from hindnote.core.tools.registry import registry
from hindnote.hosts.mcp.command import mcp

RECORDED = Path(__file__).parents[2] / "data" / "pi" / "basic.jsonl"
SERVER = ["-W", "error", "-c", "from hindnote.hosts.mcp.command import mcp; mcp()"]

T = TypeVar("T")


def notes_of(folder: Path) -> Path:
    """The notes home of a server in a folder: beside it, since one inside would be refused."""
    return folder.with_name(f"{folder.name}-notes")


def over_stdio(
    folder: Path, talk: Callable[[Client], Awaitable[T]], *options: str, mode: str = "auto"
) -> T:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*SERVER, *options],
        cwd=folder,
        env={"HINDNOTE_HOME": str(notes_of(folder)), "HOME": str(folder)},
    )

    async def main() -> T:
        with anyio.fail_after(60):
            async with Client(parameters, mode=mode) as client:
                return await talk(client)

    return anyio.run(main)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_program_with_the_sdk_writes_reads_and_is_refused(tmp_path: Path, mode: str) -> None:
    """With the greeting that there was before 2026-07-28, and without."""

    async def talk(client: Client) -> list[CallToolResult]:
        return [
            await client.call_tool("notes_write", {"address": "@self/a", "content": "é\u2028\n"}),
            await client.call_tool("notes_read", {"address": "@self/a"}),
            await client.call_tool("history_read", {"seq": 1}),
            await client.call_tool("notes_read", {"address": "@self/b"}),
        ]

    options = ["--agent", "Ed", "--history-of", "pi", "--session-file", str(RECORDED)]
    written, read, history, refused = over_stdio(tmp_path, talk, *options, mode=mode)

    assert (notes_of(tmp_path) / "agents/ed/a.md").is_file()
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

    (note,) = notes_of(project).glob("project/*/a.md")
    assert note.parent.name.startswith("my-project-")


class Started:
    """``hindnote mcp`` as it is started, with raw lines."""

    def __init__(
        self, folder: Path, *options: str, code: str = SERVER[-1], notes: Path | None = None
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code, *options],
            cwd=folder,
            env={**os.environ, "HINDNOTE_HOME": str(notes or notes_of(folder))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def ask(self, method: str, params: Any = None) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def greet(self) -> None:
        self.ask("initialize", {"protocolVersion": "2025-06-18"})

    def end(self) -> tuple[int, bytes]:
        """Return the exit code and what was logged."""
        try:
            _, logged = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
        return self.process.returncode, logged


@pytest.mark.usefixtures("measured")
def test_a_server_answers_what_it_can_read_and_ends_with_its_input(tmp_path: Path) -> None:
    server = Started(tmp_path)
    server.greet()
    server.ask("tools/list")
    arguments = {"address": "@human/a", "content": "x"}
    written = server.ask("tools/call", {"name": "notes_write", "arguments": arguments})

    assert written["isError"] is False
    assert server.end() == (0, b"")


def test_home_and_directory_can_be_named(tmp_path: Path) -> None:
    project = tmp_path / "my-project"
    (project / ".git").mkdir(parents=True)
    server = Started(tmp_path, "--home", str(tmp_path / "elsewhere"), "--cwd", str(project))
    server.greet()
    arguments = {"address": "@project/a", "content": "x"}
    server.ask("tools/call", {"name": "notes_write", "arguments": arguments})

    assert server.end() == (0, b"")
    (note,) = tmp_path.glob("elsewhere/project/*/a.md")
    assert note.parent.name.startswith("my-project-")
    assert not notes_of(tmp_path).exists()


STUCK = """
import time
from hindnote.core.call import Dispatcher
def stuck(*_):
    print("a plugin prints", flush=True)
    time.sleep(600)
Dispatcher.call = stuck
from hindnote.hosts.mcp.command import mcp
mcp()
"""


def test_an_interrupt_ends_it_at_once_whatever_is_running(tmp_path: Path) -> None:
    server = Started(tmp_path, code=STUCK)
    server.greet()
    assert server.process.stdin
    assert server.process.stderr
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "notes_list"}}
    server.process.stdin.write(json.dumps(call).encode() + b"\n")
    server.process.stdin.flush()
    # What is printed comes out on standard error, and says that the call runs.
    assert server.process.stderr.readline() == b"a plugin prints\n"
    server.process.send_signal(signal.SIGINT)

    assert server.process.wait(30) == -signal.SIGINT
    assert server.end() == (-signal.SIGINT, b"")


def test_a_closed_output_ends_it(tmp_path: Path) -> None:
    server = Started(tmp_path)
    server.greet()
    assert server.process.stdout
    server.process.stdout.close()

    assert server.process.wait(30) == 0
    for stream in (server.process.stdin, server.process.stderr):
        assert stream
        stream.close()


LIGHT = """
import os, sys
real = os._exit
def leave(code):
    print(*sorted(sys.modules), file=sys.stderr)
    sys.stderr.flush()
    real(code)
os._exit = leave
from hindnote.hosts.mcp.command import mcp
mcp()
"""


def test_nothing_heavy_is_imported_before_a_call(tmp_path: Path) -> None:
    server = Started(tmp_path, "--history-of", "pi", code=LIGHT)
    server.greet()
    tools = server.ask("tools/list")["tools"]
    code, logged = server.end()

    assert (code, len(tools)) == (0, 7)
    loaded = set(logged.decode().split())
    assert loaded & {"pydantic", "msgspec", "pluggy", "rich", "mcp", "asyncio", "logging"} == set()


def test_what_calls_need_is_imported_once_the_program_is_silent(tmp_path: Path) -> None:
    server = Started(tmp_path, code=WARMED)
    server.greet()
    server.ask("tools/list")
    assert server.process.stderr

    assert server.process.stderr.readline() == b"loaded\n"
    assert server.end() == (0, b"")


WARMED = """
import sys
from hindnote.hosts.mcp import command
real = command.Lazy.load
def load(self):
    loaded = real(self)
    print("loaded", file=sys.stderr, flush=True)
    return loaded
command.Lazy.load = load
command.mcp()
"""


def invoke(*options: str) -> Result:
    return CliRunner().invoke(mcp, options)


def test_a_host_that_is_not_there_is_refused_at_the_start() -> None:
    result = invoke("--history-of", "nobody")

    assert result.exit_code == 2
    assert "no history of 'nobody' can be read; there are: claude, codex, pi" in result.stderr


def test_the_server_s_own_history_cannot_be_read() -> None:
    assert "there are: claude, codex, pi" in invoke("--history-of", "mcp").stderr


def test_a_session_file_needs_the_host_that_wrote_it() -> None:
    result = invoke("--session-file", str(RECORDED))

    assert result.exit_code == 2
    assert "--session-file needs --history-of" in result.stderr


def test_a_notes_home_in_the_directory_of_the_server_is_refused(tmp_path: Path) -> None:
    server = Started(tmp_path, notes=tmp_path / "notes")
    server.greet()
    arguments = {"address": "@human/a", "content": "x"}
    written = server.ask("tools/call", {"name": "notes_write", "arguments": arguments})

    assert written["isError"] is True
    assert written["structuredContent"]["code"] == "outside_home"
    assert f"hindnote home trust {tmp_path}/notes" in written["structuredContent"]["error"]
    assert not (tmp_path / "notes").exists()
    assert server.end() == (0, b"")


def test_a_host_and_a_history_exclude_each_other() -> None:
    result = invoke("--host", "codex", "--history-of", "pi")

    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


def test_with_a_host_notes_and_history_are_those_of_the_session_that_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = "01a23047-1aea-7082-9c17-f2be3c3a742c"
    recorded = RECORDED.parents[1] / "codex" / "basic"
    shutil.copytree(recorded, tmp_path / "home" / ".codex")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home" / ".codex"))
    notes = notes_of(tmp_path)
    server = Started(tmp_path, "--host", "codex", notes=notes)
    server.greet()
    meta = {"sessionId": thread, "threadId": thread}

    arguments = {"address": "plan", "content": "x"}
    params = {"name": "notes_write", "arguments": arguments, "_meta": meta}
    written = server.ask("tools/call", params)
    listed = server.ask("tools/call", {"name": "history_list", "arguments": {}, "_meta": meta})

    assert written["isError"] is False, written
    assert (notes / "codex" / "session" / thread / "plan.md").is_file()
    assert "Gladly." in listed["content"][0]["text"]
    assert server.end() == (0, b"")


def test_the_project_tools_are_offered_when_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    server = Started(tmp_path, "--project-tools")
    server.greet()
    offered = {tool["name"] for tool in server.ask("tools/list")["tools"]}
    params: dict[str, Any] = {"name": "project_todo_list", "arguments": {}}
    scanned = server.ask("tools/call", params)
    wrong = server.ask("tools/call", {**params, "arguments": {"nope": 1}})

    assert offered == {*registry(), *TOOLS}
    assert scanned["structuredContent"]["ok"] is not scanned["isError"]
    assert wrong["isError"] is True
    assert "nope" in wrong["content"][0]["text"]
    assert server.end() == (0, b"")
