"""``hindnote home``: the notes home, and which homes inside projects are trusted."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from hindnote.core.cli.screen import say
from hindnote.core.cli.session_options import shown
from hindnote.core.cli.tree import Failure, Group, explained, report
from hindnote.core.errors import Refused
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


@home.command(short_help="Let a notes home inside of a project count.")
@click.argument("folder", type=click.Path(path_type=Path))
def trust(folder: Path) -> None:
    """Let the notes home FOLDER count, also for agents that work in the project around it.

    Run it in a terminal, and outside of any project: not an agent but you confirm it.
    """
    from hindnote.core.places.trust import set_trusted, trusted_homes

    meant = _meant(folder)
    _refuse_in_project(meant)
    _refuse_agents()
    with explained(_problems()):
        homes = trusted_homes()
        if meant in homes:
            report(f"nothing to do: {shown(str(meant))} is trusted")
            return
        # The question must be visible even if standard output goes to a program or a file.
        say(
            f"Agents that work in the project around it will keep notes in {shown(str(meant))}.",
            err=True,
        )
        click.confirm("Trust it?", abort=True, err=True)
        report(f"trusted; kept in {set_trusted(homes | {meant})}")


@home.command(short_help="Let a notes home inside of a project count no more.")
@click.argument("folder", type=click.Path(path_type=Path))
def distrust(folder: Path) -> None:
    """Let the notes home FOLDER count no more; notes in it stay."""
    from hindnote.core.places.trust import set_trusted, trusted_homes

    with explained(_problems()):
        homes = trusted_homes()
        gone = homes & {_meant(folder), folder}
        if not gone:
            report(f"nothing to do: {shown(str(folder))} is not trusted")
            return
        report(f"no longer trusted; kept in {set_trusted(homes - gone)}")


def _show(ctx: click.Context) -> None:
    from hindnote.core.places.trust import trust_file, trusted_homes

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
        homes = sorted(trusted_homes())
    report(f"trusted inside of projects: {'none' if not homes else ''}".rstrip())
    for one in homes:
        report(f"  {shown(str(one))}")
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


def _refuse_in_project(folder: Path) -> None:
    from hindnote.core.places.project import project_trees

    for tree in project_trees(process_directory()):
        if os.path.lexists(tree / ".git") or folder.is_relative_to(tree):
            raise Failure(
                f"this directory lies in the project {shown(str(tree))}, from which no home can be "
                f"confirmed; run it elsewhere: cd && hindnote home trust {shown(str(folder))}"
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
