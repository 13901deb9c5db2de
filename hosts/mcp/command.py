"""``hindnote mcp``: the entry script of this host."""

from __future__ import annotations

import json
import os
import signal
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from hindnote.core.cli.completion import complete_host
from hindnote.core.cli.home_option import HomeType
from hindnote.core.cli.tree import Failure, current_directory
from hindnote.core.errors import HostFailure
from hindnote.core.places.database_home import DatabaseHome
from hindnote.core.places.home import notes_home
from hindnote.core.plugins.entry_points import HOSTS, entries
from hindnote.core.system import process
from hindnote.hosts.mcp.calls import HOST, Caller, Settings

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


def _complete_other_host(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    # This host has no sessions of its own.
    return [slug for slug in complete_host(ctx, param, incomplete) if slug != HOST]


@click.command(short_help="Serve the seven tools to any program that speaks MCP.")
@click.option(
    "--cwd",
    type=FOLDER,
    help="Where the agent works; by default what the program names as its roots, else the "
    "directory in which it starts this command.",
)
@click.option(
    "--home",
    type=HomeType(),
    metavar="DIRECTORY",
    help="The notes home; by default HINDNOTE_HOME, or ~/.agents/notes.",
)
@click.option("--agent", metavar="NAME", help="Whose @self; by default 'mcp'.")
@click.option(
    "--model",
    metavar="NAME",
    help="Whose @model; by default what the program tells, or 'default'.",
)
@click.option(
    "--session-id",
    metavar="ID",
    help="Whose session notes; by default the session that the program tells, if it does.",
)
@click.option(
    "--host",
    metavar="HOST",
    shell_complete=_complete_other_host,
    help="The host whose agent starts this server, e.g. codex: notes and history are then those "
    "of its sessions.",
)
@click.option(
    "--history-of",
    metavar="HOST",
    shell_complete=_complete_other_host,
    help="The host whose sessions are read, e.g. claude.",
)
@click.option(
    "--session-file",
    type=FILE,
    help="The session that is the current one; by default the one that the program tells, "
    "else the newest in its directory.",
)
@click.option(
    "--project-tools",
    is_flag=True,
    help="Offer the project tools as well, for documents and todos.",
)
def mcp(
    cwd: Path | None,
    home: Path | DatabaseHome | None,
    agent: str | None,
    model: str | None,
    session_id: str | None,
    host: str | None,
    history_of: str | None,
    session_file: Path | None,
    project_tools: bool,
) -> None:
    """Serve the seven tools over the Model Context Protocol, on standard input and output.

    A program that speaks MCP starts this command itself. Most programs pass on little of
    their environment, so name what matters with options. The server ends when its standard
    input does, or when nobody reads its standard output.

    \b
    claude mcp add hindnote -- hindnote mcp --agent claude --history-of claude
    codex mcp add hindnote -- hindnote mcp --agent codex
    """  # noqa: D301 (click reads the character itself)
    if host is not None and history_of is not None:
        raise Failure("--host and --history-of exclude each other: --host names both")
    if session_file is not None and history_of is None and host is None:
        raise Failure("--session-file needs --history-of HOST: whose session it is")
    for named in (host, history_of):
        _check_host(named)
    try:
        where = notes_home(home)
    except HostFailure as failure:
        raise Failure(str(failure)) from failure
    settings = Settings(
        directory=cwd.absolute() if cwd else current_directory(),
        home=where,
        fixed=cwd is not None,
        agent=agent,
        model=model,
        session_id=session_id,
        host=host,
        history_of=history_of,
        session_file=session_file.absolute() if session_file else None,
        project_tools=project_tools,
    )
    _run(settings)


def _check_host(slug: str | None) -> None:
    """Refuse a host that is not installed, without importing any host."""
    if slug is None:
        return
    known = sorted({entry.name for entry in entries(HOSTS)} - {HOST})
    if slug not in known:
        raise Failure(f"no history of {slug!r} can be read; there are: {', '.join(known)}")


def _run(settings: Settings) -> None:
    """Serve the program at the other end of the pipes, then end the process."""
    from hindnote.hosts.mcp.server import Sink, Source, serve
    from hindnote.hosts.mcp.session import Session

    # Ctrl+C ends the process at once, even during a call.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    process.begin()
    source, sink = process.take_over_pipes()
    declared = json.loads(Path(__file__).with_name("tools.json").read_bytes())
    if settings.project_tools:
        declared += _project_tools()
    toolbox = Lazy(settings)
    writer = Sink(sink)
    session = Session(settings, declared, toolbox, writer.send, version("hindnote"))
    serve(session, Source(source, sink), writer, threading.Thread(target=toolbox.load, daemon=True))
    # Calls that were abandoned may still run; they end with the process.
    os._exit(0)


def _project_tools() -> list[dict[str, Any]]:
    """Return the declarations of the project tools; making them takes a moment."""
    from hindnote.core.project.tools import TOOLS, declaration

    return [declaration(tool) for tool in TOOLS.values()]


class Lazy:
    """Carries out calls, importing what they need on first use.

    Args:
        settings: The options with which the server was started.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loading = threading.Lock()
        self._loaded: Any = None

    def load(self) -> Any:
        """Return the object that carries out calls."""
        with self._loading:
            if self._loaded is None:
                from hindnote.hosts.mcp.answers import load

                self._loaded = load(self._settings)
            return self._loaded

    def call(
        self, name: str, arguments: dict[str, Any], by: Caller, directory: Path, version: str
    ) -> dict[str, Any]:
        """Return one call's result; see ``Answers.call``."""
        result: dict[str, Any] = self.load().call(name, arguments, by, directory, version)
        return result
