"""The start of a process of our own, where nearly all time goes into imports.

This module itself imports nothing heavy.
"""

from __future__ import annotations

import gc
import io
import os
import sys
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
    source, sink = os.dup(0), os.dup(1 if sys.stdout is None else sys.stdout.fileno())
    for descriptor in (source, sink):
        os.set_blocking(descriptor, True)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    _lead_output_away()
    return source, sink


def keep_output() -> None:
    """Keep standard output for what this process prints to ``sys.stdout``.

    Whatever else writes to descriptor 1 (a plugin, a child process) ends on standard error,
    and so damages no answer that a program reads.
    """
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        # Closed, or taken over already.
        return
    sink = os.dup(stream.fileno())
    stream.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(sink, "w")),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    _lead_output_away()


def _lead_output_away() -> None:
    """Let descriptor 1 lead to standard error, or nowhere when that is closed."""
    try:
        os.dup2(2, 1)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        if nowhere != 1:
            os.close(nowhere)


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
