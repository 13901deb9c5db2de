"""Journals of transitions: what each one moves, how far it got, and how to finish it.

A journal names its files by canonical todo names only, so no journal, however it
came to be there, can lead out of its todos root.
"""

from __future__ import annotations

import re
import uuid
from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator

from hindnote.core.project.contract.bounds import HASH_PATTERN
from hindnote.core.project.contract.envelope import Closed
from hindnote.core.project.state import digest
from hindnote.core.project.todos.names import parse_name
from hindnote.core.project.workspace import STATE_DIRECTORY

JOURNALS = "todo-transitions"
STAGING = "todo-staging"

Stage = Literal["prepared", "target_written", "source_removed"]
Hash = Annotated[str, Field(pattern=HASH_PATTERN)]
Action = Literal["resume", "rollback", "cleanup", "none"]

_FILE = re.compile(r"[0-9a-f]{32}\.json")


class Journal(Closed):
    """One transition, written before it begins and removed when it is done."""

    version: Literal[1] = 1
    id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    root: list[str]
    """Segments of the todos root below the workspace."""

    source: str
    source_hash: Hash
    target: str
    target_hash: Hash
    stage: Stage

    @field_validator("source", "target")
    @classmethod
    def _canonical(cls, name: str) -> str:
        if parse_name(name) is None:
            raise ValueError("not a canonical todo name")
        return name

    @field_validator("root")
    @classmethod
    def _below(cls, parts: list[str]) -> list[str]:
        if any(part in ("", ".", "..", STATE_DIRECTORY) or "/" in part for part in parts):
            raise ValueError("not a path below the workspace")
        return parts

    @property
    def file(self) -> str:
        """The journal's own file name."""
        return f"{self.id}.json"

    @property
    def staged_target(self) -> str:
        """Name of the new content in staging."""
        return f"{self.id}.target"

    @property
    def taken_source(self) -> str:
        """Name under which the source waits in staging to be removed."""
        return source_taken_by(self.file)

    @property
    def taken_target(self) -> str:
        """Name under which a target that is rolled back waits in staging."""
        return f"{self.id}.undo"

    @property
    def seal(self) -> str:
        """What another journal would not come to."""
        return digest(self.model_dump_json().encode())


class _Sealed(Closed):
    """A journal as its file holds it. Files are moved and removed on its word alone."""

    journal: Journal
    seal: Hash


def new_id() -> str:
    """Return a name for a new journal or staging file."""
    return uuid.uuid4().hex


def is_journal(name: str) -> bool:
    """Return whether a file name is one that journals have."""
    return _FILE.fullmatch(name) is not None


def shown(name: str, folder: str = JOURNALS) -> str:
    """Return the workspace-relative path of a journal, or of a file in another of our folders."""
    return f"{STATE_DIRECTORY}/{folder}/{name}"


def source_taken_by(name: str) -> str:
    """Return the name under which a journal's source waits in staging to be removed.

    Args:
        name: The journal's own file name, whatever was appended; what is in it need not be known.
    """
    return f"{name.partition('.')[0]}.source"


def written(journal: Journal) -> bytes:
    """Return what a journal's file holds."""
    return _Sealed(journal=journal, seal=journal.seal).model_dump_json().encode()


def read_journal(name: str, content: bytes) -> Journal | None:
    """Return a journal; None when it is not one that this version wrote, every bit of it."""
    try:
        found = _Sealed.model_validate_json(content)
    except ValidationError:
        return None
    journal = found.journal
    return journal if journal.file == name and journal.seal == found.seal else None


def decide(journal: Journal, source: str | None, target: str | None, *, taken: bool) -> Action:
    """Return how an interrupted transition ends, by what is observed.

    What somebody else edited meanwhile always stays. ``none``: both files were
    edited, and only a person can tell which one holds.

    Args:
        journal: The transition.
        source: Content hash at the source's name, None when absent.
        target: Content hash at the target's name, None when absent.
        taken: Whether the unchanged source waits in staging.
    """
    untouched = source == journal.source_hash
    if target == journal.target_hash:
        if source is None:
            return "cleanup"
        return "resume" if untouched else "rollback"
    if source is None:
        # A vanished target is no reason to lose the todo as well.
        return "rollback" if taken and target is None else "cleanup"
    if target is None or journal.stage == "prepared":
        # Never published, or nothing proves that what is there was published by us.
        return "rollback"
    return "resume" if untouched else "none"
