"""Journals of transitions: what each one moves, how far it got, and how to complete it.

A journal contains only canonical todo names, so even a forged journal cannot lead out of its todos
root.
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
    """One transition; written before it begins and removed when it is complete."""

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
        """Name of the source in staging, before it is removed."""
        return source_taken_by(self.file)

    @property
    def taken_target(self) -> str:
        """Name in staging of a target that is rolled back."""
        return f"{self.id}.undo"

    @property
    def seal(self) -> str:
        """SHA-256 of the journal, to detect tampering."""
        return digest(self.model_dump_json().encode())


class _Sealed(Closed):
    """A journal with its checksum, as in its file. Files are moved and removed because of it."""

    journal: Journal
    seal: Hash


def new_id() -> str:
    """Return a unique name for a new journal or staging file."""
    return uuid.uuid4().hex


def is_journal(name: str) -> bool:
    """Return whether a file name has the form of a journal's."""
    return _FILE.fullmatch(name) is not None


def shown(name: str, folder: str = JOURNALS) -> str:
    """Return the workspace-relative path of a journal, or of a file in another of our folders."""
    return f"{STATE_DIRECTORY}/{folder}/{name}"


def source_taken_by(name: str) -> str:
    """Return the name in staging of the source that a journal moves.

    Args:
        name: The journal's file name, with any suffix; its content need not be readable.
    """
    return f"{name.partition('.')[0]}.source"


def written(journal: Journal) -> bytes:
    """Return the content of a journal's file."""
    return _Sealed(journal=journal, seal=journal.seal).model_dump_json().encode()


def read_journal(name: str, content: bytes) -> Journal | None:
    """Return a journal; None when it is damaged or was not written by this version."""
    try:
        found = _Sealed.model_validate_json(content)
    except ValidationError:
        return None
    journal = found.journal
    return journal if journal.file == name and journal.seal == found.seal else None


def decide(journal: Journal, source: str | None, target: str | None, *, taken: bool) -> Action:
    """Return how to complete an interrupted transition, given the current files.

    Edits by others are always kept. ``none``: both files were edited, and only a person can decide
    which one is valid.

    Args:
        journal: The transition.
        source: Content hash of the source's name, None when it does not exist.
        target: Content hash of the target's name, None when it does not exist.
        taken: Whether the unchanged source is in staging.
    """
    untouched = source == journal.source_hash
    if target == journal.target_hash:
        if source is None:
            return "cleanup"
        return "resume" if untouched else "rollback"
    if source is None:
        # The target was deleted; restoring the source saves the todo.
        return "rollback" if taken and target is None else "cleanup"
    if target is None or journal.stage == "prepared":
        # Never published, or it is not certain that we published the existing file.
        return "rollback"
    return "resume" if untouched else "none"
