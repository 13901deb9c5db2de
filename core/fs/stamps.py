"""Detect whether a file changed without reading it."""

from __future__ import annotations

import os
import time
from typing import TypeAlias

Stamp: TypeAlias = tuple[int, int, int, int]
"""Modification time, size, change time and inode. The change time cannot be set back."""

SETTLED_NS = 50_000_000
"""Minimum age of a file's last change. A younger file may change again within the same tick of the
file system's clock, and its stamp would not differ."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a status."""
    return (status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino)


def settled(status: os.stat_result) -> Stamp | None:
    """Return a stamp to compare with later; None when the next change might not alter it."""
    return stamp_of(status) if status.st_ctime_ns < time.time_ns() - SETTLED_NS else None
