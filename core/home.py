"""Where all notes lie: the notes home."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "HINDNOTE_HOME"
DEFAULT = "~/.agents/notes"


def notes_home(override: Path | None = None) -> Path:
    """Return the notes home, absolute; it need not exist yet.

    The argument wins, then the environment's ``HINDNOTE_HOME`` unless it is empty,
    then ``~/.agents/notes``. A relative path starts at the process's directory.
    """
    chosen = override if override is not None else Path(os.environ.get(VARIABLE) or DEFAULT)
    return chosen.expanduser().absolute()
