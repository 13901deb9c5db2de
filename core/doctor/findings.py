"""What a look finds."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    """``warning``: worth knowing, nothing is broken. ``error``: something is wrong."""

    subject: str
    """What was looked at: a path, a program, a plugin."""

    message: str
    """What was found, in one line."""

    advice: str = ""
    """What to do about it; empty when there is nothing to do."""


def can_write(folder: Path) -> bool:
    """Return whether files may be made in ``folder``, without trying."""
    return os.access(folder, os.W_OK | os.X_OK)


def running(*command: str) -> Finding:
    """Return what is told before a look runs a program, so that a person sees which."""
    return Finding("ok", "runs", shlex.join(command))
