"""``hindnote mcp``: the entry script of this host."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from hindnote.core.cli.completion import complete_host
from hindnote.core.cli.tree import Failure, current_directory

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

MISSING = (
    "this needs the MCP SDK, which is not installed; install it with: pip install 'hindnote[mcp]'"
)


def _complete_other_host(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from hindnote.hosts.mcp.plugin import HOST

    # This host has no sessions of its own.
    return [slug for slug in complete_host(ctx, param, incomplete) if slug != HOST]


@click.command(short_help="Serve the seven tools to any program that speaks MCP.")
@click.option("--agent", metavar="NAME", help="Whose @self; by default 'mcp'.")
@click.option("--model", metavar="NAME", help="Whose @model; by default 'default'.")
@click.option("--session-id", metavar="ID", help="Whose session notes; without it there are none.")
@click.option(
    "--history-of",
    metavar="HOST",
    shell_complete=_complete_other_host,
    help="The host whose sessions are read, e.g. claude.",
)
@click.option(
    "--session-file",
    type=FILE,
    help="The session that is the current one; by default the newest in this directory.",
)
def mcp(
    agent: str | None,
    model: str | None,
    session_id: str | None,
    history_of: str | None,
    session_file: Path | None,
) -> None:
    """Serve the seven tools over the Model Context Protocol, on standard input and output.

    A program that speaks MCP starts this command itself. The notes are those of the
    directory in which it is started; the notes home is HINDNOTE_HOME, or
    ~/.agents/notes. The server ends when its standard input does.

    \b
    claude mcp add hindnote -- hindnote mcp --agent claude --history-of claude
    """  # noqa: D301 (click reads the character itself)
    if find_spec("mcp") is None:
        raise Failure(MISSING)
    import anyio

    from hindnote.core.home import notes_home
    from hindnote.core.plugins import Hosts
    from hindnote.hosts.mcp import plugin
    from hindnote.hosts.mcp.calls import Settings
    from hindnote.hosts.mcp.server import serve

    hosts = Hosts.load({plugin.HOST: plugin})
    if session_file is not None and history_of is None:
        raise Failure("--session-file needs --history-of HOST: whose session it is")
    known = [slug for slug in hosts.slugs() if slug != plugin.HOST] if history_of else []
    if history_of is not None and history_of not in known:
        raise Failure(f"no history of {history_of!r} can be read; there are: {', '.join(known)}")
    settings = Settings(
        directory=current_directory(),
        agent=agent,
        model=model,
        session_id=session_id,
        history_of=history_of,
        session_file=session_file.absolute() if session_file else None,
    )
    anyio.run(serve, settings, hosts, notes_home())
