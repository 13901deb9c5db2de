"""Environment variables that name a folder to install into: each must name a whole path."""

from __future__ import annotations

import os
from pathlib import Path


class NoWholePath(Exception):
    """A variable names no whole path. The message says which, and what to do."""


def check_whole_paths(*names: str, tilde: bool) -> None:
    """Refuse variables whose folder would depend on the current directory.

    A shell replaces ``~`` only where it is not quoted; left as it is, it would be a folder of
    that name.

    Args:
        *names: The variables; one that is unset or empty is fine.
        tilde: Whether the program that reads them takes ``~`` and ``~/`` for the home directory.

    Raises:
        NoWholePath: One of them is a relative path.
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
