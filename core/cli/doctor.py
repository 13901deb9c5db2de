"""``hindnote doctor``: check the installation, the notes home and recorded sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindnote.core.cli.home_option import HomeType
from hindnote.core.cli.index import status
from hindnote.core.cli.session_options import asking_for, leave_refused, waiting
from hindnote.core.cli.tree import Failure
from hindnote.core.doctor.findings import Finding
from hindnote.core.doctor.installation import examine
from hindnote.core.doctor.sessions import examine_sessions
from hindnote.core.errors import HostFailure, Refused
from hindnote.core.recall.schema import index_file, state

if TYPE_CHECKING:
    from rich.console import Console

    from hindnote.core.places.database_home import DatabaseHome
    from hindnote.core.tools.operation import Progress

MARKS = {"ok": "[green]ok[/]     ", "warning": "[yellow]warning[/]", "error": "[red]error[/]  "}


@click.command(short_help="Look for what is wrong; changes nothing.")
@click.option(
    "--home",
    type=HomeType(),
    metavar="DIRECTORY",
    help="The notes home; by default HINDNOTE_HOME, or ~/.agents/notes.",
)
@click.option(
    "--sessions",
    "selector",
    is_flag=False,
    flag_value="*",
    metavar="[SELECTOR]",
    help="Look at recorded sessions instead: at all, or at those that a selector names.",
)
def doctor(home: Path | DatabaseHome | None, selector: str | None) -> None:
    """Look at the installation, the notes home and the hosts, and change nothing.

    Tells of notes that cannot be read, broken frontmatter, links out of the home,
    names that collide on other systems, leftovers of writers that died, plugins that
    were refused and programs that are missing. Exits with 1 when something is wrong;
    a warning alone is not.

    With --sessions every line of the sessions is read, and each that cannot be is
    told with the byte at which it starts. Whatever reads a session leaves such lines out.

    \b
    hindnote doctor
    hindnote doctor --sessions
    hindnote doctor --sessions 'project:*'
    """  # noqa: D301 (click reads the character itself)
    if selector is None:
        _report(_everything(home))
        return
    try:
        with waiting("reading") as progress:
            findings = list(_sessions(selector, progress))
    except Refused as refused:
        leave_refused(refused.refusal)
    else:
        _report(findings)


def _everything(home: Path | DatabaseHome | None) -> Iterator[Finding]:
    from hindnote.core.places.home import notes_home

    yield from examine(notes_home(home))
    yield _index()


def _index() -> Finding:
    try:
        return Finding("ok", "search index", status(state(index_file()), asking_for("*")))
    except (Failure, HostFailure) as failure:
        return Finding("warning", "search index", f"its sessions are not known: {failure}")


def _sessions(selector: str, progress: Progress) -> Iterator[Finding]:
    asked = asking_for(selector)
    return examine_sessions(asked.dispatcher.sessions(asked.call), asked.selector, progress)


def _report(findings: Iterable[Finding]) -> None:
    from hindnote.core.cli.console import SafeConsole

    console = SafeConsole(highlight=False, soft_wrap=True)
    levels: Counter[str] = Counter()
    for finding in findings:
        levels[finding.level] += 1
        _show(console, finding)
    console.print(_summary(levels))
    click.get_current_context().exit(1 if levels["error"] else 0)


def _show(console: Console, finding: Finding) -> None:
    from rich.markup import escape

    console.print(f"{MARKS[finding.level]}  {escape(f'{finding.subject}: {finding.message}')}")
    if finding.advice:
        console.print(f"         [dim]{escape(finding.advice)}[/]")


def _summary(levels: Counter[str]) -> str:
    if levels["error"]:
        return f"{levels['error']} wrong, {levels['warning']} worth knowing"
    if levels["warning"]:
        return f"nothing is wrong; {levels['warning']} worth knowing"
    return "all is well"
