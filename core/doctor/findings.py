"""The result of one doctor check."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one doctor check."""

    level: Level
    """``warning``: worth knowing, but nothing is broken. ``error``: something is wrong."""

    subject: str
    """What was checked: a path, a program, a plugin."""

    message: str
    """The result, in one line."""

    advice: str = ""
    """How to fix it; empty when there is nothing to do."""


def can_write(folder: Path) -> bool:
    """Return whether files may be created in ``folder``, without trying it."""
    return os.access(folder, os.W_OK | os.X_OK)


def running(*command: str) -> Finding:
    """Return the finding that announces a program before a check runs it."""
    return Finding("ok", "runs", shlex.join(command))
