"""The file to which a host wrote the whole output of a command of which the record shows a part."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from hindnote.core.presentation.models import Bash
from hindnote.core.text import clean

LIMIT = 1024 * 1024
"""Bytes of such a file that are read, from its end."""


@dataclass(frozen=True, slots=True)
class FullOutput:
    """What lies at the recorded path now."""

    path: Path | None = None
    """None when it is not the recorded output."""

    problem: str = ""
    """Why not, in words for a person."""

    text: str = ""
    """The output, or its end."""

    omitted: int = 0
    """Bytes before that, or behind it when the record shows the beginning."""


def full_output(told: Bash) -> FullOutput:
    """Return the whole output of a command, if it still lies where the record says.

    A path is trusted as far as its file ends (or begins) with the recorded output: temporary
    folders are cleaned and their names used again, and a record may name any file.
    """
    path = Path(told.full_output_path or "")
    if not path.is_absolute() or "\0" in str(path):
        return FullOutput(problem="not a path of this machine")
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return FullOutput(problem="not a file")
        # What has taken its place since must not be followed, nor waited for.
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
