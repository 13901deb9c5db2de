"""The eight project tools, and the one way in which hosts and people call them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from hindnote.core.errors import HostFailure
from hindnote.core.project.call import Call
from hindnote.core.project.effects import EffectLog
from hindnote.core.project.outcome import Declined, Outcome
from hindnote.core.project.tool import P, ProjectTool
from hindnote.core.tools.operation import Params, bind

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.project.documents.profiles import Providers

NAMES = (
    "project_artifact_search",
    "project_artifact_describe",
    "project_todo_list",
    "project_todo_validate",
    "project_todo_inspect",
    "project_todo_allocate",
    "project_todo_create",
    "project_todo_transition",
)
"""All there are, in the order in which they are declared."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What one call comes to, in every form that a host may need."""

    dto: dict[str, Any]
    """The native output: one of contract v1's envelopes, JSON-ready, at most 65,536 bytes."""

    blocks: tuple[str, ...]
    """Direct content: the answer, then a receipt of omissions and effects; 32,768 bytes."""

    details: dict[str, Any]
    """For a host's renderer, at most 65,536 bytes; no copy of the DTO."""

    @property
    def is_error(self) -> bool:
        """Whether the call failed natively."""
        return not self.dto["ok"]

    @property
    def text(self) -> str:
        """The direct content as one text, joined as hosts join blocks for the model."""
        return "\n".join(self.blocks)

    def packaged(self) -> dict[str, Any]:
        """Return the answer as a private transport carries it, JSON-ready."""
        return {
            "result": self.dto,
            "blocks": list(self.blocks),
            "details": self.details,
            "isError": self.is_error,
        }


@cache
def project_tools() -> Mapping[str, ProjectTool[Any]]:
    """Return the eight tools by name."""
    from hindnote.core.project.catalog import TOOLS

    return MappingProxyType({name: TOOLS[name] for name in NAMES})


def tool_named(name: str) -> ProjectTool[Any]:
    """Return one tool.

    Raises:
        HostFailure: There is none of that name.
    """
    if name not in NAMES:
        raise HostFailure(f"no project tool named {name!r}; there are: {', '.join(NAMES)}")
    return project_tools()[name]


def run_tool(
    name: str,
    arguments: Mapping[str, Any],
    *,
    base_cwd: Path,
    providers: Providers | None = None,
) -> ToolAnswer:
    """Carry out one call, once.

    Args:
        name: One of the eight.
        arguments: As the host received them.
        base_cwd: The host session's directory, absolute; nothing outside is touched.
        providers: Profile providers; the installed ones unless given.

    Raises:
        HostFailure: There is no such tool.
        ArgumentError: The arguments break the tool's input schema.
    """
    tool = tool_named(name)
    params = bind(tool.name, tool.params, arguments)
    effects = EffectLog()
    return answer(tool, _outcome(tool, params, base_cwd, effects, providers), effects)


def _outcome(
    tool: ProjectTool[P],
    params: P,
    base_cwd: Path,
    effects: EffectLog,
    providers: Providers | None,
) -> Outcome:
    from hindnote.core.project.workspace import locate

    try:
        roots = (params.workspace_root, params.docs_root, params.todos_root)
        with locate(base_cwd, *roots) as workspace:
            return tool.handle(Call(workspace, effects, providers), params)
    except Declined as declined:
        return declined
    except OSError as error:
        reason = error.strerror or str(error)
        return Declined("io_error", f"the file system refused: {reason}; see effects")


def answer(tool: ProjectTool[Any], outcome: Outcome, effects: EffectLog | None) -> ToolAnswer:
    """Return every form of one outcome.

    Args:
        tool: The tool that was called.
        outcome: What its handler ended with.
        effects: What was observed; None when the handler observes nothing.
    """
    from hindnote.core.project import rendering
    from hindnote.core.project.delivery import deliver

    dto = deliver(tool.name, outcome, effects)
    if isinstance(outcome, Declined):
        facts, view = None, rendering.view_of_failure(outcome)
    else:
        facts, view = outcome.data, tool.view(outcome.data, outcome.totals)
    return ToolAnswer(dto, rendering.blocks(view, facts, dto), rendering.details(tool.name, view))


def declaration(tool: ProjectTool[Any]) -> dict[str, Any]:
    """Return one tool's declaration as JSON-ready data, shaped like an operation's."""
    from hindnote.core.tools.schema import input_schema

    params: type[Params] = tool.params
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema(params),
        "outputSchema": tool.output_schema,
        "hints": to_builtins(tool.hints),
    }
