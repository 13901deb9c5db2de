"""``hindnote notes``: the kept changes of a note, and how an earlier version comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindnote.core.cli.completion import complete_host
from hindnote.core.cli.session_options import leave_refused, shown
from hindnote.core.cli.tree import Group, current_directory, report
from hindnote.core.errors import Refused
from hindnote.core.text import clean
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from hindnote.core.notes.rows import Kept
    from hindnote.core.notes.store import Store


@click.group(cls=Group, short_help="Show who changed a note, and bring back a version.")
def notes() -> None:
    """Show who changed a note when, and bring back an earlier version of it.

    Only a notes home that is a database keeps earlier versions.

    \b
    hindnote notes log @project/plan
    hindnote notes restore @project/plan 3f2a91c04b77
    """  # noqa: D301 (click reads the character itself)


def _caller(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say whose notes are meant."""
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    for option in (
        click.option("--model", metavar="NAME", help="Whose @model; by default 'default'."),
        click.option("--agent", metavar="NAME", help="Whose @self; by default the host's usual."),
        click.option("--session-id", metavar="ID", help="The session, for its notes."),
        click.option("--cwd", type=folder, help="Where the host runs; by default here."),
        click.option(
            "--host", metavar="HOST", default="pi", show_default=True, shell_complete=complete_host
        ),
    ):
        command = option(command)
    return command


@notes.command(short_help="Show who changed a note, and when.")
@click.argument("address")
@_caller
def log(address: str, **caller: Any) -> None:
    """Show the changes of the note ADDRESS, the newest first: version, time, size, and who."""
    from hindnote.core.notes import kept

    try:
        store = _store(**caller)
        found = kept.log(store, store.homes.parse(clean(address)))
    except Refused as refused:
        leave_refused(refused.refusal)
    for change in found:
        report(_line(change))


@notes.command(short_help="Bring back an earlier version of a note.")
@click.argument("address")
@click.argument("version")
@_caller
def restore(address: str, version: str, **caller: Any) -> None:
    """Give the note ADDRESS the bytes that it had in VERSION. The present ones are kept, too."""
    from hindnote.core.notes import kept

    try:
        store = _store(**caller)
        note = store.homes.parse(clean(address))
        kept.restore(store, note, version)
    except Refused as refused:
        leave_refused(refused.refusal)
    report(f"restored {shown(str(note))} | version {version}")


def _line(change: Kept) -> str:
    from hindnote.core.cli.session_options import local_time

    who = [f"{change.role} on {change.machine}"]
    if change.session:
        who.append(f"{change.host} session {change.session}")
    elif change.host:
        who.append(change.host)
    who += [f"agent {change.agent}", f"model {change.model}"] if change.agent else []
    what = "write" if change.moved_from is None else f"moved from {change.moved_from}"
    facts = [
        change.version,
        local_time(change.at_ms / 1000),
        counted(change.size, "byte"),
        what,
        ", ".join(who),
    ]
    return shown(" | ".join(facts))


def _store(
    host: str, cwd: Path | None, session_id: str | None, agent: str | None, model: str | None
) -> Store:
    """Return the notes of a caller.

    Raises:
        Refused: ``outside_home``, ``invalid_cwd``, ``io_error``.
    """
    from hindnote.core.call import Dispatcher
    from hindnote.core.notes.store import Store
    from hindnote.core.places.home import notes_home
    from hindnote.core.places.project import key_in
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.core.plugins.models import HostCall

    folder = (cwd or current_directory()).absolute()
    home = notes_home()
    call = HostCall(host=clean(host), session_id=session_id, cwd=folder, agent=agent, model=model)
    home.admit(folder)
    return Store(Dispatcher(Hosts.load(), home).identity(call), key_in(home.place, folder))
