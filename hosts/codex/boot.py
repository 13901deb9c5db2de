"""``hindnote boot codex``: the command that Codex's hooks run to show the agent its boot block.

Codex 0.171 runs the hook ``SessionStart`` when a session begins, is resumed or cleared, and after
each compaction; it runs ``SubagentStart`` for a subagent. It adds the printed text to the window
as a message with the role ``developer``, and cuts the middle of a text over 10,000 bytes.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from hindnote.hosting import (
    Dispatcher,
    HomeType,
    HostCall,
    HostFailure,
    Hosts,
    Refused,
    notes_home,
    open_file,
)
from hindnote.hosts.codex import plugin
from hindnote.hosts.codex.paths import HOST

LIMIT = 10_000
"""Maximum number of bytes that a hook prints. Codex keeps 2,500 tokens, and counts four bytes as a
token."""

_TITLE = b"# Memory beyond this window (hindnote)"
_CHUNK = 1 << 20


@click.command(hidden=True)
@click.option("--home", type=HomeType(), help="The notes home.")
def boot(home: Any) -> None:
    """Answer a hook of Codex, whose data is on standard input."""
    try:
        told = json.loads(sys.stdin.buffer.read())
        event, text = str(told["hook_event_name"]), block(told, home)
    except (HostFailure, Refused) as error:
        # Codex shows this message to the person.
        click.echo(json.dumps({"systemMessage": f"hindnote: {error}"}))
        return
    except (ValueError, KeyError, TypeError) as error:
        raise click.ClickException(f"this is for Codex's hooks to run: {error!r}") from error
    if text is not None:
        output = {"hookEventName": event, "additionalContext": text}
        click.echo(json.dumps({"hookSpecificOutput": output}))


def block(told: dict[str, Any], home: Any) -> str | None:
    """Return the boot block of a new window; None when the window has one already.

    Raises:
        HostFailure: The host's plugin failed, or the notes home cannot be used.
        Refused: The session cannot be read.
    """
    file = Path(told["transcript_path"]) if told.get("transcript_path") else None
    if told.get("source") == "resume" and file is not None and _is_shown(file):
        return None
    agent = told.get("agent_id")
    call = HostCall(
        host=HOST,
        session_id=told["session_id"],
        session_file=file if file is not None and agent is None else None,
        agent_id=agent,
        cwd=Path(told["cwd"]),
        model=told.get("model"),
    )
    dispatcher = Dispatcher(Hosts.load({HOST: plugin}), notes_home(home))
    return fitting(lambda limit: dispatcher.boot(call, limit=limit))


def fitting(make: Any, limit: int = LIMIT) -> str:
    """Return a text of at most ``limit`` bytes; ``make`` returns one with a number of characters."""
    room = limit
    text: str = make(room)
    while (size := len(text.encode())) > limit and room > 1:
        room = min(room - 1, room * limit // size)
        text = make(room)
    return text


def _is_shown(file: Path) -> bool:
    """Return whether a session's own file contains a boot block.

    A resumed session continues in its window and needs no other block. A fork inherits only the
    block of another session.
    """
    before = b""
    try:
        with os.fdopen(open_file(file), "rb") as opened:
            while chunk := opened.read(_CHUNK):
                if _TITLE in before + chunk:
                    return True
                before = chunk[-len(_TITLE) :]
    except OSError:
        return False
    return False
