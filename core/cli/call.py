"""``hindnote call``: one operation, with exactly the output that a host's model receives."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from hindnote.core.cli.completion import complete_host
from hindnote.core.cli.home_option import HomeType
from hindnote.core.cli.tree import Failure, current_directory, deliver
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.text import clean
from hindnote.core.tools.registry import NAMES, registry

EXAMPLE = """'{"address": "plan"}'"""

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Call one of the seven tools.")
@click.argument("operation", type=click.Choice(NAMES), metavar="OPERATION")
@click.argument("arguments", metavar="[JSON | -]", default="{}")
@click.option(
    "--host",
    metavar="HOST",
    default="pi",
    show_default=True,
    shell_complete=complete_host,
    help="Whose notes and sessions.",
)
@click.option("--cwd", type=FOLDER, help="Where the host runs; by default the current directory.")
@click.option(
    "--home",
    type=HomeType(),
    metavar="DIRECTORY",
    help="The notes home; by default HINDNOTE_HOME, or ~/.agents/notes.",
)
@click.option("--session-file", type=FILE, help="The session's file, for its notes and history.")
@click.option(
    "--leaf",
    metavar="ENTRY",
    help="For history, the entry where the session stands; by default its last.",
)
@click.option("--session-id", metavar="ID", help="The session's id, when there is no file.")
@click.option("--agent", metavar="NAME", help="Whose @self; by default the host's usual agent.")
@click.option("--model", metavar="NAME", help="Whose @model; by default 'default'.")
@click.option("--structured", is_flag=True, help="Print the structured result as compact JSON.")
def call(
    operation: str,
    arguments: str,
    host: str,
    cwd: Path | None,
    home: Path | DatabaseHome | None,
    session_file: Path | None,
    leaf: str | None,
    session_id: str | None,
    agent: str | None,
    model: str | None,
    structured: bool,
) -> None:
    """Call one of the seven tools and print what a model would read.

    The tools are notes_list, notes_read, notes_search, notes_write, notes_update,
    history_list and history_read. The arguments are one JSON object; - reads it from
    standard input.

    \b
    hindnote call notes_read '{"address": "@project/plan"}'
    hindnote call notes_search '{"query": ["sqlite", "postgres"]}' --structured
    hindnote call history_read '{"seq": 12}' --session-file SESSION.jsonl
    hindnote call notes_write - < arguments.json

    Exits with 0 for a success, 1 for a refusal, 2 when the call was not possible.
    'hindnote schemas OPERATION' shows the arguments of a tool.
    """  # noqa: D301 (click reads the character itself)
    from hindnote.core.call import Dispatcher
    from hindnote.core.places.home import notes_home
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.core.plugins.models import HostCall

    if leaf is not None and registry()[operation].family != "history":
        raise click.UsageError(
            f"--leaf chooses a branch of history, and {operation} reads none; leave it out"
        )
    given = parse_arguments(arguments)
    asked = HostCall(
        host=clean(host),
        session_id=_cleaned(session_id),
        session_file=session_file.absolute() if session_file else None,
        leaf_id=_cleaned(leaf),
        cwd=(cwd or current_directory()).absolute(),
        agent=_cleaned(agent),
        model=_cleaned(model),
    )
    dispatcher = Dispatcher(Hosts.load(), notes_home(home))
    answer = dispatcher.call(asked, operation, given)
    deliver(answer.structured() if structured else answer.text, json=structured)
    click.get_current_context().exit(1 if answer.is_error else 0)


def parse_arguments(text: str) -> dict[str, Any]:
    """Return the arguments of a call; ``-`` reads them from standard input.

    Raises:
        Failure: They are not a JSON object.
    """
    advice = (
        f"give one JSON object, in single quotes in a shell, for example {EXAMPLE}, "
        "or - to read it from standard input"
    )
    try:
        if text == "-":
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        given = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise Failure(f"the arguments are nested too deeply; {advice}") from None
    except ValueError as error:
        raise Failure(f"the arguments are not JSON ({error}); {advice}") from None
    if not isinstance(given, dict):
        raise Failure(f"the arguments are JSON, but no object; {advice}")
    return given


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _cleaned(value: str | None) -> str | None:
    return None if value is None else clean(value)
