"""Check that environment variables with an installation folder contain absolute paths."""

from __future__ import annotations

import os
from pathlib import Path


class NoWholePath(Exception):
    """A variable contains a relative path. The message says which, and what to do."""


def check_whole_paths(*names: str, tilde: bool) -> None:
    """Refuse variables whose folder would depend on the current directory.

    A shell expands ``~`` only where it is not quoted; a literal one would be a folder with that
    name.

    Args:
        *names: The variables; unset and empty ones are accepted.
        tilde: Whether the program that reads them expands ``~`` and ``~/`` itself.

    Raises:
        NoWholePath: One of them contains a relative path.
    """
    for name in names:
        value = os.environ.get(name)
        if not value or Path(value).is_absolute():
            continue
        if value == "~" or value.startswith("~/"):
            if tilde:
                continue
            meant = Path(value).expanduser()
            told = f"holds a literal ~, which nothing replaces there; set it to {meant}"
        else:
            told = "is no whole path and means another folder in each directory; set it to one"
        raise NoWholePath(f"{name} is {value!r}, which {told}, or unset it")
