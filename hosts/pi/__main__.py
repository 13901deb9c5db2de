"""Run the private process of a Pi session: ``python -m hindnote.hosts.pi``."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import IO

from hindnote.core import startup


def take_over_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes to the shim, and leave none of them to anybody else.

    Whatever else writes to descriptor 1 (a library, a child process) ends on
    standard error, and whatever else reads from descriptor 0 finds it empty.
    """
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def main() -> None:
    """Serve the shim on the other end of the pipes until it hangs up."""
    source, sink = take_over_pipes()
    # Ctrl+C in the terminal is for Pi; a child that died of it would take calls along.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    startup.begin()
    # The pipes are taken before anything else is imported, which might print.
    from hindnote.hosts.pi.server import serve

    serve(source, sink)


if __name__ == "__main__":
    main()
