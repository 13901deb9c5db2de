"""The directories in which a program works (its roots), which the server requests from it.

A program whose capabilities contain ``roots`` (2024-11-05 to 2025-11-25) answers the request
``roots/list`` and sends a notification when they change. The first root that is a directory on
this machine is the base directory of the calls. Calls wait briefly for the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

PATIENCE = 5.0
"""Seconds that calls wait for a program's roots; then they continue without them."""

_PREFIX = "hindnote-roots-"


class Roots:
    """The roots of one program.

    Args:
        send: Sends a message to the program.
        patience: Seconds that a call waits for an answer.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None], patience: float = PATIENCE) -> None:
        self._send = send
        self._patience = patience
        self._asked = 0
        self._known: Path | None = None
        self._settled = threading.Event()
        self._settled.set()

    def ask(self) -> None:
        """Request the roots, again if they are known already."""
        self._asked += 1
        self._settled.clear()
        self._send({"jsonrpc": "2.0", "id": f"{_PREFIX}{self._asked}", "method": "roots/list"})

    def take(self, response: dict[str, Any]) -> None:
        """Process a program's response; a response to another request is ignored."""
        if response.get("id") != f"{_PREFIX}{self._asked}" or not self._asked:
            return
        self._known = _first(response.get("result"))
        self._settled.set()

    def directory(self) -> Path | None:
        """Return the program's base directory; None when it has none."""
        if not self._settled.wait(self._patience):
            # After one timeout, calls do not wait again until the next request.
            self._settled.set()
        return self._known


def _first(result: Any) -> Path | None:
    roots = result.get("roots") if isinstance(result, dict) else None
    for root in roots if isinstance(roots, list) else []:
        path = _path(root.get("uri")) if isinstance(root, dict) else None
        if path is not None:
            return path
    return None


def _path(uri: Any) -> Path | None:
    """Return the directory of a ``file`` URI; None for any other value."""
    if not isinstance(uri, str):
        return None
    try:
        parts = urlsplit(uri)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            return None
        path = Path(unquote(parts.path, errors="strict"))
        return path if path.is_absolute() and path.is_dir() else None
    except (OSError, ValueError):
        return None
