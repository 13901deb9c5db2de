"""Claude Code in a terminal of its own: a tmux server that a test types into."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from typing import TYPE_CHECKING

from claude_host import PATIENCE, Claude, wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH, HEIGHT = 100, 44
"""Size of a terminal, in characters."""


class Terminal:
    """A running Claude Code whose person is the test."""

    def __init__(self, claude: Claude, *options: str) -> None:
        self._name = f"hindnote-{os.getpid()}-{claude.runtime.name}"
        _answer_first_questions(claude)
        config = claude.home / "tmux.conf"
        config.write_text("set -g default-terminal tmux-256color\nset -g escape-time 0\n")
        inner = _with_environment(claude.env, claude.command(*options))
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        self._tmux("-f", str(config), "new-session", "-d", *size, "-c", str(claude.project), inner)

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        return done.stdout

    def type(self, text: str) -> None:
        """Type a line, once the program takes one, and see that it stands there."""
        self.wait_for("^❯")
        self._tmux("send-keys", "-l", text)
        self.wait_for(re.escape(text))
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names for them."""
        self._tmux("send-keys", *keys)

    def screen(self, *, colors: bool = False) -> str:
        """Return what stands on the screen."""
        return self._tmux("capture-pane", "-p", *(["-e"] if colors else [])).rstrip("\n")

    def wait_for(self, pattern: str) -> None:
        """Wait until a line of the screen matches."""
        try:
            wait_until(lambda: bool(re.search(pattern, self.screen(), re.MULTILINE)), PATIENCE)
        except AssertionError:
            raise AssertionError(f"no {pattern!r} on the screen:\n{self.screen()}") from None

    def close(self) -> None:
        """End the program and the terminal."""
        self._tmux("kill-server")


def _answer_first_questions(claude: Claude) -> None:
    """Answer what a new person is asked: theme, key, and trust in the folder."""
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {str(claude.project): trusted},
    }
    (claude.home / ".claude.json").write_text(json.dumps(state))


def _with_environment(env: Mapping[str, str], command: list[str]) -> str:
    assignments = [f"{name}={value}" for name, value in env.items()]
    return shlex.join(["env", "-i", *assignments, "TERM=tmux-256color", *command])
