"""The operation ``notes_list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.notes.operations import render
from hindnote.core.notes.operations.common import LOOKING
from hindnote.core.notes.operations.models import ListParams, NoteRow, NotesList
from hindnote.core.notes.operations.selection import Rows, row_fields, view
from hindnote.core.notes.reader import Reader
from hindnote.core.tools.operation import BoundCall, Hints, Operation
from hindnote.core.tools.outcome import Success

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindnote.core.delivery.budget import Budget


def _list(bound: BoundCall, params: ListParams) -> Success[NotesList]:
    return Success(list_notes(Reader.of(bound), params, bound.budget))


def list_notes(notes: Reader, params: ListParams, budget: Budget) -> NotesList:
    """Return the notes that fit, newest first.

    Raises:
        Refused: ``invalid_glob``, ``no_current_session``, ``output_too_large``.
    """
    seen = view(notes, params)
    total = len(seen.notes)

    def build(rows: Sequence[NoteRow]) -> NotesList:
        return NotesList(files=list(rows), **seen.overview(total - len(rows)))

    rows = Rows(total, lambda index: NoteRow(**row_fields(notes, seen.notes[index])), render.row)
    count = rows.fitting(params.limit, build, render.listed, budget)
    if total and not count:
        raise seen.too_large()
    return build(rows.first(count))


NOTES_LIST = Operation(
    name="notes_list",
    title="List notes",
    description=(
        "List notes, newest first: this session's (no head), @project/, @human/, @self/, @model/. "
        "Others': glob @agents/** or @models/**."
    ),
    family="notes",
    params=ListParams,
    success=NotesList,
    codes=LOOKING,
    hints=Hints(read_only=True),
    handle=_list,
    render=render.listed,
)
