"""The file with the whole output of a command, if the record contains only a part of it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from hindnote.core.presentation.models import Bash
from hindnote.core.text import clean

LIMIT = 1024 * 1024
"""Maximum number of bytes read from such a file."""


@dataclass(frozen=True, slots=True)
class FullOutput:
    """The current content of the recorded path."""

    path: Path | None = None
    """None when the file is not the recorded output."""

    problem: str = ""
    """Why not, as text for a person."""

    text: str = ""
    """The output, or a part of it."""

    omitted: int = 0
    """Number of bytes left out before it, or after it if the record shows the beginning."""


def full_output(told: Bash) -> FullOutput:
    """Return the whole output of a command, if the recorded file still exists.

    The file is only used if it ends (or begins) with the recorded output: temporary folders are
    cleaned and their names reused, and a record may name any file.
    """
    path = Path(told.full_output_path or "")
    if not path.is_absolute() or "\0" in str(path):
        return FullOutput(problem="not a path of this machine")
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return FullOutput(problem="not a file")
        # Whatever has replaced the file must not be followed as a link, and must not block.
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb")
    except FileNotFoundError:
        return FullOutput(problem="no longer there")
    except OSError as error:
        return FullOutput(problem=f"cannot be read: {error.strerror}")
    with file:
        omitted = max(0, status.st_size - LIMIT)
        file.seek(0 if told.is_beginning else omitted)
        text = clean(file.read(LIMIT).decode("utf-8", "replace"))
    shown, whole = told.output.removesuffix("\n"), text.removesuffix("\n")
    fits = whole.startswith(shown) if told.is_beginning else whole.endswith(shown)
    if not told.output or not fits:
        return FullOutput(problem="something else lies there now")
    return FullOutput(path, text=text, omitted=omitted)
