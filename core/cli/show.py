"""``hindnote show``: one session, rendered for a person."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

import click

from hindnote.core.cli.one_session import opened
from hindnote.core.cli.screen import is_terminal
from hindnote.core.cli.session_options import leave_refused, shown
from hindnote.core.cli.tree import deliver
from hindnote.core.errors import Refused
from hindnote.core.reader.page import PAGE, TEXT_LIMIT, Reading
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from rich.console import Console

    from hindnote.core.cli.one_session import Opened
    from hindnote.core.reader.page import Page

FORMATS = ("terminal", "html", "md")


@click.command(short_help="Show a session as a person reads it.")
@click.argument("session", required=False)
@click.option("--seq", type=click.IntRange(min=1), help="Show this one event, with what tools did.")
@click.option("--around", type=click.IntRange(min=1), help="Show the events around this one.")
@click.option("--before", type=click.IntRange(min=1), help="Show the events before this one.")
@click.option("--all", "everything", is_flag=True, help="Show all events.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=PAGE, show_default=True, help="Events to show."
)
@click.option("--tools", is_flag=True, help="Show what tools did, not a line for each.")
@click.option("--full", is_flag=True, help="Leave nothing out of long texts and outputs.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="terminal",
    show_default=True,
    help="For a terminal, as one page for a browser, or as Markdown.",
)
@click.option("--no-pager", is_flag=True, help="Print to the terminal, also what is long.")
def show(
    session: str | None,
    seq: int | None,
    around: int | None,
    before: int | None,
    everything: bool,
    limit: int,
    tools: bool,
    full: bool,
    format_: str,
    no_pager: bool,
) -> None:
    """Show the end of a session: prompts, answers and what tools did, with what came before.

    SESSION is what 'hindnote sessions' lists, or the beginning of its id; without it the
    latest session of this directory is shown. A call of a tool is one line; --tools shows
    what it did. Compactions and branches that were left are marked in their places.

    On a terminal it is shown by PAGER (less), from the end.

    \b
    hindnote show
    hindnote show pi:0199c2f3 --around 120 --tools
    hindnote show claude:4f6a07c1 --all --format html > session.html
    """  # noqa: D301 (click reads the character itself)
    if sum(bool(one) for one in (seq, around, before, everything)) > 1:
        raise click.UsageError("give one of --seq, --around, --before and --all")
    try:
        found = opened(session)
        reading = Reading(found.projection, limit=None if full else TEXT_LIMIT)
        if seq is not None:
            page, tools = reading.one(seq), True
        elif around is not None:
            page = reading.around(around, limit)
        elif everything:
            page = reading.everything()
        else:
            page = reading.before(before, limit)
        if format_ == "terminal":
            _to_terminal(found, page, tools, full, at_end=not (seq or around), paged=not no_pager)
        else:
            deliver(_document(found, page, format_, tools, full))
    except Refused as refused:
        leave_refused(refused.refusal)


def _document(found: Opened, page: Page, format_: str, tools: bool, full: bool) -> str:
    cwd = found.projection.header.cwd
    if format_ == "md":
        from hindnote.core.reader.md import markdown

        return markdown(page, found.title, found.facts, tools=tools, full=full, cwd=cwd)
    from hindnote.core.reader.html import Drawing, document, drawn

    how = Drawing(cwd=cwd, session=found.session, full=full, opened=tools, body_limit=None)
    return document(found.title, found.facts, drawn(page, how))


def _to_terminal(
    found: Opened, page: Page, tools: bool, full: bool, *, at_end: bool, paged: bool
) -> None:
    from hindnote.core.cli.console import SafeConsole

    if not (paged and is_terminal()):
        _print(SafeConsole(highlight=False), found, page, tools, full)
        return
    from hindnote.core.cli.pager import page as through_pager

    screen, out = SafeConsole(highlight=False), StringIO()
    console = SafeConsole(
        file=out,
        highlight=False,
        width=screen.width,
        force_terminal=True,
        no_color=screen.no_color,
    )
    _print(console, found, page, tools, full)
    through_pager(out.getvalue(), at_end=at_end)


def _print(console: Console, found: Opened, page: Page, tools: bool, full: bool) -> None:
    from rich.text import Text

    from hindnote.core.reader.terminal import show as print_page

    header = found.projection.header
    console.print(Text(shown(found.title), style="bold"), soft_wrap=True)
    console.print(Text(shown(found.facts), style="dim"), soft_wrap=True)
    damaged = len(found.projection.damaged)
    if damaged:
        said = f"{counted(damaged, 'damaged line')} of the file cannot be read"
        console.print(Text(said, style="yellow"), soft_wrap=True)
    if header.note:
        console.print(Text(shown(header.note), style="yellow"), soft_wrap=True)
    if page.older:
        way = f"hindnote show {found.session} --before {page.first_seq}"
        console.print(Text(f"earlier: {way}", style="dim"), soft_wrap=True)
    console.print()
    if page.first_seq is None:
        console.print("no events")
    print_page(page, console, session=found.session, cwd=header.cwd, tools=tools, full=full)
    if page.newer:
        console.print()
        way = f"hindnote show {found.session} --around {page.last_seq}"
        console.print(Text(f"later: {way}", style="dim"), soft_wrap=True)
