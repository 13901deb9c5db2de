"""``hindnote todo …``: a project's todos, for people and scripts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from hindnote.core.cli.tree import Group
from hindnote.core.project.commands.common import common, directory, finish, run

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


@click.group(
    cls=Group,
    help=TODO_HELP,
    short_help="Keep a project's todos as files; none gets lost or doubled.",
)
def todo() -> None:
    """Keep a project's todos as Markdown files."""


@todo.command(name="list")
@common
def list_(**place: Any) -> None:
    """List the todos, and every issue found."""
    finish(run("project_todo_list", place), place)


@todo.command()
@common
def validate(**place: Any) -> None:
    """Look for issues; exits with 1 when there are any."""
    answer = run("project_todo_validate", place)
    found = answer.dto["ok"] and answer.dto["data"]["issues"]
    finish(answer, place, failed=bool(found))


@todo.command()
@click.argument("which", metavar="PATH|ID")
@common
def inspect(which: str, **place: Any) -> None:
    """Tell the state of one todo: valid, invalid or conflict."""
    finish(run("project_todo_inspect", place, {"path": _path(which, place)}), place)


@todo.command()
@common
def allocate(**place: Any) -> None:
    """Tell the next free id. Reserves nothing, and finishes interrupted transitions."""
    finish(run("project_todo_allocate", place), place)


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
@common
def create(title: str, priority: str, status: str, body: str, **place: Any) -> None:
    """Create a todo with the next id."""
    arguments = {
        "title": title,
        "priority": priority,
        "status": status,
        "body": sys.stdin.read() if body == "-" else body,
    }
    finish(run("project_todo_create", place, arguments), place)


@todo.command(short_help="Move a todo to another STATUS.")
@click.argument("which", metavar="PATH|ID")
@click.argument("status", type=click.Choice(STATUSES))
@click.option(
    "--expected-hash",
    metavar="HASH",
    help="Refuse when the todo is not this content; default: as it is now.",
)
@common
def transition(which: str, status: str, expected_hash: str | None, **place: Any) -> None:
    """Move a todo to another STATUS, in its name and its frontmatter at once."""
    path = _path(which, place)
    arguments = {
        "path": path,
        "to_status": status,
        "expected_content_hash": expected_hash or _hash(path, place),
    }
    finish(run("project_todo_transition", place, arguments), place)


def _path(which: str, place: Mapping[str, Any]) -> str:
    """Return the path of a todo given by path or by id."""
    if not which.isdecimal():
        return which
    from hindnote.core.project.outcome import Declined
    from hindnote.core.project.todos.observe import observe
    from hindnote.core.project.workspace import locate

    try:
        roots = (place["docs_root"], place["todos_root"])
        with locate(directory(place), None, *roots) as workspace:
            todos = observe(workspace).todos()
        found = [item["path"] for item in todos if item["id"] == int(which)]
    except Declined as declined:
        raise click.ClickException(declined.message) from declined
    if len(found) != 1:
        told = "no todo" if not found else f"{len(found)} todos ({', '.join(found)})"
        advice = "give a path" if found else "'hindnote todo list' shows which there are"
        raise click.ClickException(f"{told} with id {which}; {advice}")
    return str(found[0])


def _hash(path: str, place: Mapping[str, Any]) -> str:
    dto = run("project_todo_inspect", place, {"path": path}).dto
    todo_found = dto["data"].get("todo") if dto["ok"] else None
    # This hash does not match, and the transition then reports what is wrong.
    return str(todo_found["hash"]) if todo_found else f"sha256:{'0' * 64}"
