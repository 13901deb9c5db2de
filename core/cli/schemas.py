"""``hindnote schemas``: the tool declarations, generated from the operations."""

from __future__ import annotations

import json

import click

from hindnote.core.cli.tree import deliver
from hindnote.core.registry import NAMES


@click.command(short_help="Print the tools' declarations as JSON.")
@click.argument("operation", type=click.Choice(NAMES), metavar="[OPERATION]", required=False)
def schemas(operation: str | None) -> None:
    """Print the declaration of one tool, or of all seven as a list, as JSON.

    A declaration holds the name, title and description, the input schema, the
    output schema (a success or a refusal) and hints for the host.

    \b
    hindnote schemas notes_update
    hindnote schemas | jq '.[].name'
    """  # noqa: D301 (click reads the character itself)
    from hindnote.core.declarations import declaration
    from hindnote.core.registry import registry

    operations = registry()
    declared = (
        declaration(operations[operation])
        if operation
        else [declaration(each) for each in operations.values()]
    )
    deliver(json.dumps(declared, ensure_ascii=False, indent=2))
