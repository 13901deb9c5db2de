"""What a catalogue knows of session files: remembered from another process, or by a look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar

from hindnote.core.plugins.models import SessionEntry
from hindnote.core.system.shortage import is_shortage

if TYPE_CHECKING:
    from hindnote.core.history.metadata_cache import Facts, FileFacts, Stamp

MANY = 64
"""Files from which on it is worth asking what another process remembered of them."""


class Look(Enum):
    """What came of a look that told nothing."""

    FAILED = "failed"
    """The file could not be read this time, which is not remembered."""


Known: TypeAlias = SessionEntry | Literal[Look.FAILED] | None
"""What is known of a file; None: it is no session."""


class File(Protocol):
    """A session file as a folder lists it."""

    @property
    def path(self) -> str:
        """Where it lies."""
        ...

    @property
    def stamp(self) -> Stamp:
        """What changes when the file does."""
        ...


FileT = TypeVar("FileT", bound=File)


def entries(
    files: Sequence[FileT],
    look: Callable[[FileT], SessionEntry | None],
    open_facts: Callable[[], FileFacts] | None,
) -> list[Known]:
    """Return what is known of session files, in their order.

    Args:
        files: Files of which this process knows nothing yet.
        look: Finds out about a file; it raises ``OSError`` when the file cannot be read.
        open_facts: Opens what other processes remembered, asked when there are many
            files; None: nothing is remembered.
    """
    if open_facts is None or len(files) < MANY:
        return [_looked(look, file) for file in files]
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
        entry = _looked(look, file)
        found.append(entry)
        if not isinstance(entry, Look) and (told := _told(entry)) is not None:
            learnt.append((file.path, file.stamp, told))
    if learnt:
        facts.store(learnt)
    return found


def _looked(look: Callable[[FileT], SessionEntry | None], file: FileT) -> Known:
    try:
        return look(file)
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
