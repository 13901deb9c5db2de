"""Read a small file by its path safely, even if it is a pipe, a device or huge."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hindnote.core.fs.handles import NotRegularError, TooLargeError, closing, read_all

SETTINGS_LIMIT = 4 * 1024 * 1024
"""Maximum size of a settings file or a source file, in bytes."""


def read_bounded(path: Path, limit: int = SETTINGS_LIMIT) -> bytes:
    """Return the content of a regular file; symbolic links are followed.

    Opening a pipe or a device does not block, and a file beyond the limit is not read.

    Raises:
        NotRegularError: The path is a folder, a pipe, a device or a socket.
        TooLargeError: It has more bytes than ``limit``.
        OSError: It does not exist, or may not be read.
        ValueError: The path contains a NUL character.
    """
    with closing(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)) as handle:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError(str(path))
        if status.st_size > limit:
            raise TooLargeError(str(path), status.st_size, limit)
        data = read_all(handle, status.st_size, limit + 1)
    if len(data) > limit:
        raise TooLargeError(str(path), len(data), limit)
    return data
