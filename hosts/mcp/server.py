"""The seven tools as an MCP server: declarations, calls, and what goes wrong, on its wire.

A refusal is a tool result with ``isError`` and ``{error, code}`` as its structure.
Arguments that break the input schema are a protocol error (invalid params), and so is
the host's own failure (internal error); a crash's text stays in the log.
"""

from __future__ import annotations

import logging
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from hindnote.core.declarations import declaration
from hindnote.core.dispatch import Dispatcher, HostFailure
from hindnote.core.operation import ArgumentError
from hindnote.core.registry import registry
from hindnote.hosts.mcp.calls import Settings, history_call, notes_call
from hindnote.hosts.mcp.stdin import Mended

if TYPE_CHECKING:
    from pathlib import Path

    from mcp.server.context import ServerRequestContext

    from hindnote.core.calls import HostCall
    from hindnote.core.operation import Operation
    from hindnote.core.plugins import Hosts

INSTRUCTIONS = (
    "Notes that outlive this context, and the history of past sessions. Before you start, look "
    "with notes_list at what was kept for this project, for the person and for yourself."
)

log = logging.getLogger("hindnote.mcp")


def tool(operation: Operation[Any, Any]) -> Tool:
    """Return one operation as MCP declares it, hints as annotations."""
    declared = declaration(operation)
    hints = declared["hints"]
    return Tool(
        name=declared["name"],
        title=declared["title"],
        description=declared["description"],
        input_schema=declared["inputSchema"],
        output_schema=declared["outputSchema"],
        annotations=ToolAnnotations(
            title=declared["title"],
            read_only_hint=hints["readOnly"],
            destructive_hint=hints["destructive"],
            idempotent_hint=hints["idempotent"],
            # All there is lies on this machine.
            open_world_hint=False,
        ),
    )


class Tools:
    """Answers the two requests that a server of tools gets.

    Args:
        settings: What the server was told at its start.
        hosts: The installed hosts.
        home: The notes home, absolute.
    """

    def __init__(self, settings: Settings, hosts: Hosts, home: Path) -> None:
        self._settings = settings
        self._hosts = hosts
        self._dispatcher = Dispatcher(hosts, home)
        self._tools = [tool(operation) for operation in registry().values()]

    async def list(
        self, context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return the seven, on one page."""
        return ListToolsResult(tools=self._tools)

    async def call(
        self, context: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult:
        """Carry out one call, beside others that run."""
        return await anyio.to_thread.run_sync(self.answer, params.name, params.arguments or {})

    def answer(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Return one call's result, in both forms.

        Raises:
            MCPError: There is no such tool, the arguments break its input schema, or
                the call could not be carried out.
        """
        if name not in registry():
            known = ", ".join(registry())
            raise MCPError(INVALID_PARAMS, f"no tool named {name!r}; there are: {known}")
        try:
            answer = self._dispatcher.call(self._call(name), name, arguments)
        except ArgumentError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except HostFailure as error:
            log.exception("%s failed", name)
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        except Exception:
            # The border of the process: a crash keeps its trace in the log, and the
            # model is told that there was one, not what it said.
            log.exception("%s crashed", name)
            raise MCPError(
                INTERNAL_ERROR, "hindnote failed unexpectedly; its log says why"
            ) from None
        return CallToolResult(
            content=[TextContent(type="text", text=answer.text)],
            structured_content=dict(answer.result),
            is_error=answer.is_error,
        )

    def _call(self, name: str) -> HostCall:
        if registry()[name].family == "history":
            return history_call(self._settings, self._hosts)
        return notes_call(self._settings)


def make_server(settings: Settings, hosts: Hosts, home: Path) -> Server[Any]:
    """Return the server, ready to be connected."""
    tools = Tools(settings, hosts, home)
    return Server(
        "hindnote",
        version=version("hindnote"),
        title="hindnote",
        instructions=INSTRUCTIONS,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
    )


async def serve(settings: Settings, hosts: Hosts, home: Path) -> None:
    """Serve one program over standard input and output until it closes them."""
    server = make_server(settings, hosts, home)
    lines = Mended(sys.stdin.buffer, encoding="utf-8", errors="replace")
    async with stdio_server(stdin=anyio.wrap_file(lines)) as (source, sink):
        await server.run(source, sink, server.create_initialization_options())
