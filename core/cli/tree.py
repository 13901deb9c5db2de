"""The tree of commands: the core's own, and those from entry points.

An entry point in the group ``hindnote.commands`` is a command; its name is the command's path with
dots for spaces (``install.pi`` is ``hindnote install pi``). A command is imported when it is used
or listed; one that cannot be imported is listed as broken.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import cached_property, partial
from importlib import import_module
from json import dumps
from pathlib import Path
from typing import Any, TextIO

import click

from hindnote.core.cli.screen import is_terminal, say
from hindnote.core.plugins.entry_points import (
    CHECKS,
    COMMANDS,
    BrokenEntry,
    distribution,
    entries,
    load,
)
from hindnote.core.system.process import process_directory
from hindnote.core.text.controls import escaped, replaced


class Failure(click.ClickException):
    """The command could not be carried out: wrong usage, or a host's failure. Exit code 2."""

    exit_code = 2


def current_directory() -> Path:
    """Return the current directory, or the former path of a deleted one.

    Raises:
        Failure: The path is unknown.
    """
    try:
        return process_directory()
    except OSError as error:
        raise Failure(
            f"the current directory cannot be used ({error}); change to another"
        ) from None


def deliver(text: str, *, json: bool = False) -> None:
    """Print a text and a line end unchanged; on a terminal, hidden characters are escaped.

    Click's text output would drop control characters or replace letters.

    Args:
        text: The text to print.
        json: Whether it is JSON, which must stay valid on a terminal.

    Raises:
        Failure: The output cannot be written.
    """
    try:
        click.echo((_for_terminal(text, json) if is_terminal() else text).encode())
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritten(error) from error


def _for_terminal(text: str, json: bool) -> str:
    if not json:
        return escaped(text)

    # In JSON, hidden characters only occur in strings, where each may be escaped.
    return replaced(text, lambda character: dumps(character)[1:-1])


def unwritten(error: OSError) -> Failure:
    """Return the failure for an output that cannot be written, and discard the output."""
    let_go(sys.stdout)
    return Failure(f"the output cannot be written: {error.strerror}")


def let_go(stream: TextIO) -> None:
    """Discard what a stream still buffers.

    Otherwise flushing it would fail again when Python exits, with another exit code.
    """
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


_UNSAID = "hindnote.unsaid"
"""Key in a command's context for an error while printing."""


def report(line: str) -> None:
    """Print a line of a command that changes files, and continue if that fails.

    Otherwise the work would remain half done (``| head -1``, a full disk). After the work,
    ``settle_unsaid`` reports the error.
    """
    try:
        say(line)
    except OSError as error:
        let_go(sys.stdout)
        click.get_current_context().meta.setdefault(_UNSAID, error)


def settle_unsaid(ctx: click.Context) -> None:
    """Raise an error that occurred while a finished command printed its lines.

    Raises:
        BrokenPipeError: The reader left before the end of the output.
        Failure: The output could not be written.
    """
    error = ctx.meta.get(_UNSAID)
    if isinstance(error, BrokenPipeError):
        raise error
    if error is not None:
        raise Failure(f"all was done, but the output cannot be written: {error.strerror}")


@contextmanager
def explained(*expected: type[Exception]) -> Iterator[None]:
    """Report ``OSError`` and the given exceptions as a ``ClickException``.

    Args:
        *expected: Exceptions whose text is already a message for the person.

    Raises:
        click.ClickException: An ``OSError`` or one of them was raised.
    """
    try:
        yield
    except expected as error:
        raise click.ClickException(str(error)) from error
    except BrokenPipeError:
        # Only the reader of the output has left; the files are not affected.
        raise
    except OSError as error:
        where = error.filename or "a file"
        raise click.ClickException(
            f"{where} cannot be changed ({error.strerror}); put that right and try again"
        ) from error


def tell(lines: Iterable[str]) -> bool:
    """Print each line as it is generated; return whether there were any."""
    told = False
    for line in lines:
        report(line)
        told = True
    return told


class Broken(click.Command):
    """Takes the place of a command that cannot be used."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            name,
            short_help="(cannot be used; run it to see why)",
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )
        self.reason = reason

    def invoke(self, ctx: click.Context) -> None:
        """Report why the command cannot be used."""
        raise Failure(f"{ctx.command_path} cannot be used: {self.reason}")


Loader = Callable[[], click.Command]


class Group(click.Group):
    """A group that suggests commands when an unknown one is given."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the selected command, its name and its arguments."""
        name = args[0]
        if name[:1].isalnum() and self.get_command(ctx, name) is None:
            names = self.list_commands(ctx)
            close = get_close_matches(name, names, n=1)
            told = f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
            ctx.fail(f"no such command {name!r}; {told}")
        return super().resolve_command(ctx, args)


class Tree(Group):
    """A group whose commands are looked up by path and imported on first use.

    Args:
        path: The group's path below ``hindnote``.
        own: The core's commands in this group, from name to ``module:attribute``.
        **options: Arguments of ``click.Group``.
    """

    def __init__(
        self, path: tuple[str, ...] = (), own: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.path = path
        self.own = dict(own or {})

    @cached_property
    def _offered(self) -> dict[str, Loader]:
        """The entry points in this group; of two with the same name the first is used."""
        loaders: dict[str, Loader] = {}
        depth = len(self.path)
        for entry in entries(COMMANDS):
            path = tuple(entry.name.split("."))
            if path[0] == CHECKS or path[:depth] != self.path or len(path) <= depth:
                continue
            name = path[depth]
            if len(path) == depth + 1:
                loaders.setdefault(name, partial(_command, name, entry))
            else:
                loaders.setdefault(name, partial(_group, (*self.path, name)))
        return loaders

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted({*self.own, *self._offered, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, importing it."""
        if cmd_name in self.own:
            module, _, attribute = self.own[cmd_name].partition(":")
            command: click.Command = getattr(import_module(module), attribute)
            return command
        loader = self._offered.get(cmd_name)
        return loader() if loader else super().get_command(ctx, cmd_name)


def _group(path: tuple[str, ...]) -> Tree:
    tree = Tree(path, name=path[-1])
    names = tree.list_commands(click.Context(tree))
    tree.help = f"{path[-1].capitalize()} one of: {', '.join(names)}."
    return tree


def _command(name: str, entry: Any) -> click.Command:
    try:
        command = load(entry)
    except BrokenEntry as broken:
        return Broken(name, f"{broken} ({distribution(entry)})")
    if not isinstance(command, click.Command):
        return Broken(name, f"{entry.value} is no click command ({distribution(entry)})")
    return command
