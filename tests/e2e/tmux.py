"""A program in a terminal of its own: a tmux server that a test types into."""

from __future__ import annotations

import re
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE = 90.0
"""Seconds for which a test waits on the program, at most."""


def wait_until(holds: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until a condition holds of which no event tells."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


class Tmux:
    """One program on a screen.

    Args:
        name: Name of the tmux server; no other test uses it.
        config: Where the server's configuration is written to.
        settings: Its lines.
        size: Columns and rows of the screen.
        folder: The directory that the program runs in.
        command: The command, as a shell reads it.
    """

    def __init__(
        self,
        name: str,
        config: Path,
        settings: list[str],
        size: tuple[int, int],
        folder: Path,
        command: str,
    ) -> None:
        self._name = name
        lines = ["set -g default-terminal tmux-256color", *settings]
        config.write_text("".join(f"{line}\n" for line in lines))
        wide, high = map(str, size)
        session = ["new-session", "-d", "-x", wide, "-y", high, "-c", str(folder), command]
        self._run("-f", str(config), *session)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        return done.stdout

    def write(self, text: str) -> None:
        """Type a text, without Enter."""
        self._run("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names for them."""
        self._run("send-keys", *keys)

    def screen(self, *, colors: bool = False) -> str:
        """Return what is on the screen."""
        return self._run("capture-pane", "-p", *(["-e"] if colors else [])).rstrip("\n")

    def wait_for(self, pattern: str) -> None:
        """Wait until a line of the screen matches."""
        try:
            wait_until(lambda: re.search(pattern, self.screen(), re.MULTILINE))
        except AssertionError:
            raise AssertionError(f"no {pattern!r} on the screen:\n{self.screen()}") from None

    def wait_to_show(self, *texts: str) -> None:
        """Wait until each text is on the screen; a program draws its screen in several steps."""
        for text in texts:
            self.wait_for(re.escape(text))

    def close(self) -> None:
        """End the program and the terminal."""
        self._run("kill-server")
