"""``hindnote home``: the notes home, and which homes a person has confirmed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from hindnote.core.cli.home_database import check, copy, init, migrate, rekey
from hindnote.core.cli.screen import say
from hindnote.core.cli.session_options import shown
from hindnote.core.cli.tree import Failure, Group, explained, report
from hindnote.core.errors import Refused
from hindnote.core.places.database_home import DatabaseHome, is_address
from hindnote.core.places.home import notes_home
from hindnote.core.system.process import process_directory

if TYPE_CHECKING:
    from hindnote.core.places.home import NotesHome

_AGENT_VARIABLES = ("CLAUDECODE",)
"""Variables that hosts set for an agent's commands: Claude Code 2.1.332."""


@click.group(
    cls=Group,
    invoke_without_command=True,
    short_help="Say where the notes are, and confirm a home inside of a project.",
)
@click.pass_context
def home(ctx: click.Context) -> None:
    """Say where the notes are, what says so, and which homes inside of projects count.

    A repository can set HINDNOTE_HOME for the agent that works in it. So a notes home
    inside of the project at hand counts only once you have confirmed it.

    \b
    hindnote home
    hindnote home trust ~/work/app/notes
    hindnote home distrust ~/work/app/notes
    """  # noqa: D301 (click reads the character itself)
    if ctx.invoked_subcommand is None:
        _show(ctx)


home.add_command(init)
home.add_command(check)
home.add_command(migrate)
home.add_command(copy)
home.add_command(rekey)


@home.command(short_help="Let a database, or a notes home inside of a project, count.")
@click.argument("folder", metavar="FOLDER-or-URL")
def trust(folder: str) -> None:
    """Let a notes home count: a folder inside of a project, or a database.

    Agents that work in the project use it then. A database is confirmed with all that decides where its address leads: PG variables and
    service files count. Run it in a terminal, and outside of any project: not an agent but
    you confirm it.
    """
    from hindnote.core.places.trust import set_trusted, trusted

    if is_address(folder):
        _trust_database(folder)
        return
    meant = _meant(Path(folder))
    _refuse_in_project(meant)
    _refuse_agents()
    with explained(_problems()):
        homes, databases = trusted()
        if meant in homes:
            report(f"nothing to do: {shown(str(meant))} is trusted")
            return
        # The question must be visible even if standard output goes to a program or a file.
        say(
            f"Agents that work in the project around it will keep notes in {shown(str(meant))}.",
            err=True,
        )
        click.confirm("Trust it?", abort=True, err=True)
        report(f"trusted; kept in {set_trusted(homes | {meant}, databases)}")


@home.command(short_help="Let a confirmed notes home count no more.")
@click.argument("folder", metavar="FOLDER-or-URL")
def distrust(folder: str) -> None:
    """Let a notes home that you confirmed count no more; notes in it stay."""
    from hindnote.core.places.trust import set_trusted, trusted

    with explained(_problems()):
        homes, databases = trusted()
        if is_address(folder):
            settings = _settings(folder)
            gone = settings in databases
            name = str(DatabaseHome(folder))
            databases = tuple(one for one in databases if one != settings)
        else:
            named = homes & {_meant(Path(folder)), Path(folder)}
            gone, name, homes = bool(named), folder, homes - named
        if not gone:
            report(f"nothing to do: {shown(name)} is not trusted")
            return
        report(f"no longer trusted; kept in {set_trusted(homes, databases)}")


def _trust_database(url: str) -> None:
    from hindnote.core.places.trust import set_trusted, trusted

    database = DatabaseHome(url)
    settings = _settings(url)
    _refuse_in_project(None)
    _refuse_agents()
    with explained(_problems()):
        homes, databases = trusted()
        if settings in databases:
            report(f"nothing to do: {shown(str(database))} is trusted")
            return
        say(f"Agents will keep notes in the {shown(str(database))}, opened with:", err=True)
        for name, value in settings.items():
            say(f"  {name} = {shown(value)}", err=True)
        click.confirm("Trust it?", abort=True, err=True)
        report(f"trusted; kept in {set_trusted(homes, (*databases, settings))}")


def _settings(url: str) -> dict[str, str]:
    from hindnote.core.places.database_home import require_client

    try:
        require_client()
        from hindnote.core.database.settings import settings_of

        return settings_of(url)
    except Refused as refused:
        raise Failure(refused.refusal.message) from None


def _show(ctx: click.Context) -> None:
    from hindnote.core.places.trust import trust_file, trusted

    found = notes_home()
    refused = None
    try:
        found.admit(process_directory())
    except Refused as refusal:
        refused = refusal.refusal.message
    report(f"notes home: {shown(str(found)) if not found.problem else 'none'}")
    report(f"set by: {_setting(found)}")
    report(f"counts here: {'yes' if refused is None else f'no: {shown(refused)}'}")
    with explained(_problems()):
        homes, databases = trusted()
    report(f"trusted inside of projects: {'none' if not homes else ''}".rstrip())
    for one in sorted(homes):
        report(f"  {shown(str(one))}")
    for settings in databases:
        place = " ".join(
            f"{name}={settings[name]}" for name in ("dbname", "host") if name in settings
        )
        report(f"trusted database: {shown(place or 'this machine')}")
    report(f"kept in: {trust_file() or 'nowhere, since the user database lacks this user'}")
    ctx.exit(0 if refused is None else 1)


def _setting(found: NotesHome) -> str:
    if found.by == "HINDNOTE_HOME":
        return "HINDNOTE_HOME in the environment"
    return "nothing; it is the usual one"


def _meant(folder: Path) -> Path:
    """Return a folder with links resolved."""
    named = notes_home(folder)
    if named.problem:
        raise Failure(named.problem.replace("--home", "FOLDER", 1))
    return named.folder.resolve()


def _refuse_in_project(folder: Path | None) -> None:
    """Refuse to confirm a home from inside a project; None for a database."""
    from hindnote.core.places.project import project_trees

    for tree in project_trees(process_directory()):
        if os.path.lexists(tree / ".git") or (folder and folder.is_relative_to(tree)):
            named = "and the address" if folder is None else shown(str(folder))
            raise Failure(
                f"this directory lies in the project {shown(str(tree))}, from which no home can be "
                f"confirmed; run it elsewhere: cd && hindnote home trust {named}"
            )


def _refuse_agents() -> None:
    agent = next((name for name in _AGENT_VARIABLES if os.environ.get(name)), None)
    if agent is not None:
        _refuse(f"an agent runs this ({agent} is set)")
    if not sys.stdin.isatty():
        _refuse("standard input is no terminal")


def _refuse(reason: str) -> NoReturn:
    raise Failure(f"{reason}, and only a person can confirm a notes home; run it in your terminal")


def _problems() -> type[Exception]:
    from hindnote.core.places.trust import UntrustworthyError

    return UntrustworthyError
