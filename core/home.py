"""Where the notes lie."""

from __future__ import annotations

import os
from pathlib import Path

from hindnote.core.failures import HostFailure

HOME_VARIABLE = "HINDNOTE_HOME"
"""Environment variable that names another notes home."""


def notes_home(override: Path | None = None) -> Path:
    """Return the notes home, absolute; it need not exist, the first write makes it.

    The argument wins, then the environment's ``HINDNOTE_HOME`` unless it is empty,
    then ``~/.agents/notes``.

    Raises:
        HostFailure: Nobody's home directory is known.
    """
    named = override or Path(os.environ.get(HOME_VARIABLE) or "~/.agents/notes")
    try:
        return named.expanduser().absolute()
    except (RuntimeError, OSError) as error:
        raise HostFailure(
            f"cannot tell where the notes lie ({error}); set {HOME_VARIABLE} to a directory"
        ) from error
