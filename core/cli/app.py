"""The root command, and how everything that goes wrong becomes an exit code."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

import click

from hindnote.core.cli.screen import say
from hindnote.core.cli.tree import Failure, Tree, let_go, settle_unsaid, unwritten
from hindnote.core.errors import ArgumentError, HostFailure
from hindnote.core.system.process import keep_output
from hindnote.core.text.controls import escaped

HELP = """A memory for coding agents that outlives their context window.

hindnote keeps an agent's notes as Markdown files and looks into the sessions that
its host recorded. Agents use it as tools of their host; this command is for people
and scripts, and answers exactly as the tools do.

\b
See it at work, on a recorded session and scratch notes:
  hindnote demo
\b
Put the tools into a host, and look whether all is in its place:
  hindnote install pi
  hindnote doctor
\b
Call a tool by hand:
  hindnote call notes_list
  hindnote call notes_write '{"address": "@project/plan", "content": "Ship it."}'
  hindnote call history_list '{"limit": 5}' --session-file SESSION.jsonl
\b
Look into the sessions of every host:
  hindnote sessions
  hindnote search 'why did we leave webpack?'
  hindnote show SESSION

Exit codes: 0 done, 1 refused (or, of doctor: something is wrong), 2 not possible.
"""

EPILOG = """\b
Completion for your shell (bash, zsh or fish), for example:
  eval "$(_HINDNOTE_COMPLETE=bash_source hindnote)"
"""

OWN = {
    name: f"hindnote.core.cli.{name}:{name}"
    for name in (
        "browse",
        "call",
        "demo",
        "doctor",
        "export",
        "home",
        "hosts",
        "index",
        "schemas",
        "search",
        "sessions",
        "show",
    )
}


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What a help or a table meets on a full disk; notes turn it into a refusal of their own."""


UNREAD = 141
"""Exit code when nobody read the output to its end: a shell's own for a closed pipe."""


@contextmanager
def _while_it_is_read() -> Iterator[None]:
    """Leave with a code of its own when the reader of the output left (``| head``).

    Click and rich would leave with 1, which is a refusal.
    """
    try:
        yield
    except BrokenPipeError:
        raise _unread() from None
    except SystemExit as left:
        # Rich leaves by itself.
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        raise _unread() from None


def _unread() -> click.exceptions.Exit:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            let_go(stream)
    return click.exceptions.Exit(UNREAD)


@contextmanager
def _escaping() -> Iterator[None]:
    """Escape what a message of click's repeats of arguments, names and files."""
    try:
        yield
    except click.ClickException as error:
        # The class declares it final for subclasses; this is one instance.
        vars(error)["message"] = escaped(error.message)
        raise


class App(Tree):
    """The root: turns the failures of a call into exit code 2."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the options of the root, of which some print and leave."""
        with _while_it_is_read(), _escaping():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was asked for."""
        try:
            with _while_it_is_read(), _escaping():
                result: object = super().invoke(ctx)
                settle_unsaid(ctx)
                return result
        except (HostFailure, ArgumentError) as failure:
            cause = failure.__cause__
            if isinstance(failure, HostFailure) and cause is not None:
                # A plugin crashed: the message may not tell its text, a log may.
                say("".join(traceback.format_exception(cause)).rstrip(), err=True)
            raise Failure(escaped(str(failure))) from failure


def make_app() -> App:
    """Return the root command; what distributions offer is looked up once for each."""
    app = App(
        name="hindnote",
        own=OWN,
        help=HELP,
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    return click.version_option(package_name="hindnote", prog_name="hindnote")(app)


def run() -> NoReturn:
    """Run the command line on this process's arguments."""
    keep_output()
    for stream in (sys.stdout, sys.stderr):
        _forgive(stream)
    try:
        make_app().main(prog_name="hindnote")
    except BrokenPipeError:
        # Nobody read click's own message of what is wrong.
        sys.exit(_unread().exit_code)
    except Exception as crash:  # noqa: BLE001
        if isinstance(crash, OSError) and crash.errno in _FULL:
            unwritten(crash).show()
            sys.exit(2)
        # Python's own exit code for a crash is that of a refusal, and a script
        # could not tell them apart.
        traceback.print_exc()
        say("hindnote stopped unexpectedly; this is a defect of hindnote", err=True)
        sys.exit(2)
    sys.exit(0)


def _forgive(stream: TextIO) -> None:
    """Let a stream print what its encoding lacks as an escape instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
