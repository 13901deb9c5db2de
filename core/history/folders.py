"""Looking into folders of sessions, in which anything may vanish or be closed to us."""

from __future__ import annotations

import os


def scan_folder(folder: str) -> list[os.DirEntry[str]]:
    """Return what lies in a folder; nothing when it cannot be looked into."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder; not when that cannot be found out."""
    try:
        return entry.is_dir()
    except OSError:
        return False
