"""``hindnote browse``: sessions, notes and documents in the person's browser."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from hindnote.core.cli.screen import say
from hindnote.core.cli.session_options import asking_for, leave_refused
from hindnote.core.cli.tree import Failure
from hindnote.core.errors import Refused

if TYPE_CHECKING:
    from hindnote.core.browse.world import World
    from hindnote.core.cli.session_options import Asking

EXTRA = "hindnote browse needs more packages: pip install 'hindnote[browse]'"


@click.command(short_help="Show sessions, notes and documents in your browser.")
@click.argument("session", required=False)
@click.option("--seq", type=click.IntRange(min=1), help="Begin at this event of the session.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, help="Port to listen on; any by default."
)
@click.option("--no-open", is_flag=True, help="Open no browser; say what to open.")
def browse(session: str | None, seq: int | None, port: int, no_open: bool) -> None:
    """Show sessions, notes, documents and todos in your browser, until you interrupt it.

    The pages change nothing. They are served on this machine alone, to the one browser that is
    opened on a file of yours, which lets it in once. With SESSION they begin there.

    \b
    hindnote browse
    hindnote browse claude:4f6a07c1 --seq 120
    """  # noqa: D301 (click reads the character itself)
    if seq is not None and session is None:
        raise click.UsageError("--seq needs a session")
    try:
        from hindnote.core.browse.serving import site
        from hindnote.core.browse.world import World
    except ImportError as error:
        raise Failure(EXTRA) from error
    from hindnote.core.places.home import notes_home

    asked = asking_for("*")
    start = "" if session is None else _start(asked, session, seq)

    def world(base: str) -> World:
        return World(asked.dispatcher, asked.call, notes_home(), base)

    try:
        with site(world, port, start) as pages:
            say(f"serving {pages.guard.address} until you press Ctrl+C")
            if no_open or not pages.open_browser():
                say(f"open {pages.door.as_uri()} in your browser; the link works once")
            pages.serve()
    except OSError as error:
        raise Failure(f"the pages cannot be served: {error.strerror or error}") from error


def _start(asked: Asking, session: str, seq: int | None) -> str:
    """Return the link to a session's page, with its canonical name."""
    try:
        target = asked.dispatcher.sessions(asked.call).target(session)
    except Refused as refused:
        leave_refused(refused.refusal)
    link = f"s/{quote(target.canonical, safe=':/')}"
    return link if seq is None else f"{link}?around={seq}#seq-{seq}"
