"""Serving the pages on loopback, and opening the person's browser on them."""

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
    """The pages, ready to be served.

    Made by ``site``.
    """

    guard: Guard
    listener: socket.socket
    door: Path
    """The file that lets a browser in, once: the person's own, mode 0600."""

    def serve(self) -> None:
        """Serve until the process is interrupted."""
        config = uvicorn.Config(
            self.guard,
            log_level="warning",
            # Paths name sessions, and the entrance's holds the token.
            access_log=False,
            lifespan="off",
            server_header=False,
            ws="none",
        )
        _Server(config).run(sockets=[self.listener])

    def open_browser(self) -> bool:
        """Open the person's browser; return whether one could be started.

        The file's path is all that a list of processes shows.
        """
        return webbrowser.open(self.door.as_uri())


class _Server(uvicorn.Server):
    """A server that ends at a signal and returns, so that the file and the port are given back.

    Uvicorn's own raises the signal again when it has ended, which would end the process first.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take interrupts and requests to end for the time of serving."""
        taken = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(one, self.handle_exit) for one in taken]
        try:
            yield
        finally:
            for one, handler in zip(taken, before, strict=True):
                signal.signal(one, handler)


@contextmanager
def site(make_world: Callable[[str], World], port: int = 0, path: str = "") -> Iterator[Site]:
    """Prepare the pages; on leaving, the port and the file are given back.

    Args:
        make_world: Returns what is browsed, from what each address begins with.
        port: The port to listen on; 0: any that is free.
        path: The page on which the browser begins, below what each address begins with.

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
