"""The root command, and the conversion of all errors to exit codes."""

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
        "notes",
        "present",
        "schemas",
        "search",
        "sessions",
        "show",
    )
}


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors of writing help or a table to a full disk; for notes they become a refusal."""


UNREAD = 141
"""Exit code for a broken pipe, the same as a shell's."""


@contextmanager
def _while_it_is_read() -> Iterator[None]:
    """Exit with 141 on a broken pipe, for example with ``| head``.

    Click and rich would exit with 1, the code of a refusal.
    """
    try:
        yield
    except BrokenPipeError:
        raise _unread() from None
    except SystemExit as left:
        # Rich itself raises SystemExit.
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
    """Escape arguments, names and paths that click repeats in a message."""
    try:
        yield
    except click.ClickException as error:
        # Declared final in the class; this changes only one instance.
        vars(error)["message"] = escaped(error.message)
        raise


class App(Tree):
    """The root command: converts failures of a call to exit code 2."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the root options, some of which print something and exit."""
        with _while_it_is_read(), _escaping():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the requested command."""
        try:
            with _while_it_is_read(), _escaping():
                result: object = super().invoke(ctx)
                settle_unsaid(ctx)
                return result
        except (HostFailure, ArgumentError) as failure:
            cause = failure.__cause__
            if isinstance(failure, HostFailure) and cause is not None:
                # A plugin crashed: its text must not be in the message, but may be in the log.
                say("".join(traceback.format_exception(cause)).rstrip(), err=True)
            raise Failure(escaped(str(failure))) from failure


def make_app() -> App:
    """Return the root command; it reads the entry points of distributions once."""
    app = App(
        name="hindnote",
        own=OWN,
        help=HELP,
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    return click.version_option(package_name="hindnote", prog_name="hindnote")(app)


def run() -> NoReturn:
    """Run the command line with this process's arguments."""
    keep_output()
    for stream in (sys.stdout, sys.stderr):
        _forgive(stream)
    try:
        make_app().main(prog_name="hindnote")
    except BrokenPipeError:
        # The reader left before click's own error message.
        sys.exit(_unread().exit_code)
    except Exception as crash:  # noqa: BLE001
        if isinstance(crash, OSError) and crash.errno in _FULL:
            unwritten(crash).show()
            sys.exit(2)
        # Python's exit code for a crash is 1, which would look like a refusal to a script.
        traceback.print_exc()
        say("hindnote stopped unexpectedly; this is a defect of hindnote", err=True)
        sys.exit(2)
    sys.exit(0)


def _forgive(stream: TextIO) -> None:
    """Let a stream escape characters that its encoding lacks, instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
