"""``hindnote present``: recorded tool results of Pi, for people and for viewers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindnote.core.cli.session_options import leave_refused
from hindnote.core.cli.tree import Failure, current_directory, deliver
from hindnote.core.errors import Refused

if TYPE_CHECKING:
    from hindnote.core.presentation.collect import Page

FORMATS = ("terminal", "json", "html")


@click.command(short_help="Show a Pi session's tool results.")
@click.option(
    "--session-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The session; by default the latest one of the current directory.",
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
    session_file: Path | None, seq: int | None, last: int | None, full: bool, format_: str
) -> None:
    """Show what Pi's tools answered: searches by file, edits as diffs, what was cut.

    \b
    hindnote present --last 3
    hindnote present --session-file SESSION.jsonl --seq 12
    hindnote present --session-file SESSION.jsonl --format html > page.html

    Shortened lines and outputs say how much is left out; json always has everything.
    """  # noqa: D301 (click reads the character itself)
    if seq is not None and last is not None:
        raise Failure("give --seq or --last, not both")
    page = _page(session_file or _latest(), seq, last)
    if format_ == "json":
        deliver(page.model_dump_json(exclude_none=True, indent=2), json=True)
    elif format_ == "html":
        from hindnote.core.presentation.html import document

        deliver(document(page, full))
    else:
        from hindnote.core.presentation.terminal import show

        show(page, full)


def _page(file: Path, seq: int | None, last: int | None) -> Page:
    from hindnote.core.presentation.collect import page_of
    from hindnote.hosts.pi.sessions.projection import Sessions

    try:
        projection = Sessions().of_file(file)
        if projection is None:
            raise Failure(f"there is no file {file}")
        return page_of(projection, seq, last)
    except Refused as refused:
        leave_refused(refused.refusal)


def _latest() -> Path:
    """Return the latest session that ran in the current directory."""
    from hindnote.core.plugins.models import HostCall
    from hindnote.hosts.pi.sessions.catalogue import Catalogue, places

    here = current_directory()
    for entry in Catalogue().sessions(places(HostCall(host="pi", cwd=here))):
        if entry.cwd is not None and Path(entry.cwd) == here:
            return entry.file
    raise Failure(f"no Pi session ran in {here}; name one with --session-file")
