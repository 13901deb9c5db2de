"""Print messages for a person, without letting a terminal obey their content."""

from __future__ import annotations

import sys

import click

from hindnote.core.text.controls import escaped


def say(text: object, *, err: bool = False) -> None:
    """Print one message with hidden characters escaped."""
    click.echo(escaped(str(text)), err=err)


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()
