"""``hindnote present``: recorded tool results, for people and for viewers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindnote.core.cli.completion import complete_host
from hindnote.core.cli.one_session import opened
from hindnote.core.cli.session_options import asking_for, leave_refused
from hindnote.core.cli.tree import Failure, deliver
from hindnote.core.errors import Refused
from hindnote.core.text import clean

if TYPE_CHECKING:
    from hindnote.core.history.projection import Projection

FORMATS = ("terminal", "json", "html")


@click.command(short_help="Show a session's tool results.")
@click.argument("session", required=False)
@click.option(
    "--session-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The session's file, wherever it lies.",
)
@click.option(
    "--host",
    default="pi",
    show_default=True,
    shell_complete=complete_host,
    help="Which host wrote the file.",
)
@click.option("--seq", type=click.IntRange(min=1), help="Show this one event.")
@click.option("--last", type=click.IntRange(min=1), help="Show the last so many.")
@click.option("--full", is_flag=True, help="Leave nothing out of long lines and outputs.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="terminal",
    show_default=True,
    help="For a terminal, for a program, or as one page for a browser.",
)
def present(
    session: str | None,
    session_file: Path | None,
    host: str,
    seq: int | None,
    last: int | None,
    full: bool,
    format_: str,
) -> None:
    """Show what tools answered: searches by file, edits as diffs, what was cut.

    SESSION is what 'hindnote sessions' lists, or the beginning of its id; without it, and
    without --session-file, the latest session of this directory is shown.

    \b
    hindnote present --last 3
    hindnote present claude:4f6a07c1 --seq 12
    hindnote present --session-file SESSION.jsonl --format html > page.html

    Shortened lines and outputs say how much is left out; json always has everything.
    """  # noqa: D301 (click reads the character itself)
    if seq is not None and last is not None:
        raise Failure("give --seq or --last, not both")
    if session is not None and session_file is not None:
        raise Failure("give a session or --session-file, not both")
    from hindnote.core.presentation.collect import page_of

    try:
        found = opened(session).projection if session_file is None else _of(session_file, host)
        page = page_of(found, seq, last)
    except Refused as refused:
        leave_refused(refused.refusal)
    if format_ == "json":
        deliver(page.model_dump_json(exclude_none=True, indent=2), json=True)
    elif format_ == "html":
        from hindnote.core.presentation.html import document

        deliver(document(page, full))
    else:
        from hindnote.core.presentation.terminal import show

        show(page, full)


def _of(file: Path, host: str) -> Projection:
    """Return the session in a file that a host wrote."""
    asked = asking_for("*", host)
    call = asked.call.model_copy(update={"host": clean(host), "session_file": file.absolute()})
    return asked.dispatcher.sessions(call).current()
