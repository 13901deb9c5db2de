"""The operation ``notes_read``; field texts are the model's documentation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hindnote.core.delivery.window import WindowParams, WindowResult, continuation, fit_window
from hindnote.core.notes import clock
from hindnote.core.notes.operations.common import ADDRESSED, InProject, where
from hindnote.core.notes.reader import Reader
from hindnote.core.text.messages import inline
from hindnote.core.tools.operation import BoundCall, Hints, Operation
from hindnote.core.tools.outcome import Result, Success

if TYPE_CHECKING:
    from hindnote.core.notes.reader import Stored
    from hindnote.core.text.frontmatter import Json

VALUE_LIMIT = 1_024
"""Maximum size in bytes of one non-owned value in a result, as JSON."""

EXTRA_LIMIT = 2_048
"""Maximum size in bytes of all non-owned values in a result, as JSON."""

OMITTED = "[omitted: too large]"


class ReadParams(InProject, WindowParams):
    """Parameters of ``notes_read``."""

    address: str


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
    inherited_from: str | None = None
    """Session id."""

    metadata: Metadata


def _read(bound: BoundCall, params: ReadParams) -> Success[NotesRead]:
    notes = Reader.of(bound)
    address = notes.homes.parse(params.address)
    stored = notes.read(address)
    fields: dict[str, Any] = {**where(notes.homes, address), "metadata": _metadata(stored)}

    if stored.address.home.owner is not None:
        fields["inherited_from"] = stored.address.home.owner

    def build(text: str, total: int, next_offset: int | None) -> NotesRead:
        return NotesRead(text=text, total_chars=total, next_offset_chars=next_offset, **fields)

    result = fit_window(stored.note.body, params, bound.budget, build, _render)
    notes.count_read(stored)
    return Success(result)


def _metadata(stored: Stored) -> dict[str, Any]:
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
    return fields


def _carried(foreign: dict[str, Json]) -> dict[str, object]:
    """Return the non-owned values, with a placeholder for each that is too large."""
    carried: dict[str, object] = {}
    used = 0
    for key, value in foreign.items():
        size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
        fits = size <= VALUE_LIMIT and used + size <= EXTRA_LIMIT
        carried[key] = value if fits else OMITTED
        used += size if fits else 0
    return carried


def _render(result: NotesRead) -> str:
    """Return the text of a read."""
    metadata = result.metadata
    head = [result.address, f"version {metadata.version}", f"{result.total_chars} chars"]
    if result.project_key is not None:
        head.insert(1, f"project {result.project_key}")
    if result.inherited_from is not None:
        head.append(f"inherited from {inline(result.inherited_from)}")
    facts = [
        f"origin {inline(metadata.origin)}",
        f"created {metadata.created_at}",
        f"updated {metadata.updated_at}",
    ]
    if metadata.archived_at is not None:
        facts.append(f"archived {inline(metadata.archived_at)}")
    if metadata.project is not None:
        facts.append(f"made in project {inline(metadata.project)}")
    lines = [" | ".join(head), " | ".join(facts)]
    if metadata.frontmatter_error is not None:
        lines.append(f"frontmatter error: {metadata.frontmatter_error}")
    if metadata.extra is not None:
        lines.append(f"extra: {json.dumps(metadata.extra, ensure_ascii=False)}")
    return "\n".join([*lines, "", result.text]) + continuation(result.next_offset_chars)


NOTES_READ = Operation(
    name="notes_read",
    title="Read a note",
    description="Read a note's body or a window of it; continue at next_offset_chars.",
    family="notes",
    params=ReadParams,
    success=NotesRead,
    codes=ADDRESSED | {"invalid_offset", "not_found", "output_too_large"},
    hints=Hints(read_only=True),
    handle=_read,
    render=_render,
)
