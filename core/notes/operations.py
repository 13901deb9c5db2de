"""The five operations of the notes family."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hindnote.core.notes import clock, listing, render
from hindnote.core.notes.edits import Replacement
from hindnote.core.notes.models import (
    ListParams,
    Metadata,
    NotesList,
    NotesRead,
    NotesSearch,
    NotesUpdate,
    NotesWrite,
    ReadParams,
    SearchParams,
    UpdateParams,
    WriteParams,
)
from hindnote.core.notes.renaming import rename
from hindnote.core.notes.store import Store
from hindnote.core.operation import BoundCall, Hints, Operation
from hindnote.core.outcome import Refused, Success
from hindnote.core.window import fit_window

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address
    from hindnote.core.notes.frontmatter import Json
    from hindnote.core.notes.stored import Stored
    from hindnote.core.outcome import RefusalCode

VALUE_LIMIT = 1_024
"""Bytes of one foreign value's JSON in a result, at most."""

EXTRA_LIMIT = 2_048
"""Bytes of all foreign values' JSON in a result, at most."""

OMITTED = "[omitted: too large]"

_LISTING: set[RefusalCode] = {
    "invalid_cwd",
    "invalid_glob",
    "no_current_session",
    "output_too_large",
}
_ADDRESSED: set[RefusalCode] = {
    "invalid_address",
    "invalid_cwd",
    "io_error",
    "no_current_session",
    "not_text",
    "outside_home",
    "too_large",
}
_CHANGING: set[RefusalCode] = {
    *_ADDRESSED,
    "address_collision",
    "changed",
    "invalid_frontmatter",
    "locked",
    "read_only_home",
}


def _store(bound: BoundCall) -> Store:
    return Store(bound.identity, bound.project_key)


def _where(store: Store, address: Address) -> dict[str, str]:
    """Return the identity fields of a result about one note."""
    if address.home.kind == "project":
        return {"address": str(address), "project_key": store.homes.project_key}
    return {"address": str(address)}


def _list(bound: BoundCall, params: ListParams) -> Success[NotesList]:
    return Success(listing.list_notes(_store(bound), params, bound.budget))


def _search(bound: BoundCall, params: SearchParams) -> Success[NotesSearch]:
    return Success(listing.search_notes(_store(bound), params, bound.budget))


def _read(bound: BoundCall, params: ReadParams) -> Success[NotesRead]:
    store = _store(bound)
    address = store.homes.parse(params.address)
    stored = store.read(address)
    fields: dict[str, Any] = {**_where(store, address), "metadata": _metadata(stored)}

    def build(text: str, total: int, next_offset: int | None) -> NotesRead:
        return NotesRead(text=text, total_chars=total, next_offset_chars=next_offset, **fields)

    result = fit_window(stored.note.body, params, bound.budget, build, render.read)
    store.count_read(stored)
    return Success(result)


def _metadata(stored: Stored) -> Metadata:
    note = stored.note
    session = stored.address.home.kind == "session"
    fields: dict[str, Any] = {
        "version": stored.version,
        "origin": note.origin,
        "created_at": clock.format_ms(stored.created),
        "updated_at": clock.format_ms(stored.updated),
    }
    if note.archived_at is not None:
        fields["archived_at"] = note.archived_at
    if session and note.owner is not None:
        fields["project"] = note.owner
    if note.error is not None:
        fields["frontmatter_error"] = note.error
    if foreign := note.foreign(session=session):
        fields["extra"] = _carried(foreign)
    return Metadata(**fields)


def _carried(foreign: dict[str, Json]) -> dict[str, object]:
    """Return foreign values, those that are too large named in place."""
    carried: dict[str, object] = {}
    used = 0
    for key, value in foreign.items():
        size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
        fits = size <= VALUE_LIMIT and used + size <= EXTRA_LIMIT
        carried[key] = value if fits else OMITTED
        used += size if fits else 0
    return carried


def _write(bound: BoundCall, params: WriteParams) -> Success[NotesWrite]:
    store = _store(bound)
    address = store.homes.parse(params.address)
    written = store.write(address, params.content, params.origin, params.expected_version)
    return Success(
        NotesWrite(**_where(store, address), outcome=written.outcome, version=written.version)
    )


def _update(bound: BoundCall, params: UpdateParams) -> Success[NotesUpdate]:
    store = _store(bound)
    address = store.homes.parse(params.address)
    if params.rename_to is not None:
        return _rename(store, address, params.rename_to, params.expected_version)
    if not params.edits and params.origin is None and params.archived is None:
        raise Refused(
            "nothing_to_do", "nothing was asked for; give edits, origin, archived or rename_to"
        )
    done = store.update(
        address,
        [Replacement(edit.old_text, edit.new_text) for edit in params.edits or ()],
        replace_all=bool(params.replace_all),
        origin=params.origin,
        archived=params.archived,
        expected=params.expected_version,
    )
    result = NotesUpdate(
        **_where(store, address), applied=done.applied, change=done.change, version=done.version
    )
    return Success(result, {"before": done.before, "after": done.after})


def _rename(
    store: Store, address: Address, target: str, expected: str | None
) -> Success[NotesUpdate]:
    to = store.homes.parse(target)
    done = rename(store, address, to, expected)
    fields: dict[str, Any] = _where(store, to)
    if done.change != "none":
        fields["rename_from"] = str(address)
    result = NotesUpdate(**fields, applied=done.applied, change=done.change, version=done.version)
    return Success(result, {"before": done.before, "after": done.after})


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
    codes=frozenset(_LISTING),
    hints=Hints(read_only=True),
    handle=_list,
    render=render.listed,
)

NOTES_READ = Operation(
    name="notes_read",
    title="Read a note",
    description=(
        "Read a note's body, or a window of it. Continue with next_offset_chars. "
        "metadata.version serves as expected_version."
    ),
    family="notes",
    params=ReadParams,
    success=NotesRead,
    codes=frozenset({*_ADDRESSED, "invalid_offset", "not_found", "output_too_large"}),
    hints=Hints(read_only=True),
    handle=_read,
    render=render.read,
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
    codes=frozenset(_LISTING),
    hints=Hints(read_only=True),
    handle=_search,
    render=render.searched,
)

NOTES_WRITE = Operation(
    name="notes_write",
    title="Write a note",
    description=(
        "Create a note, or replace its whole body. An address is a path like plans/next (a note "
        "of this session), or @project/, @human/, @self/ or @model/ and a path. For a small "
        "change use notes_update."
    ),
    family="notes",
    params=WriteParams,
    success=NotesWrite,
    codes=frozenset(_CHANGING),
    hints=Hints(read_only=False, destructive=True),
    handle=_write,
    render=render.written,
)

NOTES_UPDATE = Operation(
    name="notes_update",
    title="Update a note",
    description=(
        "Edit a note's body by exact replacement, set its origin, archive or restore it, or "
        "rename it. All or nothing."
    ),
    family="notes",
    params=UpdateParams,
    success=NotesUpdate,
    codes=frozenset(
        {
            *_CHANGING,
            "already_exists",
            "ambiguous_edit",
            "no_match",
            "not_found",
            "nothing_to_do",
        }
    ),
    hints=Hints(read_only=False, destructive=True, idempotent=False),
    handle=_update,
    render=render.updated,
)

NOTES_OPERATIONS = (NOTES_LIST, NOTES_READ, NOTES_SEARCH, NOTES_WRITE, NOTES_UPDATE)
