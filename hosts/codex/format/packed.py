"""Read rollouts that Codex compressed with Zstandard, which is a setting for old sessions."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from hindnote.hosting import Refused, open_file

NEEDED = "needs the package zstandard: install hindnote[zstd]"

LIMIT = 1 << 30
"""Maximum size of an unpacked rollout in bytes."""

MAGIC = b"\x28\xb5\x2f\xfd"

_PIECE = 1 << 20


def opened(file: Path) -> IO[bytes]:
    """Return a stream of a compressed rollout's content; never waits for a pipe.

    Raises:
        Refused: ``unreadable_session`` when nothing here can unpack it.
        OSError: It cannot be opened, or is no regular file.
    """
    if sys.version_info >= (3, 14):
        from compression import zstd

        stream: IO[bytes] = zstd.open(os.fdopen(open_file(file), "rb"), "rb")
        return stream
    try:
        import zstandard
    except ImportError:
        raise Refused("unreadable_session", f"{file.name} is compressed, and {NEEDED}") from None
    raw = os.fdopen(open_file(file), "rb")
    found: IO[bytes] = zstandard.ZstdDecompressor().stream_reader(raw, closefd=True)
    return found


def head(file: Path, size: int) -> bytes:
    """Return the first bytes of a compressed rollout's content.

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
    """Return a temporary file with a compressed rollout's content; closing it removes it.

    Raises:
        Refused: ``unreadable_session``: it is damaged or too long, or no decompressor is
        installed.
        OSError: It cannot be opened, or there is no room.
    """
    target = tempfile.NamedTemporaryFile(prefix="hindnote-rollout-", suffix=".jsonl")  # noqa: SIM115
    length = 0
    try:
        if not is_whole(file):
            raise Refused("unreadable_session", f"{file.name} is damaged: it ends too early")
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


def is_whole(file: Path) -> bool:
    """Return whether the first frame of a compressed file is complete.

    Decompressors do not tell this.

    The format is that of RFC 8878: a header whose first byte contains its length, then blocks,
    each with its size and a flag for the last one.

    Raises:
        OSError: It cannot be read.
    """
    with os.fdopen(open_file(file), "rb") as data:
        head = data.read(5)
        if len(head) < 5 or head[:4] != MAGIC:
            return False
        flags, single = head[4], bool(head[4] & 0x20)
        sizes = (int(single), 2, 4, 8)
        data.seek(int(not single) + (0, 1, 2, 4)[flags & 3] + sizes[flags >> 6], 1)
        end = os.fstat(data.fileno()).st_size - (4 if flags & 4 else 0)
        while len(block := data.read(3)) == 3:
            told = int.from_bytes(block, "little")
            # A block that repeats one byte contains only this byte.
            data.seek(1 if (told >> 1) & 3 == 1 else told >> 3, 1)
            if told & 1:
                return data.tell() <= end
    return False


def _errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that the library raises for invalid data."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return (zstd.ZstdError, EOFError)
    try:
        import zstandard
    except ImportError:
        return ()
    return (zstandard.ZstdError,)
