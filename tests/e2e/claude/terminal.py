"""Claude Code in a terminal of its own, which a test types into."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import TYPE_CHECKING

from claude_host import Claude
from tmux import Tmux

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH, HEIGHT = 100, 44
"""Size of a terminal, in characters."""


class Terminal(Tmux):
    """A running Claude Code whose person is the test."""

    def __init__(self, claude: Claude, *options: str) -> None:
        _answer_first_questions(claude)
        super().__init__(
            f"hindnote-{os.getpid()}-{claude.runtime.name}",
            claude.home / "tmux.conf",
            ["set -g escape-time 0"],
            (WIDTH, HEIGHT),
            claude.project,
            _with_environment(claude.env, claude.command(*options)),
        )

    def type(self, text: str) -> None:
        """Type a line, once the program takes one, and see that it is there."""
        self.wait_for("^❯")
        self.write(text)
        self.wait_for(re.escape(text))
        self.press("Enter")


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
