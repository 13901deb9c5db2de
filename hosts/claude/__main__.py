"""The helper that Claude Code's mod calls: a single request, or a resident server.

Without arguments it reads one request from standard input and writes the answer to standard
output; the exit status is 0 for an answer, including a refusal, and 2 for a failure. ``serve
--socket PATH`` answers the same requests over a Unix socket, until the process that started it
ends (``--parent PID`` names another one) or no request came for half an hour (``--idle SECONDS``).
"""

from __future__ import annotations

import os
import sys

from hindnote.core.system import process

IDLE = 1800.0
"""Seconds without a request after which the resident server ends; it is started again on
demand."""

USAGE = (
    "usage: python -m hindnote.hosts.claude [serve --socket PATH [--parent PID] [--idle SECONDS]]"
)


def main(arguments: list[str]) -> int:
    """Run the helper and return its exit status."""
    settings = _settings(arguments) if arguments else None
    if arguments and settings is None:
        print(USAGE, file=sys.stderr)  # noqa: T201
        return 2
    # The pipes are taken over before any other import, which might print something.
    source, sink = process.take_over_pipes()
    process.begin()
    from hindnote.hosts.claude.helper import one_shot, resident

    with os.fdopen(source, "rb") as requests, os.fdopen(sink, "wb") as answers:
        if settings is None:
            return one_shot(requests, answers)
        socket, parent, idle = settings
        return resident(socket, parent, idle, answers)


def _settings(arguments: list[str]) -> tuple[str, int, float] | None:
    """Return socket, parent and idle seconds of ``serve``; None when the arguments are invalid."""
    if arguments[0] != "serve" or len(arguments) % 2 == 0:
        return None
    given = dict(zip(arguments[1::2], arguments[2::2], strict=True))
    try:
        socket = given.pop("--socket")
        parent = int(given.pop("--parent", os.getppid()))
        idle = float(given.pop("--idle", IDLE))
    except (KeyError, ValueError):
        return None
    return None if given else (socket, parent, idle)


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Skip the interpreter's shutdown, which takes a tenth of a single call's time.
    os._exit(status)
