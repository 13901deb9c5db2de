"""Set up a process of hindnote; imports take most of its start time.

So this module itself imports nothing heavy.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from pathlib import Path

_stays = False


def begin() -> None:
    """Prepare a process for its imports; call it before pydantic is imported."""
    # Otherwise pydantic would search every installed distribution for its plugins.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    # Imported objects stay alive, and collecting garbage among them takes a tenth of the time.
    gc.disable()


def settle() -> None:
    """Enable garbage collection in a long-running process, excluding what was imported."""
    global _stays
    _stays = True
    gc.freeze()
    gc.enable()


def stays() -> bool:
    """Return whether this process goes on when a call is answered."""
    return _stays


def take_over_pipes() -> tuple[int, int]:
    """Return private descriptors of standard input and output, and redirect the originals.

    Anything else that writes to descriptor 1 (a plugin, a child process) then writes to standard
    error, and anything else that reads from descriptor 0 reads the end of file.

    Returns:
        The descriptor to read from and the one to write to, both blocking.
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
    """Reserve standard output for what this process prints to ``sys.stdout``.

    Anything else that writes to descriptor 1 (a plugin, a child process) then writes to standard
    error, and cannot damage an answer that a program reads.
    """
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        # Closed, or replaced already.
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
    """Redirect descriptor 1 to standard error, or to the null device when that is closed."""
    try:
        os.dup2(2, 1)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        if nowhere != 1:
            os.close(nowhere)


def process_directory() -> Path:
    """Return the current directory, or the former path of a deleted one.

    Raises:
        OSError: The path is unknown.
    """
    try:
        return Path.cwd()
    except OSError:
        # Shells set PWD, which still has the path after the directory was deleted.
        name = os.environ.get("PWD", "")
        if Path(name).is_absolute() and not os.path.lexists(name):
            return Path(name)
        raise
