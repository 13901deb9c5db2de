"""What the commands of the project tools share: options, the call, and printing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hindnote.core.cli.tree import Failure, current_directory, deliver
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from rich.console import Console

    from hindnote.core.project.run import ToolAnswer

F = TypeVar("F", bound=Callable[..., Any])


def common(command: F) -> F:
    """Add the common options to a command."""
    for option in reversed(
        (
            click.option(
                "--cwd",
                type=click.Path(exists=True, file_okay=False, path_type=Path),
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


def run(
    tool: str, place: Mapping[str, Any], arguments: Mapping[str, Any] | None = None
) -> ToolAnswer:
    """Return the answer of a tool.

    Args:
        tool: The tool's name.
        place: The values of the common options.
        arguments: The tool's own arguments.
    """
    from hindnote.core.project.run import run_tool

    roots = {name: place[name] for name in ("docs_root", "todos_root")}
    return run_tool(tool, {**roots, **(arguments or {})}, base_cwd=directory(place))


def directory(place: Mapping[str, Any]) -> Path:
    """Return the project's directory, links resolved.

    Raises:
        Failure: It does not exist.
    """
    base: Path = (place["cwd"] or current_directory()).absolute()
    if not base.is_dir():
        raise Failure(f"the directory {base} does not exist; change to another, or give --cwd")
    return base.resolve()


def finish(answer: ToolAnswer, place: Mapping[str, Any], *, failed: bool = False) -> None:
    """Print an answer and exit, with 1 when it is an error or ``failed`` is set."""
    if place["as_json"]:
        from hindnote.core.project.contract.marks import compact

        deliver(compact(answer.dto), json=True)
    else:
        _show(answer)
    click.get_current_context().exit(1 if answer.is_error or failed else 0)


def _show(answer: ToolAnswer) -> None:
    from hindnote.core.cli.console import SafeConsole

    console = SafeConsole(highlight=False, soft_wrap=True, stderr=answer.is_error)
    details = answer.details
    style = "red" if answer.is_error else "bold"
    console.print(details["summary"], style=style, markup=False)
    for row in details.get("rows", ()):
        console.print(row, markup=False)
    if omitted := details.get("rows_omitted"):
        rows = f"{counted(omitted, 'row')} {'is' if omitted == 1 else 'are'}"
        console.print(f"({rows} too much to show)", markup=False)
    _show_receipt(console, answer)


def _show_receipt(console: Console, answer: ToolAnswer) -> None:
    """Print what was omitted and what the call did, unless both are nothing."""
    effects = answer.dto["effects"]
    complete = not answer.is_error and answer.dto["completeness"]["complete"]
    if not complete or effects["documents"] != "none" or effects["recovery"]["started"]:
        from hindnote.core.project.rendering import receipt_lines

        # Skip the receipt's first line if it only says that nothing was omitted.
        lines = receipt_lines(answer.dto)[int(complete) :]
        console.print("\n".join(lines), style="dim", markup=False)
