"""Printing a message for a person: no terminal obeys what it says."""

from __future__ import annotations

import sys

import click

from hindnote.core.text.controls import escaped


def say(text: object, *, err: bool = False) -> None:
    """Print one message, hidden characters escaped, wherever the output goes."""
    click.echo(escaped(str(text)), err=err)


def is_terminal() -> bool:
    """Return whether a person reads the standard output on a terminal."""
    return sys.stdout.isatty()
