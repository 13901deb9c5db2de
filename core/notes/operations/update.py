"""The operation ``notes_update``; field texts are the model's documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import model_validator

from hindnote.core.errors import Refused
from hindnote.core.notes.edits import Replacement
from hindnote.core.notes.note import Origin
from hindnote.core.notes.operations.common import CHANGING, InProject, receipt, where
from hindnote.core.notes.reader import Change
from hindnote.core.notes.renaming import rename
from hindnote.core.notes.store import Store
from hindnote.core.text.messages import counted
from hindnote.core.tools.operation import BoundCall, Hints, Operation, Params
from hindnote.core.tools.outcome import Result, Success

if TYPE_CHECKING:
    from hindnote.core.notes.address import Address


class Edit(Params):
    """One replacement."""

    old_text: str
    new_text: str


class UpdateParams(InProject):
    """Parameters of ``notes_update``."""

    address: str

    edits: list[Edit] | None = None
    """In order; each old_text must occur exactly once."""

    replace_all: bool | None = None
    origin: Origin | None = None

    archived: bool | None = None
    """false restores."""

    rename_to: str | None = None
    """New address; only with expected_version and cwd."""

    expected_version: str | None = None
    """As in notes_write."""

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


class NotesUpdate(Result):
    """Result of ``notes_update``."""

    address: str
    project_key: str | None = None
    rename_from: str | None = None
    applied: int
    """Replacements made."""

    change: Change
    version: str


def _update(bound: BoundCall, params: UpdateParams) -> Success[NotesUpdate]:
    store = Store.of(bound)
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
        **where(store.homes, address),
        applied=done.applied,
        change=done.change,
        version=done.version,
    )
    return Success(result, {"before": done.before, "after": done.after})


def _rename(
    store: Store, address: Address, target: str, expected: str | None
) -> Success[NotesUpdate]:
    to = store.homes.parse(target)
    done = rename(store, address, to, expected)
    fields: dict[str, Any] = where(store.homes, to)
    if done.change != "none":
        fields["rename_from"] = str(address)
    result = NotesUpdate(**fields, applied=done.applied, change=done.change, version=done.version)
    return Success(result, {"before": done.before, "after": done.after})


def _render(result: NotesUpdate) -> str:
    """Return the receipt of an update."""
    if result.rename_from is not None:
        what = f"renamed {result.rename_from} to {result.address}"
    elif result.change == "none":
        what = f"unchanged {result.address}"
    else:
        what = f"updated {result.address}"
    change = f"change {result.change}"
    applied = counted(result.applied, "replacement", grouped=False)
    return " | ".join([what, change, applied, *receipt(result.project_key, result.version)])


NOTES_UPDATE = Operation(
    name="notes_update",
    title="Update a note",
    description=(
        "Edit a note's body by exact replacement, set its origin, archive, restore or rename it; "
        "all or nothing."
    ),
    family="notes",
    params=UpdateParams,
    success=NotesUpdate,
    codes=CHANGING
    | {
        "already_exists",
        "ambiguous_edit",
        "no_match",
        "not_found",
        "nothing_to_do",
    },
    hints=Hints(read_only=False, destructive=True, idempotent=False),
    handle=_update,
    render=_render,
)
