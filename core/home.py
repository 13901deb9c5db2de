"""Where the notes lie."""

from __future__ import annotations

import os
from pathlib import Path

from hindnote.core.failures import HostFailure

HOME_VARIABLE = "HINDNOTE_HOME"
"""Environment variable that names another notes home."""


def notes_home() -> Path:
    """Return the notes home, absolute: ``HINDNOTE_HOME``, or ``~/.agents/notes``.

    It need not exist; the first write makes it.

    Raises:
        HostFailure: Nobody's home directory is known.
    """
    named = os.environ.get(HOME_VARIABLE)
    try:
        return Path(named or "~/.agents/notes").expanduser().absolute()
    except (RuntimeError, OSError) as error:
        raise HostFailure(
            f"cannot tell where the notes lie ({error}); set {HOME_VARIABLE} to a directory"
        ) from error
