"""Generate ``mod/hooks/tools.ts`` from the declarations of operations and project tools.

Run ``python -m hindnote.hosts.claude.generate_tools`` after changing a description or parameters;
a test compares the file with the output of this module.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hindnote.core.project.tool import ProjectTool
from hindnote.core.project.tools import TOOLS
from hindnote.core.project.tools import declaration as project_declaration
from hindnote.core.tools.registry import Registry, registry
from hindnote.core.tools.schema import declaration, opened
from hindnote.hosts.claude.paths import TOOL_PREFIX

FILE = Path(__file__).parent / "mod" / "hooks" / "tools.ts"

_FRAME = """\
/** The tools, generated from what hindnote's core declares; never written by hand. */
import type {{ ToolSpec }} from 'claude-code'

/** What stands before a tool's name as the model sees it. */
export const TOOL_PREFIX = {prefix}

/** The tools that only look, and so may run twice. */
export const READING: readonly string[] = {reading}

/** The tools that change files of the project. */
export const EDITING: readonly string[] = {editing}

/** The seven operations. */
export const TOOLS: readonly ToolSpec[] = {tools}

/** The tools for a project's documents and todos. */
export const PROJECT_TOOLS: readonly ToolSpec[] = {project}
"""


def module(operations: Registry, project: Mapping[str, ProjectTool[Any]]) -> str:
    """Return the TypeScript module that declares these operations and project tools."""
    reading = [name for name, operation in operations.items() if operation.hints.read_only]
    reading += [name for name, tool in project.items() if tool.hints.read_only]
    editing = [name for name, tool in project.items() if not tool.hints.read_only]
    return _FRAME.format(
        prefix=_ts(TOOL_PREFIX),
        reading=_ts(reading),
        editing=_ts(editing),
        tools=_ts([_spec(declaration(operation)) for operation in operations.values()]),
        project=_ts([_spec(project_declaration(tool)) for tool in project.values()]),
    )


def _spec(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": declared["name"],
        "description": declared["description"],
        "inputSchema": opened(declared["inputSchema"]),
    }


def _ts(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    FILE.write_text(module(registry(), TOOLS), encoding="utf-8")
