"""The server with the SDK's own client, in one process."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, Tool

from hindnote.core.declarations import declaration
from hindnote.core.dispatch import Dispatcher, HostFailure
from hindnote.core.plugins import Hosts
from hindnote.core.registry import registry
from hindnote.hosts.mcp import plugin
from hindnote.hosts.mcp.calls import Settings, history_call, notes_call
from hindnote.hosts.mcp.server import INSTRUCTIONS, make_server
from hindnote.hosts.pi import plugin as pi

RECORDED = Path(__file__).parents[2] / "data" / "pi" / "basic.jsonl"

T = TypeVar("T")


class Program:
    """A program that speaks MCP, and the server that it talks to."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder = folder
        self.mode = mode
        self.settings = Settings(folder, session_id="s-1", history_of="pi", session_file=RECORDED)
        self.hosts = Hosts.of({"mcp": plugin, "pi": pi})

    def run(self, talk: Callable[[Client], Awaitable[T]]) -> T:
        async def main() -> T:
            server = make_server(self.settings, self.hosts, self.folder / "notes")
            async with Client(server, mode=self.mode) as client:
                return await talk(client)

        return anyio.run(main)

    def call(self, name: str, **arguments: Any) -> CallToolResult:
        return self.run(lambda client: client.call_tool(name, arguments))

    def error(self, name: str, **arguments: Any) -> MCPError:
        """Return the protocol error that a call ends in."""

        async def talk(client: Client) -> MCPError:
            with pytest.raises(MCPError) as caught:
                await client.call_tool(name, arguments)
            return caught.value

        return self.run(talk)

    def tools(self) -> list[Tool]:
        async def talk(client: Client) -> list[Tool]:
            return (await client.list_tools()).tools

        return self.run(talk)


@pytest.fixture(params=["legacy", "auto"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Program:
    """One that greets the server as programs did before 2026-07-28, and one of today."""
    return Program(tmp_path, request.param)


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


def test_the_seven_are_declared_with_both_schemas_and_hints(program: Program) -> None:
    tools = program.tools()

    assert [tool.name for tool in tools] == list(registry())
    for tool in tools:
        declared = declaration(registry()[tool.name])
        assert tool.title == declared["title"]
        assert tool.description == declared["description"]
        assert tool.input_schema == declared["inputSchema"]
        assert tool.output_schema == declared["outputSchema"]
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is declared["hints"]["readOnly"]
        assert tool.annotations.destructive_hint is declared["hints"]["destructive"]
        assert tool.annotations.idempotent_hint is declared["hints"]["idempotent"]
        assert tool.annotations.open_world_hint is False


def test_the_program_is_told_what_the_tools_are_for(program: Program) -> None:
    async def talk(client: Client) -> str | None:
        return client.instructions

    assert program.run(talk) == INSTRUCTIONS


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("notes_list", {}),
        ("notes_read", {"address": "plan"}),
        ("notes_search", {"query": "sqlite"}),
        ("history_list", {"limit": 3}),
        ("history_read", {"seq": 1}),
    ],
)
def test_a_result_is_what_the_dispatcher_delivers_in_both_forms(
    program: Program, name: str, arguments: dict[str, Any]
) -> None:
    program.call("notes_write", address="plan", content="We use SQLite. \u2028 naïve 👋\n")

    result = program.call(name, **arguments)

    call = notes_call(program.settings)
    if name.startswith("history"):
        call = history_call(program.settings, program.hosts)
    wanted = Dispatcher(program.hosts, program.folder / "notes").call(call, name, arguments)
    assert not result.is_error
    assert text(result) == wanted.text
    assert result.structured_content == wanted.result


def test_a_null_of_the_result_arrives_as_null(program: Program) -> None:
    program.call("notes_write", address="plan", content="short")

    structure = program.call("notes_read", address="plan").structured_content

    assert structure["next_offset_chars"] is None


def test_a_refusal_is_an_error_result_with_its_code(program: Program) -> None:
    result = program.call("notes_read", address="absent")

    assert result.is_error
    assert set(result.structured_content) == {"error", "code"}
    assert result.structured_content["code"] == "not_found"
    assert text(result) == f"error: not_found: {result.structured_content['error']}"


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("notes_read", {}, "address: Field required"),
        ("notes_read", {"address": 5}, "address: Input should be a valid string"),
        ("notes_list", {"globs": "*"}, "globs: unknown field"),
        ("no_such_tool", {}, "notes_list, notes_read"),
    ],
)
def test_wrong_arguments_are_a_protocol_error_that_names_them(
    program: Program, name: str, arguments: dict[str, Any], told: str
) -> None:
    error = program.error(name, **arguments)

    assert error.code == INVALID_PARAMS
    assert told in error.message


def test_a_host_failure_is_an_internal_error_with_its_message(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise HostFailure("the host is gone")

    monkeypatch.setattr(Dispatcher, "call", fail)

    error = program.error("notes_list")

    assert (error.code, error.message) == (INTERNAL_ERROR, "the host is gone")


def test_a_crash_keeps_its_text_in_the_log(
    program: Program, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Dispatcher, "call", crash)

    with caplog.at_level(logging.ERROR):
        error = program.error("notes_list")

    assert error.code == INTERNAL_ERROR
    assert "secret" not in error.message
    assert "ZeroDivisionError: secret" in caplog.text


def test_session_notes_belong_to_the_session_of_the_options(program: Program) -> None:
    program.call("notes_write", address="plan", content="x")

    assert (program.folder / "notes/mcp/session/s-1/plan.md").is_file()


def test_without_a_session_id_there_are_no_session_notes(program: Program) -> None:
    program.settings = Settings(program.folder)

    assert program.call("notes_write", address="plan", content="x").structured_content["code"] == (
        "no_current_session"
    )


def test_without_a_host_to_read_there_is_no_current_session(program: Program) -> None:
    program.settings = Settings(program.folder)

    result = program.call("history_list")

    assert result.structured_content["code"] == "no_current_session"


def test_calls_run_beside_each_other(program: Program) -> None:
    names = [f"@human/n{number}" for number in range(12)]

    async def talk(client: Client) -> list[bool]:
        failed: list[bool] = []

        async def write(name: str) -> None:
            result = await client.call_tool("notes_write", {"address": name, "content": name})
            failed.append(result.is_error)

        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(write, name)
        return failed

    assert program.run(talk) == [False] * 12
    assert len(list((program.folder / "notes/human").glob("n*.md"))) == 12
