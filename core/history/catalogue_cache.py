"""What a catalogue knows of session files: remembered from another process, or by a look."""

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
"""Files from which on it is worth asking what another process remembered of them."""


class File(NamedTuple):
    """A session file as a folder lists it."""

    folder: str
    name: str
    status: os.stat_result
    before: SessionEntry | None = None
    """What was known of it before it changed."""

    @property
    def path(self) -> str:
        """Where it lies."""
        return f"{self.folder}/{self.name}"

    @property
    def stamp(self) -> Stamp:
        """What changes when the file does."""
        return stamp_of(self.status)


class Seen(NamedTuple):
    """What a process knows of a file: its stamp when it was read, and its session if it has one."""

    stamp: Stamp
    entry: SessionEntry | None

    def of(self, status: os.stat_result) -> SessionEntry | None:
        """Return the entry as one to go on from, when the file is still the same one."""
        return self.entry if self.stamp[2] == status.st_ino else None


def stamp_of(status: os.stat_result) -> Stamp:
    """Return what changes in a file's status when the file does."""
    return (status.st_size, status.st_mtime_ns, status.st_ino)


def goes_on(entry: SessionEntry, before: SessionEntry, read: Read) -> bool:
    """Return whether a file holds what it held before, and more after it.

    Args:
        entry: What the file says now.
        before: What it said before.
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
    """What came of a look that told nothing."""

    FAILED = "failed"
    """The file could not be read this time, which is not remembered."""


Known: TypeAlias = SessionEntry | Literal[Look.FAILED] | None
"""What is known of a file; None: it is no session."""


def entries(
    files: Sequence[File],
    look: Callable[[Path, File], SessionEntry | None],
    open_facts: Callable[[], FileFacts] | None,
) -> list[Known]:
    """Return what is known of session files, in their order.

    Args:
        files: Files of which this process knows nothing yet.
        look: Finds out about a file, given its path as well; it raises ``OSError`` when
            the file cannot be read.
        open_facts: Opens what other processes remembered, asked when there are many
            files; None: nothing is remembered.
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
    """Looks at files, and says of those that cannot be read that the look failed."""

    def __init__(self, look: Callable[[Path, File], SessionEntry | None]) -> None:
        self._look = look
        self._folders: dict[str, Path] = {}

    def __call__(self, file: File) -> Known:
        # A Path made from its folder's takes half the time of one made from text.
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
    """Return an entry as text; None when its file's name is no text."""
    try:
        return entry.model_dump_json() if entry else ""
    except ValueError:
        return None


def _recalled(told: str) -> SessionEntry | None:
    return SessionEntry.model_validate_json(told) if told else None
