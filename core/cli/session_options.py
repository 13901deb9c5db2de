"""What the commands about many sessions share: selection, caller, and progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from hindnote.core.cli.completion import complete_host
from hindnote.core.cli.screen import say
from hindnote.core.cli.tree import Failure, current_directory
from hindnote.core.text import clean
from hindnote.core.text.controls import escaped_line
from hindnote.core.tools.outcome import render_refusal

if TYPE_CHECKING:
    from hindnote.core.call import Dispatcher
    from hindnote.core.errors import Refusal
    from hindnote.core.plugins.models import HostCall
    from hindnote.core.tools.operation import Progress

PATIENCE = 0.5
"""Seconds before a progress bar appears."""

WIDE = 10_000
"""Width for output that is not a terminal, so that nothing is cut or wrapped for a program."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Asking:
    """A call by a person from a directory, outside of any session."""

    dispatcher: Dispatcher
    call: HostCall
    selector: str
    """The selected sessions."""


def which_sessions(command: F) -> F:
    """Add the options that select sessions to a command."""
    for option in (
        click.option("--project", is_flag=True, help="Only this project's sessions."),
        click.option(
            "--host",
            metavar="HOST",
            shell_complete=complete_host,
            help="Only this host's sessions.",
        ),
    ):
        command = option(command)
    return command


def asking(host: str | None, project: bool) -> Asking:
    """Return the call for the selected sessions.

    Raises:
        Failure: Both a host and the project were given, or no host is installed.
    """
    if host is not None and project:
        raise click.UsageError("give --host or --project, not both")
    selector = "project:*" if project else "*" if host is None else f"{host}:*"
    return asking_for(selector, host)


def asking_for(selector: str, host: str | None = None) -> Asking:
    """Return the call for a session selector.

    Raises:
        Failure: No host is installed, or not the given one.
    """
    from hindnote.core.call import Dispatcher
    from hindnote.core.places.home import notes_home
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.core.plugins.models import HostCall

    hosts = Hosts.load()
    slugs = hosts.slugs()
    if not slugs:
        raise Failure("no host is installed that could be asked; 'hindnote hosts' tells why")
    if host is not None and clean(host) not in slugs:
        raise Failure(f"no host {clean(host)!r} is installed; there are: {', '.join(slugs)}")
    call = HostCall(host="pi" if "pi" in slugs else slugs[0], cwd=current_directory())
    return Asking(Dispatcher(hosts, notes_home()), call, clean(selector))


def leave_refused(refusal: Refusal) -> NoReturn:
    """Print why a call was refused, and exit with the code of a refusal."""
    say(render_refusal(refusal), err=True)
    click.get_current_context().exit(1)


def shown(text: str, limit: int = 0) -> str:
    """Return recorded text on one line, with characters escaped that a terminal would obey.

    Args:
        text: Any text.
        limit: Maximum length in code points; 0 for all.
    """
    line = escaped_line(" ".join(text.split()))
    return f"{line[: limit - 1]}…" if limit and len(line) > limit else line


def folder(cwd: str | None) -> str:
    """Return a recorded directory, with ``~`` for the home directory."""
    if cwd is None:
        return ""
    path, home = Path(cwd), Path.home()
    return shown(str("~" / path.relative_to(home)) if path.is_relative_to(home) else cwd)


def local_time(seconds: float) -> str:
    """Return a time in the local time zone; empty when it is invalid."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return ""


@contextmanager
def waiting(label: str) -> Iterator[Progress]:
    """Show a progress bar on a terminal, once the work takes longer than a moment.

    Yields:
        A function to call with the number of sessions done and the total.
    """
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from hindnote.core.cli.console import SafeConsole

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TextColumn("sessions"))
    bar = Progress(*columns, console=SafeConsole(stderr=True), transient=True)
    task = bar.add_task(label, total=None)
    started = monotonic()

    def told(done: int, total: int) -> None:
        if monotonic() - started < PATIENCE:
            return
        bar.update(task, completed=done, total=total)
        bar.start()

    try:
        yield told
    finally:
        bar.stop()
