"""``hindnote todo …`` and ``hindnote docs …``: the project tools for people and scripts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hindnote.core.cli.tree import Group

if TYPE_CHECKING:
    from rich.console import Console

    from hindnote.core.project.tools import ToolAnswer

F = TypeVar("F", bound=Callable[..., Any])

STATUSES = ("pending", "ready", "complete")
PRIORITIES = ("p1", "p2", "p3")

TODO_HELP = """Keep a project's todos as Markdown files.

Each todo is one file in todos/, named <id>-<status>-<priority>-<words>.md. A change
holds a lock and keeps a journal, so that a crash leaves the todo before or after it.

\b
  hindnote todo create "Fix the login" --priority p1 --body "See the log."
  hindnote todo list
  hindnote todo transition 7 ready

Exit codes: 0 done, 1 refused (or, of validate: there are issues), 2 not possible.
"""

DOCS_HELP = """Find what a project knows already, in docs/ and todos/.

\b
  hindnote docs search rollback plan
  hindnote docs search --filter status=ready --filter tags=ops,deploy
  hindnote docs describe

Exit codes: 0 done, 1 refused, 2 not possible.
"""


def _common(command: F) -> F:
    """Add the options that every command here takes."""
    for option in reversed(
        (
            click.option(
                "--cwd",
                type=click.Path(exists=True, file_okay=False, path_type=Path),
                default=".",
                help="The project's directory; nothing outside is touched.  [default: .]",
            ),
            click.option(
                "--docs-root", metavar="PATH", help="Documents below it.  [default: docs]"
            ),
            click.option("--todos-root", metavar="PATH", help="Todos below it.  [default: todos]"),
            click.option(
                "--json", "as_json", is_flag=True, help="Print the tool's output as JSON."
            ),
        )
    ):
        command = option(command)
    return command


@click.group(
    cls=Group,
    help=TODO_HELP,
    short_help="Keep a project's todos as files; none gets lost or doubled.",
)
def todo() -> None:
    """Keep a project's todos as Markdown files."""


@click.group(
    cls=Group, help=DOCS_HELP, short_help="Search a project's documents and describe their fields."
)
def docs() -> None:
    """Find what a project knows already, in docs/ and todos/."""


# -- docs ------------------------------------------------------------------------


@docs.command()
@click.argument("words", nargs=-1)
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="KEY=VALUE[,VALUE…]",
    help="Frontmatter key with an exact value; repeat for more keys.",
)
@click.option("--require", multiple=True, help="Word or phrase that every hit must hold.")
@click.option("--prefer", multiple=True, help="Word or phrase that raises a hit's score.")
@click.option("--scope", type=click.Choice(["docs", "todos"]), help="Search one of both only.")
@click.option(
    "--match",
    type=click.Choice(["all", "any", "phrase"]),
    default="all",
    show_default=True,
    help="Whether all words must be there, any, or the exact phrase.",
)
@click.option(
    "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Hits to show."
)
@click.option(
    "--related",
    type=click.IntRange(0, 20),
    default=0,
    show_default=True,
    help="Related documents per hit.",
)
@click.option(
    "--freshness",
    type=click.Choice(["auto", "strict", "memory"]),
    default="auto",
    show_default=True,
    help="Compare times, compare contents, or use no cache.",
)
@click.option("--rebuild", is_flag=True, help="Make the index anew.")
@click.option("--explain", is_flag=True, help="Say with --json how each score came about.")
@_common
def search(
    words: tuple[str, ...],
    filters: tuple[str, ...],
    require: tuple[str, ...],
    prefer: tuple[str, ...],
    scope: str | None,
    match: str,
    limit: int,
    related: int,
    freshness: str,
    rebuild: bool,
    explain: bool,
    **place: Any,
) -> None:
    """Find documents by WORDS and frontmatter, best first.

    A word of three letters or more also finds longer ones that begin with it. Of each
    body the first 1,200 characters are searched.
    """
    arguments = {
        "query": " ".join(words),
        "required_terms": list(require),
        "optional_terms": list(prefer),
        "filters": dict(map(_filter, filters)),
        "scopes": [scope] if scope else None,
        "match": match,
        "limit": limit,
        "related_limit": related,
        "freshness": freshness,
        "rebuild": rebuild,
        "explain": explain,
    }
    _finish(_run("project_artifact_search", place, arguments), place)


def _filter(given: str) -> tuple[str, list[str]]:
    key, sign, values = given.partition("=")
    if not sign or not key:
        raise click.BadParameter(f"{given!r} is not KEY=VALUE", param_hint="--filter")
    return key, values.split(",")


@docs.command(short_help="Tell what frontmatter FIELDS mean and which there are.")
@click.argument("fields", nargs=-1)
@click.option("--samples", is_flag=True, help="Redacted sample values of the named FIELDS.")
@_common
def describe(fields: tuple[str, ...], samples: bool, **place: Any) -> None:
    """Tell what frontmatter FIELDS mean and which there are; all unless named."""
    if samples and not fields:
        raise click.UsageError("--samples needs the names of fields")
    arguments = {"field_names": list(fields) or None, "include_samples": samples}
    _finish(_run("project_artifact_describe", place, arguments), place)


# -- todo ------------------------------------------------------------------------


@todo.command(name="list")
@_common
def list_(**place: Any) -> None:
    """List the todos, and every issue found."""
    _finish(_run("project_todo_list", place), place)


@todo.command()
@_common
def validate(**place: Any) -> None:
    """Look for issues; exits with 1 when there are any."""
    answer = _run("project_todo_validate", place)
    found = answer.dto["ok"] and answer.dto["data"]["issues"]
    _finish(answer, place, failed=bool(found))


@todo.command()
@click.argument("which", metavar="PATH|ID")
@_common
def inspect(which: str, **place: Any) -> None:
    """Tell the state of one todo: valid, invalid or conflict."""
    _finish(_run("project_todo_inspect", place, {"path": _path(which, place)}), place)


@todo.command()
@_common
def allocate(**place: Any) -> None:
    """Tell the next free id. Reserves nothing, and finishes interrupted transitions."""
    _finish(_run("project_todo_allocate", place), place)


@todo.command()
@click.argument("title")
@click.option(
    "--priority", type=click.Choice(PRIORITIES), default="p2", show_default=True, help="How soon."
)
@click.option(
    "--status",
    type=click.Choice(STATUSES),
    default="pending",
    show_default=True,
    help="Where it starts.",
)
@click.option("--body", default="", help="Markdown; - reads it from standard input.")
@_common
def create(title: str, priority: str, status: str, body: str, **place: Any) -> None:
    """Create a todo with the next id."""
    arguments = {
        "title": title,
        "priority": priority,
        "status": status,
        "body": sys.stdin.read() if body == "-" else body,
    }
    _finish(_run("project_todo_create", place, arguments), place)


@todo.command(short_help="Move a todo to another STATUS.")
@click.argument("which", metavar="PATH|ID")
@click.argument("status", type=click.Choice(STATUSES))
@click.option(
    "--expected-hash",
    metavar="HASH",
    help="Refuse when the todo is not this content; default: as it is now.",
)
@_common
def transition(which: str, status: str, expected_hash: str | None, **place: Any) -> None:
    """Move a todo to another STATUS, in its name and its frontmatter at once."""
    path = _path(which, place)
    arguments = {
        "path": path,
        "to_status": status,
        "expected_content_hash": expected_hash or _hash(path, place),
    }
    _finish(_run("project_todo_transition", place, arguments), place)


def _path(which: str, place: Mapping[str, Any]) -> str:
    """Return the path of a todo given by path or by id."""
    if not which.isdecimal():
        return which
    from hindnote.core.project.outcome import Declined
    from hindnote.core.project.roots import locate
    from hindnote.core.project.todos.looking import observe

    try:
        workspace = locate(place["cwd"].resolve(), None, place["docs_root"], place["todos_root"])
        found = [item["path"] for item in observe(workspace).todos() if item["id"] == int(which)]
    except Declined as declined:
        raise click.ClickException(declined.message) from declined
    if len(found) != 1:
        told = "no todo" if not found else f"{len(found)} todos ({', '.join(found)})"
        advice = "give a path" if found else "'hindnote todo list' shows which there are"
        raise click.ClickException(f"{told} with id {which}; {advice}")
    return str(found[0])


def _hash(path: str, place: Mapping[str, Any]) -> str:
    dto = _run("project_todo_inspect", place, {"path": path}).dto
    todo_found = dto["data"].get("todo") if dto["ok"] else None
    # Without a hash the transition explains best what is wrong.
    return str(todo_found["hash"]) if todo_found else f"sha256:{'0' * 64}"


# -- both ------------------------------------------------------------------------


def _run(
    tool: str, place: Mapping[str, Any], arguments: Mapping[str, Any] | None = None
) -> ToolAnswer:
    from hindnote.core.project.tools import run_tool

    roots = {name: place[name] for name in ("docs_root", "todos_root")}
    return run_tool(tool, {**roots, **(arguments or {})}, base_cwd=place["cwd"].resolve())


def _finish(answer: ToolAnswer, place: Mapping[str, Any], *, failed: bool = False) -> None:
    if place["as_json"]:
        from hindnote.core.project.contract.marks import compact

        click.echo(compact(answer.dto))
    else:
        _show(answer)
    click.get_current_context().exit(1 if answer.is_error or failed else 0)


def _show(answer: ToolAnswer) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True, stderr=answer.is_error)
    details = answer.details
    style = "red" if answer.is_error else "bold"
    console.print(details["summary"], style=style, markup=False)
    for row in details.get("rows", ()):
        console.print(row, markup=False)
    if details.get("rows_omitted"):
        console.print(f"({details['rows_omitted']} rows are too much to show)", markup=False)
    _show_receipt(console, answer)


def _show_receipt(console: Console, answer: ToolAnswer) -> None:
    """Print omissions and effects, unless there is nothing to say."""
    effects = answer.dto["effects"]
    complete = not answer.is_error and answer.dto["completeness"]["complete"]
    if not complete or effects["documents"] != "none" or effects["recovery"]["started"]:
        # The receipt's first line says that nothing was omitted, when nothing was.
        lines = answer.blocks[-1].splitlines()[int(complete) :]
        console.print("\n".join(lines), style="dim", markup=False)
