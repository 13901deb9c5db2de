"""The facts about session files that a catalogue shows, cached across processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindnote.core.plugins.models import SessionEntry
from hindnote.core.system.shortage import is_shortage

if TYPE_CHECKING:
    import os

    from hindnote.core.history.ends import Read
    from hindnote.core.history.metadata_cache import Facts, FileFacts, Stamp

MANY = 64
"""Number of files from which on the cache shared by processes is used."""


class ListedFile(NamedTuple):
    """A session file as a folder lists it."""

    folder: str
    name: str
    status: os.stat_result
    before: SessionEntry | None = None
    """Its entry before the file changed."""

    @property
    def path(self) -> str:
        """Path of the file."""
        return f"{self.folder}/{self.name}"

    @property
    def stamp(self) -> Stamp:
        """A stamp that differs when the file has changed."""
        return stamp_of(self.status)


class Seen(NamedTuple):
    """A process's cached facts about a file: its stamp, and its entry if it is a session."""

    stamp: Stamp
    entry: SessionEntry | None

    def of(self, status: os.stat_result) -> SessionEntry | None:
        """Return the entry if it belongs to the same inode, to update it; else None."""
        return self.entry if self.stamp[2] == status.st_ino else None


def stamp_of(status: os.stat_result) -> Stamp:
    """Return a stamp of a file's status that differs when the file has changed."""
    return (status.st_size, status.st_mtime_ns, status.st_ino)


def goes_on(entry: SessionEntry, before: SessionEntry, read: Read) -> bool:
    """Return whether a file has the same content as before, possibly with more after it.

    Args:
        entry: The current entry of the file.
        before: Its earlier entry.
        read: Reads from the file.
    """
    return (
        0 < before.size < entry.size
        and all(
            getattr(entry, fact) == getattr(before, fact)
            for fact in ("id", "started", "cwd", "parent")
        )
        and read(before.size - 1, 1) == b"\n"
    )


class Look(Enum):
    """Special result of examining a file."""

    FAILED = "failed"
    """The file could not be read this time; this is not cached."""


Known: TypeAlias = SessionEntry | Literal[Look.FAILED] | None
"""The entry of a file; None when it is not a session."""


def entries(
    files: Sequence[ListedFile],
    look: Callable[[Path, ListedFile], SessionEntry | None],
    open_facts: Callable[[], FileFacts] | None,
) -> list[Known]:
    """Return the entries of session files, in their order.

    Args:
        files: Files that this process has not cached.
        look: Examines a file, given its path as well; raises ``OSError`` when the file cannot be
            read.
        open_facts: Opens the cache shared by processes, for many files; None: use no cache.
    """
    looked = _Looker(look)
    if open_facts is None or len(files) < MANY:
        return [looked(file) for file in files]
    facts = open_facts()
    remembered = facts.load()
    found: list[Known] = []
    learnt: list[Facts] = []
    for file in files:
        held = remembered.get(file.path)
        if held is not None and held[0] == file.stamp:
            try:
                found.append(_recalled(held[1]))
                continue
            except ValueError:
                pass  # written by a version that tells other facts
        entry = looked(file)
        found.append(entry)
        if not isinstance(entry, Look) and (told := _told(entry)) is not None:
            learnt.append((file.path, file.stamp, told))
    if learnt:
        facts.store(learnt)
    return found


class _Looker:
    """Examines files; returns ``Look.FAILED`` for those that cannot be read."""

    def __init__(self, look: Callable[[Path, ListedFile], SessionEntry | None]) -> None:
        self._look = look
        self._folders: dict[str, Path] = {}

    def __call__(self, file: ListedFile) -> Known:
        # Joining to the folder's Path takes half the time of building a Path from text.
        folder = self._folders.get(file.folder)
        if folder is None:
            folder = self._folders[file.folder] = Path(file.folder)
        try:
            return self._look(folder / file.name, file)
        except OSError as error:
            if is_shortage(error):
                raise
            return Look.FAILED


def _told(entry: SessionEntry | None) -> str | None:
    """Return an entry as JSON; None when its file's name is not valid Unicode."""
    try:
        return entry.model_dump_json() if entry else ""
    except ValueError:
        return None


def _recalled(told: str) -> SessionEntry | None:
    return SessionEntry.model_validate_json(told) if told else None
