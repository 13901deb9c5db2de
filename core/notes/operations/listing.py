"""The operations that look through notes: ``notes_list`` and ``notes_search``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.notes.operations import page as listing
from hindnote.core.notes.operations import render
from hindnote.core.notes.operations.models import ListParams, NotesList, NotesSearch, SearchParams
from hindnote.core.notes.reader import Reader
from hindnote.core.operation import BoundCall, Hints, Operation
from hindnote.core.outcome import Success

if TYPE_CHECKING:
    from hindnote.core.outcome import RefusalCode

_CODES: frozenset[RefusalCode] = frozenset(
    {"invalid_cwd", "invalid_glob", "no_current_session", "output_too_large"}
)


def _list(bound: BoundCall, params: ListParams) -> Success[NotesList]:
    return Success(listing.list_notes(Reader.of(bound), params, bound.budget))


def _search(bound: BoundCall, params: SearchParams) -> Success[NotesSearch]:
    return Success(listing.search_notes(Reader.of(bound), params, bound.budget))


NOTES_LIST = Operation(
    name="notes_list",
    title="List notes",
    description=(
        "List your notes, newest first: this session's (no head), @project/, @human/, @self/ and "
        "@model/. Other agents' and models' notes: glob @agents/** or @models/**."
    ),
    family="notes",
    params=ListParams,
    success=NotesList,
    codes=_CODES,
    hints=Hints(read_only=True),
    handle=_list,
    render=render.listed,
)


NOTES_SEARCH = Operation(
    name="notes_search",
    title="Search notes",
    description=(
        "Search the bodies of your notes line by line. Without a query, the notes in scope come "
        "back without matches."
    ),
    family="notes",
    params=SearchParams,
    success=NotesSearch,
    codes=_CODES,
    hints=Hints(read_only=True),
    handle=_search,
    render=render.searched,
)
