"""``hindnote doctor``: is everything in its place?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from hindnote.core.doctor import Finding

MARKS = {"ok": "[green]ok[/]     ", "warning": "[yellow]warning[/]", "error": "[red]error[/]  "}


@click.command(short_help="Look for what is wrong; changes nothing.")
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    help="The notes home; by default HINDNOTE_HOME, or ~/.agents/notes.",
)
def doctor(home: Path | None) -> None:
    """Look at the installation, the notes home and the hosts, and change nothing.

    Tells of notes that cannot be read, broken frontmatter, links out of the home,
    names that collide on other systems, leftovers of writers that died, plugins that
    were refused and programs that are missing. Exits with 1 when something is wrong;
    a warning alone is not.
    """
    from rich.console import Console

    from hindnote.core.doctor import examine
    from hindnote.core.home import notes_home

    console = Console(highlight=False, soft_wrap=True)
    levels: Counter[str] = Counter()
    for finding in examine(notes_home(home)):
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
