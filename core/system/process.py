"""The start of a process of our own, where nearly all time goes into imports.

This module itself imports nothing heavy.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path


def begin() -> None:
    """Prepare a process for its imports; called before pydantic is among them."""
    # pydantic would look for plugins of its own in every installed distribution.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    # What is imported stays, and looking for garbage in it takes a tenth of the time.
    gc.disable()


def settle() -> None:
    """Collect garbage from here on, in a process that stays; what was imported is left out."""
    gc.freeze()
    gc.enable()


def take_over_pipes() -> tuple[int, int]:
    """Return the descriptors that lead to the program that started this one.

    Whatever else writes to descriptor 1 (a plugin, a child process) ends on standard
    error, and whatever else reads from descriptor 0 finds it empty.

    Returns:
        What is read from, and what is written to; both wait until they can.
    """
    source, sink = os.dup(0), os.dup(1)
    for descriptor in (source, sink):
        os.set_blocking(descriptor, True)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def process_directory() -> Path:
    """Return the directory in which this process runs, or the name of one that was deleted.

    Raises:
        OSError: It has no name any more.
    """
    try:
        return Path.cwd()
    except OSError:
        # Shells keep the name of their directory here, also after it was deleted.
        name = os.environ.get("PWD", "")
        if Path(name).is_absolute() and not os.path.lexists(name):
            return Path(name)
        raise
