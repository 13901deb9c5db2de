"""The list of all project tools, with their declarations."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from hindnote.core.errors import HostFailure
from hindnote.core.project.contract import envelope
from hindnote.core.project.contract.documents import DescribeSuccess, SearchSuccess
from hindnote.core.project.contract.todos import (
    AllocateSuccess,
    CreateSuccess,
    InspectSuccess,
    ScanSuccess,
    TransitionSuccess,
)
from hindnote.core.project.documents import describe, search
from hindnote.core.project.todos import tools as todos
from hindnote.core.project.tool import ProjectTool
from hindnote.core.tools.operation import Hints, Params
from hindnote.core.tools.schema import input_schema

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_ENVELOPE = (
    "Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok."
)
_LOOKING = Hints(read_only=True)

_ALL: tuple[ProjectTool[Any], ...] = (
    ProjectTool(
        name="project_artifact_search",
        title="Search project documents",
        description=(
            "Find Markdown documents and todos of this project by words and by exact frontmatter "
            "values, best first. Use it before writing something that may exist already. "
            + _ENVELOPE
            + " Only the first 1,200 characters of each body are searched: preview_covered is "
            "false where a body goes on. completeness counts what was left out."
        ),
        params=search.SearchParams,
        success=SearchSuccess,
        # The index is derived state; no document is ever written.
        hints=_LOOKING,
        handle=search.search,
        view=search.view,
    ),
    ProjectTool(
        name="project_artifact_describe",
        title="Describe document fields",
        description=(
            "List what frontmatter fields mean and which fields the documents hold, with counts "
            "and types, to know what search can filter on. "
            + _ENVELOPE
            + " Sample values come only with field_names and include_samples."
        ),
        params=describe.DescribeParams,
        success=DescribeSuccess,
        hints=_LOOKING,
        handle=describe.describe,
        view=describe.view,
    ),
    ProjectTool(
        name="project_todo_list",
        title="List todos",
        description=(
            "List the project's todos with path, id, status, priority and content hash, and every "
            "issue found. " + _ENVELOPE + " Issues with blocking: true block every change."
        ),
        params=todos.ScanParams,
        success=ScanSuccess,
        hints=_LOOKING,
        handle=todos.list_todos,
        view=todos.scan_view,
    ),
    ProjectTool(
        name="project_todo_validate",
        title="Validate todos",
        description=(
            "Check all todos: names, frontmatter, duplicate ids, names that clash. The same scan "
            "as project_todo_list, for its issues; nothing is repaired. " + _ENVELOPE
        ),
        params=todos.ScanParams,
        success=ScanSuccess,
        hints=_LOOKING,
        handle=todos.list_todos,
        view=todos.scan_view,
    ),
    ProjectTool(
        name="project_todo_inspect",
        title="Inspect one todo",
        description=(
            "Check one todo by path: data.state is valid, invalid or conflict. " + _ENVELOPE
        ),
        params=todos.InspectParams,
        success=InspectSuccess,
        hints=_LOOKING,
        handle=todos.inspect,
        view=todos.inspect_view,
    ),
    ProjectTool(
        name="project_todo_allocate",
        title="Allocate a todo id",
        description=(
            "Tell the next free todo id and the directory hash. Reserves nothing: "
            "project_todo_create allocates again. Finishes interrupted transitions first, which "
            "effects report. " + _ENVELOPE
        ),
        params=todos.ScanParams,
        success=AllocateSuccess,
        hints=Hints(read_only=False),
        handle=todos.allocate,
        view=todos.allocate_view,
    ),
    ProjectTool(
        name="project_todo_create",
        title="Create a todo",
        description=(
            "Create a todo file under the next id: title, priority (p1 to p3), body. "
            + _ENVELOPE
            + " On ok: false look at effects before trying again: documents other than none "
            "means that something may have been written."
        ),
        params=todos.CreateParams,
        success=CreateSuccess,
        hints=Hints(read_only=False, idempotent=False),
        handle=todos.create,
        view=todos.create_view,
    ),
    ProjectTool(
        name="project_todo_transition",
        title="Move a todo to another status",
        description=(
            "Move a todo to pending, ready or complete, in file name and frontmatter at once, "
            "when its content still has expected_content_hash. "
            + _ENVELOPE
            + " On ok: false look at effects before trying again."
        ),
        params=todos.TransitionParams,
        success=TransitionSuccess,
        hints=Hints(read_only=False, idempotent=False),
        handle=todos.transition,
        view=todos.transition_view,
    ),
)

TOOLS: Mapping[str, ProjectTool[Any]] = MappingProxyType({tool.name: tool for tool in _ALL})
"""All project tools by name, in the order in which they are declared."""


def tool_named(name: str) -> ProjectTool[Any]:
    """Return one tool.

    Raises:
        HostFailure: No tool has this name.
    """
    if name not in TOOLS:
        raise HostFailure(f"no project tool named {name!r}; there are: {', '.join(TOOLS)}")
    return TOOLS[name]


def output_adapter(name: str) -> TypeAdapter[Any]:
    """Return the validator of a tool's outputs, success and failure.

    Raises:
        HostFailure: No tool has this name.
    """
    return envelope.adapter_of(tool_named(name).success)


def output_schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of a tool's outputs, as a host declares it.

    Raises:
        HostFailure: No tool has this name.
    """
    return envelope.outputs_schema(tool_named(name).success)


def declaration(tool: ProjectTool[Any]) -> dict[str, Any]:
    """Return one tool's declaration as JSON-ready data, in the form of an operation's."""
    params: type[Params] = tool.params
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema(params),
        "outputSchema": output_schema(tool.name),
        "hints": to_builtins(tool.hints),
    }
