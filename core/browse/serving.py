"""Serve the pages on loopback, and open the person's browser."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

import uvicorn
from msgspec import Struct

from hindnote.core.browse.app import make_app
from hindnote.core.browse.security import Guard
from hindnote.core.browse.world import World

LOOPBACK = "127.0.0.1"


class Site(Struct):
    """The pages, ready to be served; made by ``site``."""

    guard: Guard
    listener: socket.socket
    door: Path
    """The file that leads a browser to the entrance. Only the person can read it (mode 0600)."""

    def serve(self) -> None:
        """Serve until the process is interrupted."""
        config = uvicorn.Config(
            self.guard,
            log_level="warning",
            # No log of requests: addresses contain names of sessions, and once the token.
            access_log=False,
            lifespan="off",
            server_header=False,
            ws="none",
        )
        _Server(config).run(sockets=[self.listener])

    def open_browser(self) -> bool:
        """Open the person's browser, and return whether one could be started.

        A list of processes shows only the file's path.
        """
        return webbrowser.open(self.door.as_uri())


class _Server(uvicorn.Server):
    """A server that returns after a signal, so that the file can be removed and the port closed.

    Uvicorn's own server raises the signal again, which would end the process before that.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM while the server runs."""
        taken = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(one, self.handle_exit) for one in taken]
        try:
            yield
        finally:
            for one, handler in zip(taken, before, strict=True):
                signal.signal(one, handler)


@contextmanager
def site(make_world: Callable[[str], World], port: int = 0, path: str = "") -> Iterator[Site]:
    """Prepare the pages; at the end of the block close the port and remove the file.

    Args:
        make_world: Returns the world to show, given the beginning of its addresses.
        port: The port to listen on; 0: any that is free.
        path: The first page, relative to the beginning of the addresses.

    Raises:
        OSError: The port is taken, or the file cannot be made.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(64)
        guard = Guard(path, listener.getsockname()[1])
        guard.app = make_app(make_world(f"{guard.prefix}/"))
        with _door(guard.entrance) as door:
            guard.on_entered = lambda: door.unlink(missing_ok=True)
            yield Site(guard, listener, door)


@contextmanager
def _door(entrance: str) -> Iterator[Path]:
    """Make the file that leads a browser to the entrance."""
    folder = Path(tempfile.mkdtemp(prefix="hindnote-browse-"))
    try:
        door = folder / "open.html"
        handle = os.open(door, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            address = escape(entrance)
            file.write(
                '<!doctype html><html lang="en"><meta charset="utf-8"><title>hindnote</title>'
                '<meta name="referrer" content="no-referrer">'
                f'<meta http-equiv="refresh" content="0; url={address}">'
                f'<a href="{address}">hindnote</a></html>\n'
            )
        yield door
    finally:
        shutil.rmtree(folder, ignore_errors=True)
