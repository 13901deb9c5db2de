"""What tells one state of a file from another without reading it."""

from __future__ import annotations

import os
import time
from typing import TypeAlias

Stamp: TypeAlias = tuple[int, int, int, int]
"""Modification time, size, change time and inode. The change time cannot be set back."""

SETTLED_NS = 50_000_000
"""A file that changed this shortly before it was read may change again within one tick of
the file system's clock, without another stamp."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a status."""
    return (status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino)


def settled(status: os.stat_result) -> Stamp | None:
    """Return a stamp to compare with later; None when it may not show the next change."""
    return stamp_of(status) if status.st_ctime_ns < time.time_ns() - SETTLED_NS else None
