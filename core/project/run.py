"""One call of a project tool, the same for hosts and for the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hindnote.core.project import rendering
from hindnote.core.project.delivery import deliver
from hindnote.core.project.effects import EffectLog
from hindnote.core.project.outcome import Declined, Outcome
from hindnote.core.project.tool import Call, P, ProjectTool
from hindnote.core.project.tools import tool_named
from hindnote.core.project.workspace import locate
from hindnote.core.tools.operation import bind

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.project.documents.profiles import Providers


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer to one call, in every form that a host may need."""

    dto: dict[str, Any]
    """The output: one of contract v1's envelopes, JSON-ready, at most 65,536 bytes."""

    blocks: tuple[str, ...]
    """Content blocks: the answer, then a receipt of omissions and effects; at most 32,768
    bytes."""

    details: dict[str, Any]
    """Data for a host's renderer, at most 65,536 bytes; not a copy of the DTO."""

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return not self.dto["ok"]

    @property
    def text(self) -> str:
        """The content blocks as one text, joined as hosts join them for the model."""
        return "\n".join(self.blocks)

    def packaged(self) -> dict[str, Any]:
        """Return the answer in the form that a private transport sends, JSON-ready."""
        return {
            "result": self.dto,
            "blocks": list(self.blocks),
            "details": self.details,
            "isError": self.is_error,
        }


def run_tool(
    name: str,
    arguments: Mapping[str, Any],
    *,
    base_cwd: Path,
    providers: Providers | None = None,
) -> ToolAnswer:
    """Carry out one call, once.

    Args:
        name: The tool's name.
        arguments: The arguments as the host received them.
        base_cwd: The host session's directory, absolute; nothing outside it is touched.
        providers: Profile providers; None: the installed ones.

    Raises:
        HostFailure: The tool does not exist.
        ArgumentError: The arguments do not match the tool's input schema.
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
    """Return an outcome in every form.

    Args:
        tool: The tool that was called.
        outcome: The outcome of its handler.
        effects: The recorded effects; None when the handler does not record them.
    """
    dto = deliver(tool.success, outcome, effects)
    if isinstance(outcome, Declined):
        facts, view = None, rendering.view_of_failure(outcome)
    else:
        facts, view = outcome.data, tool.view(outcome.data, outcome.totals)
    return ToolAnswer(dto, rendering.blocks(view, facts, dto), rendering.details(tool.name, view))
