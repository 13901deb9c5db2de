"""Parameters and results of the five operations; field texts are the model's documentation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from hindnote.core.operation import Params
from hindnote.core.outcome import Result
from hindnote.core.window import WindowParams, WindowResult

Origin = Literal["user", "self", "external"]
Problem = Literal["invalid_frontmatter", "not_text", "too_large", "shadowed"]
Change = Literal["none", "body", "metadata", "file"]
Limit = Annotated[int, Field(ge=1, le=1000)]


class InProject(Params):
    """The parameter that all five operations take."""

    cwd: str | None = None
    """Directory that decides @project for this call."""


class ListParams(InProject):
    """Parameters of ``notes_list``."""

    glob: str | None = None
    """Whole addresses to match, e.g. @project/**; * stays within a segment."""

    archived: bool = False
    """Show the archived notes instead."""

    limit: Limit | None = None
    """Most notes to return."""


class SearchParams(ListParams):
    """Parameters of ``notes_search``."""

    query: str | list[str] | None = None
    """Literal texts, any of which may match; case is ignored."""


class ReadParams(InProject, WindowParams):
    """Parameters of ``notes_read``."""

    address: str


class WriteParams(InProject):
    """Parameters of ``notes_write``."""

    address: str

    content: str
    """The whole body; frontmatter at its head is merged by key."""

    origin: Origin = "self"
    """Whose knowledge it is."""

    expected_version: str | None = None
    """Refuse unless the note has this version; absent: only create."""


class Edit(Params):
    """One replacement."""

    old_text: str
    new_text: str


class UpdateParams(InProject):
    """Parameters of ``notes_update``."""

    address: str

    edits: list[Edit] | None = None
    """Applied in order, all or none; each old_text must occur exactly once."""

    replace_all: bool | None = None
    """Replace every occurrence instead."""

    origin: Origin | None = None

    archived: bool | None = None
    """Archive, or restore."""

    rename_to: str | None = None
    """New address; goes with expected_version and cwd alone."""

    expected_version: str | None = None

    @model_validator(mode="after")
    def _rename_alone(self) -> UpdateParams:
        others = [
            name
            for name in ("edits", "replace_all", "origin", "archived")
            if getattr(self, name) is not None
        ]
        if self.rename_to is not None and others:
            raise ValueError(
                f"rename_to goes with expected_version and cwd alone, not with {', '.join(others)}"
            )
        return self


class NoteRow(Result):
    """One note in a list."""

    address: str
    project_key: str | None = None
    updated_at: str
    archived_at: str | None = None
    total_chars: int
    """Code points of the body."""

    problem: Problem | None = None


class NotesList(Result):
    """Result of ``notes_list``."""

    files: list[NoteRow]
    more: int
    """Notes left out here; narrow with glob."""

    archived_excluded: int
    unreadable: int
    homes_unavailable: list[str]


class Match(Result):
    """One matching line."""

    line: int
    offset_chars: int
    """Of the first match, in the body."""

    text: str
    truncated: bool | None = None


class FoundNote(NoteRow):
    """One note with what was found in it."""

    matches_total: int
    """Matching lines; matches holds the first ones."""

    matches: list[Match]


class NotesSearch(Result):
    """Result of ``notes_search``."""

    files: list[FoundNote]
    more: int
    """Notes left out here; narrow with glob or query."""

    archived_excluded: int
    unreadable: int
    homes_unavailable: list[str]


class Metadata(Result):
    """What a note says of itself."""

    version: str
    origin: str
    created_at: str
    updated_at: str
    archived_at: str | None = None
    project: str | None = None
    """Project in which a session note was made."""

    frontmatter_error: str | None = None
    extra: dict[str, object] | None = None
    """Other frontmatter."""


class NotesRead(WindowResult):
    """Result of ``notes_read``."""

    address: str
    project_key: str | None = None
    metadata: Metadata


class NotesWrite(Result):
    """Result of ``notes_write``."""

    address: str
    project_key: str | None = None
    outcome: Literal["created", "overwrote", "restored"]
    version: str


class NotesUpdate(Result):
    """Result of ``notes_update``."""

    address: str
    project_key: str | None = None
    rename_from: str | None = None
    applied: int
    """Replacements made."""

    change: Change
    version: str
