"""Run the private process of a Pi session: ``python -m hindnote.hosts.pi``."""

from __future__ import annotations

import logging
import os
import signal
import sys

from hindnote.core.system import process


def main() -> None:
    """Serve the shim at the other end of the pipes until it closes them."""
    source, sink = process.take_over_pipes()
    # Ctrl+C in the terminal is meant for Pi; if this process ended too, running calls would be
    # lost.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    process.begin()
    # The pipes are taken over before any other import, which might print something.
    from hindnote.hosts.pi.server import serve

    serve(os.fdopen(source, "rb"), os.fdopen(sink, "wb"))


if __name__ == "__main__":
    main()
