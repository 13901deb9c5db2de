"""A pager for long output on a terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path, PurePath

import click

from hindnote.core.system.programs import in_project, outside_project


def page(text: str, *, at_end: bool = False) -> None:
    """Show a text in the person's pager, or print it without one.

    ``PAGER`` names the pager, by default ``less``; if it is empty or ``cat``, there is none. A
    program inside the current project is never run.

    Args:
        text: The text, with terminal escape codes for colors.
        at_end: Begin at the end of the text (only in ``less``).
    """
    command = _command(at_end)
    if command is None:
        click.echo(text, nl=False, color=True)
        return
    # With these options less shows colors, and exits at once when the text fits the screen.
    environment = {**os.environ, "LESS": os.environ.get("LESS") or "-FRX"}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    assert process.stdin is not None
    # The person may quit before reading everything, also with Ctrl+C, which less ignores.
    with suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(text.encode("utf-8", "replace"))
    while True:
        try:
            process.wait()
            return
        except KeyboardInterrupt:
            continue


def _command(at_end: bool) -> list[str] | None:
    try:
        words = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        return None
    program = _program(words[0]) if words else None
    if program is None or PurePath(program).name == "cat" or os.environ.get("TERM") == "dumb":
        return None
    is_less = PurePath(program).name == "less"
    return [program, *words[1:], *(["+G"] if is_less and at_end else [])]


def _program(named: str) -> str | None:
    """Return a pager's absolute path.

    None if it does not exist or is inside the current project.
    """
    if os.sep not in named:
        return outside_project(named)
    is_usable = Path(named).is_absolute() and os.access(named, os.X_OK) and not in_project(named)
    return named if is_usable else None
