"""``hindnote demo``: the main use case, played for a person."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

import click

from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from hindnote.core.demo.play import Scene

WIDE = 120
"""Terminal width in columns from which both forms are shown side by side."""

PROSE = 100
"""Maximum width of prose, in columns."""

INTRODUCTION = (
    "Each call below is real: on a session that Pi recorded, and on notes in a scratch folder. "
    "Every answer has two forms with one content, a text for the model and a structure for "
    "scripts, each at most 32 KiB."
)


@click.command(short_help="See the tools at work on a recorded session.")
def demo() -> None:
    """Play the main job on a recorded Pi session and scratch notes.

    Shows for each call the text that a model reads and the structured result that a
    script gets, side by side on a wide terminal. Touches neither your notes nor your
    sessions.
    """
    from hindnote.core.cli.console import SafeConsole
    from hindnote.core.demo.play import play

    console = SafeConsole(highlight=False)
    _say(console, INTRODUCTION)
    ended: Counter[str] = Counter()
    for number, scene in enumerate(play(), start=1):
        ended["refused" if scene.answer.is_error else "answered"] += 1
        _show(console, number, scene)
    console.print()
    _say(
        console,
        f"{counted(ended['answered'], 'call')} answered, {ended['refused']} refused as it should be. "
        "Next: 'hindnote install pi' or 'hindnote install claude', or 'hindnote call --help'.",
    )


def _say(console: Console, prose: str, style: str = "") -> None:
    from rich.text import Text

    lines = textwrap.fill(prose, min(console.width, PROSE))
    console.print(Text(lines, style=style), soft_wrap=True)


def _show(console: Console, number: int, scene: Scene) -> None:
    from rich.text import Text

    arguments = json.dumps(scene.arguments, ensure_ascii=False)
    console.print()
    _say(console, f"{number}. {scene.title}", style="bold")
    console.print(Text(f"{scene.operation} {arguments}", style="cyan"), soft_wrap=True)
    got = json.dumps(scene.answer.result, ensure_ascii=False, indent=2)
    if console.is_terminal and console.width >= WIDE:
        console.print(_beside(Text(scene.answer.text), Text(got)))
    else:
        _below(console, "a model reads", scene.answer.text)
        _below(console, "a script gets", got)


def _beside(read: RenderableType, got: RenderableType) -> RenderableType:
    from rich.box import ROUNDED
    from rich.table import Table

    table = Table("a model reads", "a script gets", box=ROUNDED, expand=True, padding=(0, 1))
    table.columns[0].ratio = table.columns[1].ratio = 1
    table.add_row(read, got)
    return table


def _below(console: Console, title: str, content: str) -> None:
    from rich.text import Text

    console.print(Text(f"  {title}:", style="dim"))
    for line in content.split("\n"):
        console.print(Text(f"  │ {line}".rstrip()), soft_wrap=True)
