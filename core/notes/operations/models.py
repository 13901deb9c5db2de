"""Parameters and results of the list and the search; field texts are the model's documentation."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hindnote.core.notes.facts import Problem
from hindnote.core.notes.operations.common import InProject
from hindnote.core.tools.outcome import Result

Limit = Annotated[int, Field(ge=1, le=1000)]


class ListParams(InProject):
    """Parameters of ``notes_list``."""

    glob: str | None = None
    """E.g. @project/**; * is one segment."""

    archived: bool = False
    """Archived ones instead."""

    limit: Limit | None = None
    """Default: what fits."""


class SearchParams(ListParams):
    """Parameters of ``notes_search``."""

    query: str | list[str] | None = None
    """Literals; any may match, in any case."""

    about: str | None = None
    """Question; best first."""


class NoteRow(Result):
    """One note in a list."""

    address: str
    project_key: str | None = None
    updated_at: str
    archived_at: str | None = None
    total_chars: int
    """Code points of the body."""

    problem: Problem | None = None
    inherited_from: str | None = None
    """Session id."""


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
    excerpt_offset_chars: int | None = None
    """Of text, if later than its line."""


class FoundNote(NoteRow):
    """One note with what was found in it."""

    matches_total: int
    """Matching lines; matches holds the first ones, with about the best."""

    matches: list[Match]


class NotesSearch(Result):
    """Result of ``notes_search``."""

    files: list[FoundNote]
    more: int
    """Notes left out here; narrow with glob or query."""

    archived_excluded: int
    unreadable: int
    homes_unavailable: list[str]
    note: str | None = None
