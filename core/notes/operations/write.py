"""The operation ``notes_write``; field texts are the model's documentation."""

from __future__ import annotations

from typing import Literal

from hindnote.core.notes.note import Origin
from hindnote.core.notes.operations.common import CHANGING, InProject, receipt, where
from hindnote.core.notes.store import Store
from hindnote.core.tools.operation import BoundCall, Hints, Operation
from hindnote.core.tools.outcome import Result, Success


class WriteParams(InProject):
    """Parameters of ``notes_write``."""

    address: str

    content: str
    """Body; its frontmatter is merged by key."""

    origin: Origin = "self"
    """Whose knowledge it is."""

    expected_version: str | None = None
    """metadata.version it must have, or the word absent: it must not exist. Omitted: no check."""


class NotesWrite(Result):
    """Result of ``notes_write``."""

    address: str
    project_key: str | None = None
    outcome: Literal["created", "overwrote", "restored"]
    version: str


def _write(bound: BoundCall, params: WriteParams) -> Success[NotesWrite]:
    store = Store.of(bound)
    address = store.homes.parse(params.address)
    written = store.write(address, params.content, params.origin, params.expected_version)
    return Success(
        NotesWrite(**where(store.homes, address), outcome=written.outcome, version=written.version)
    )


def _render(result: NotesWrite) -> str:
    """Return the receipt of a write."""
    return " | ".join(
        [f"{result.outcome} {result.address}", *receipt(result.project_key, result.version)]
    )


NOTES_WRITE = Operation(
    name="notes_write",
    title="Write a note",
    description=(
        "Create a note or replace its body. Address: a path like plans/next (this session's), or "
        "@project/, @human/, @self/ or @model/ and a path."
    ),
    family="notes",
    params=WriteParams,
    success=NotesWrite,
    codes=CHANGING,
    hints=Hints(read_only=False, destructive=True),
    handle=_write,
    render=_render,
)
