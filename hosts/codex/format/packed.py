"""Rollouts that Codex compressed with Zstandard, as cold ones are where a person asks for it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from hindnote.hosting import Refused

NEEDED = "needs the package zstandard: install hindnote[zstd]"

LIMIT = 1 << 30
"""Bytes of an unpacked rollout, at most."""

_PIECE = 1 << 20


def opened(file: Path) -> IO[bytes]:
    """Return a compressed rollout as a stream of what it holds.

    Raises:
        Refused: ``unreadable_session`` when nothing here can unpack it.
        OSError: It cannot be opened.
    """
    if sys.version_info >= (3, 14):
        from compression import zstd

        stream: IO[bytes] = zstd.open(file, "rb")
        return stream
    try:
        import zstandard
    except ImportError:
        raise Refused("unreadable_session", f"{file.name} is compressed, and {NEEDED}") from None
    found: IO[bytes] = zstandard.open(file, "rb")
    return found


def head(file: Path, size: int) -> bytes:
    """Return the first bytes of what a compressed rollout holds.

    Raises:
        Refused: As for ``opened``.
        OSError: It cannot be read, or is damaged.
    """
    try:
        with opened(file) as stream:
            return stream.read(size)
    except _errors() as error:
        raise OSError(f"{file.name} is damaged: {error}") from error


def unpack(file: Path) -> Any:
    """Return a temporary file that holds what a compressed rollout holds; closing removes it.

    Raises:
        Refused: ``unreadable_session``: it is damaged, too long, or nothing here can unpack it.
        OSError: It cannot be opened, or there is no room.
    """
    target = tempfile.NamedTemporaryFile(prefix="hindnote-rollout-", suffix=".jsonl")  # noqa: SIM115
    length = 0
    try:
        with opened(file) as stream:
            while piece := stream.read(_PIECE):
                length += len(piece)
                if length > LIMIT:
                    raise Refused(
                        "unreadable_session",
                        f"{file.name} holds more than {LIMIT:,} bytes when it is unpacked",
                    )
                target.write(piece)
        target.flush()
    except _errors() as error:
        target.close()
        raise Refused("unreadable_session", f"{file.name} is damaged: {error}") from error
    except BaseException:
        target.close()
        raise
    return target


def _errors() -> tuple[type[Exception], ...]:
    """Return what the library raises for what is not Zstandard."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return (zstd.ZstdError, EOFError)
    try:
        import zstandard
    except ImportError:
        return ()
    return (zstandard.ZstdError,)
