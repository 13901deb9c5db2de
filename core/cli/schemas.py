"""``hindnote schemas``: the tool declarations, generated from the operations and tools."""

from __future__ import annotations

import json
from typing import Any

import click

from hindnote.core.cli.tree import deliver
from hindnote.core.project.tools import TOOLS as PROJECT_TOOLS
from hindnote.core.project.tools import declaration as project_declaration
from hindnote.core.tools.registry import NAMES, registry
from hindnote.core.tools.schema import declaration


@click.command(short_help="Print the tools' declarations as JSON.")
@click.argument(
    "tool", type=click.Choice([*NAMES, *PROJECT_TOOLS]), metavar="[TOOL]", required=False
)
@click.option("--project", is_flag=True, help="Print those of the eight project tools.")
def schemas(tool: str | None, project: bool) -> None:
    """Print the declaration of one tool, or of all seven as a list, as JSON.

    A declaration holds the name, title and description, the input schema, the
    output schema (a success or a refusal) and hints for the host.

    \b
    hindnote schemas notes_update
    hindnote schemas | jq '.[].name'
    hindnote schemas --project
    """  # noqa: D301 (click reads the character itself)
    if project and tool is not None and tool not in PROJECT_TOOLS:
        raise click.UsageError(
            f"{tool} is no project tool; there are: {', '.join(PROJECT_TOOLS)}; "
            "without --project it is printed"
        )
    if tool is not None:
        declared: Any = _declared(tool)
    else:
        declared = [_declared(name) for name in (PROJECT_TOOLS if project else NAMES)]
    deliver(json.dumps(declared, ensure_ascii=False, indent=2), json=True)


def _declared(name: str) -> dict[str, Any]:
    if name in PROJECT_TOOLS:
        return project_declaration(PROJECT_TOOLS[name])
    return declaration(registry()[name])
