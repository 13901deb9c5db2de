"""The parts that every output has besides its data: completeness, effects, and errors."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from hindnote.core.project.contract.bounds import (
    MAX_ISSUES,
    MAX_PHASE_CHARS,
    MAX_RECEIPTS,
    MAX_REFERENCES,
    Count,
    DescriptionText,
    Descriptive,
    HashText,
    PathText,
    Rows,
)
from hindnote.core.tools.field_docs import Described
from hindnote.core.tools.schema import schema_of


class Closed(Described):
    """Base of all contract models: strict, frozen, no unknown fields, optional fields may be unset.

    Null has a meaning in each field that allows it (observed absence, an unknown count). Any other
    optional field is left out instead of being null.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


def unset() -> Any:
    """Return the default of an optional field, which may or may not be nullable."""
    return Field(default_factory=lambda: None)


# -- completeness ---------------------------------------------------------------


class Counted(Closed):
    """Counts of one collection: how many items there are, and how many were returned."""

    total: Count
    returned: Count
    omitted: Count


class Clipped(Closed):
    """One kind of descriptive text that was clipped at its limit."""

    text: Annotated[str, Field(max_length=64)]
    """Where such texts lie, list positions left out, e.g. ``results.title``."""

    count: Annotated[int, Field(ge=1)]


class Completeness(Closed):
    """Base of a tool's completeness; each subclass adds its ``collections``.

    A nested collection (such as the related rows of a result) is counted over the rows that were
    returned.
    """

    complete: bool
    """True only when nothing was omitted and nothing clipped."""

    clipped: list[Clipped]


# -- effects --------------------------------------------------------------------

EffectState = Literal["none", "observed", "possible", "unknown"]


class Reference(Closed):
    """A document that the call changed, or may have changed."""

    path: PathText
    hash: HashText | None = unset()
    """The content afterwards; null: observed absent; missing: not observed."""


class References(Closed):
    """Exact references, in order. References that do not fit are only counted."""

    items: Annotated[list[Reference], Rows(MAX_REFERENCES, "references")]
    total: Count | None
    omitted: Count | None


class JournaledFile(Closed):
    """The source or the target file of a transition, as its journal recorded it."""

    path: PathText
    hash: HashText
    """The content hash that the journal recorded."""

    current: HashText | None = unset()
    """The content hash as observed; null: observed absent; missing: not observed."""


class Receipt(Closed):
    """What the recovery of one interrupted transition found and did. It must not be replayed."""

    journal: PathText
    journal_hash: HashText
    source: JournaledFile
    target: JournaledFile
    action: Literal["resume", "rollback", "cleanup", "none"]
    """``resume``: the published target was kept and the source removed; ``rollback``: the source
    was kept; ``cleanup``: only the journal remained to be removed; ``none``: nothing was tried."""

    state: Literal["dispatched", "completed", "failed"]


class Recovery(Closed):
    """Recovery of interrupted transitions within this call."""

    started: Count | None
    completed: Count | None
    receipts: Annotated[list[Receipt], Rows(MAX_RECEIPTS, "receipts")]
    total: Count | None
    omitted: Count | None


class Effects(Closed):
    """The observed effects of a call. ``unknown`` if the handler does not record its effects."""

    documents: EffectState
    cache: EffectState
    """Locks, journals, staging and the index."""

    changed: References
    possible: References
    phase: Annotated[str, Descriptive(MAX_PHASE_CHARS)] | None
    """The last step that was reached."""

    rollback: Literal["none", "completed", "failed", "unknown"]
    recovery: Recovery


# -- findings and failures --------------------------------------------------------

IssueCode = Literal[
    "duplicate_id",
    "interrupted_transition",
    "invalid_frontmatter",
    "name_collision",
    "name_mismatch",
    "not_a_file",
    "not_canonical",
    "not_text",
    "symlink",
    "unreadable",
]


class Issue(Closed):
    """One problem of an entry in the todos root."""

    code: IssueCode
    blocking: bool
    """Whether it blocks every mutation in this root."""

    message: DescriptionText
    path: PathText = unset()
    """Missing when the entry's name cannot be represented."""


class RootState(Closed):
    """The observed state of a todos root."""

    path: PathText
    availability: Literal["present", "missing", "unknown"]


FailureCode = Literal[
    "already_exists",
    "changed",
    "contract_identity",
    "contract_overflow",
    "contract_schema",
    "id_exhausted",
    "invalid_frontmatter",
    "invalid_path",
    "invalid_title",
    "io_error",
    "locked",
    "not_found",
    "not_transitionable",
    "nothing_to_do",
    "outside_workspace",
    "path_too_long",
    "recovery_blocked",
    "root_missing",
    "root_unreadable",
    "stale_content",
    "stale_directory",
    "todo_conflict",
    "unsafe_state",
]
"""Every reason for a native failure. The list is closed."""


class ErrorInfo(Closed):
    """Why a call failed, with the facts needed to recover."""

    code: FailureCode
    message: DescriptionText
    path: PathText = unset()
    root: RootState = unset()
    expected: HashText = unset()
    actual: HashText | None = unset()
    """Null: observed absent."""

    issues: Annotated[list[Issue], Rows(MAX_ISSUES, "issues")] = unset()
    issues_omitted: Count = unset()
    where: Annotated[str, Descriptive(64)] = unset()
    """Of a contract error: the place in the DTO."""

    limit: Count = unset()
    size: Count = unset()


class Success(Closed):
    """Base of the envelope of a completed call; each tool adds ``data`` and ``completeness``."""

    ok: Literal[True]
    effects: Effects


class Failure(Closed):
    """The envelope of a native failure."""

    ok: Literal[False]
    error: ErrorInfo
    effects: Effects


@cache
def adapter_of(success: type[Success]) -> TypeAdapter[Any]:
    """Return the validator of a tool's outputs, given its success envelope."""
    union: Any = Annotated[success | Failure, Field(discriminator="ok")]
    return TypeAdapter(union)


def outputs_schema(success: type[Success]) -> dict[str, Any]:
    """Return the JSON schema of a tool's outputs, given its success envelope."""
    ours, failure = schema_of(success), schema_of(Failure)
    definitions = {**ours.pop("$defs", {}), **failure.pop("$defs", {})}
    return {"type": "object", "anyOf": [ours, failure], "$defs": definitions}
