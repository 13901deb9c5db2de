"""The outcome of an operation: a success, or a refusal with a code.

Internally an operation returns an ``Outcome``. A caller of the tool gets the *wire result* that
``wire`` makes of it: the success model's fields at the top level, or ``{"error": <message>,
"code": <code>}``. A private helper transport sends the *envelope* instead: ``{"ok": true, "data":
…}`` or ``{"ok": false, "error": {…}}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from msgspec import Struct, field
from pydantic import ConfigDict

from hindnote.core.errors import Refusal
from hindnote.core.tools.field_docs import Described

if TYPE_CHECKING:
    from pydantic import BaseModel


class Result(Described):
    """Base of all success models: frozen, no unknown fields, optional fields may be *unset*.

    An unset field is absent from the wire result; a field set to ``None`` is sent as ``null``.
    Never set an optional field to ``None``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


S_co = TypeVar("S_co", bound=Result, covariant=True)


class Success(Struct, Generic[S_co], frozen=True):
    """The result of an operation that succeeded."""

    data: S_co
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Data only for the host (a note's text before and after); never sent to the model."""


Outcome: TypeAlias = Success[S_co] | Refusal


def wire(outcome: Outcome[Result]) -> dict[str, Any]:
    """Return what a caller of the tool receives, as JSON-ready data."""
    if isinstance(outcome, Refusal):
        return {"error": outcome.message, "code": outcome.code}
    return outcome.data.model_dump(mode="json", exclude_unset=True)


def wire_json(result: BaseModel) -> str:
    """Return a success as compact JSON, formatted as ``JSON.stringify`` would."""
    return result.model_dump_json(exclude_unset=True)


def envelope(outcome: Outcome[Result]) -> dict[str, Any]:
    """Return the outcome in the form that a private helper transport sends."""
    if isinstance(outcome, Refusal):
        return {"ok": False, "error": {"code": outcome.code, "message": outcome.message}}
    return {"ok": True, "data": wire(outcome)}


def render_refusal(refusal: Refusal) -> str:
    """Return the line that a model reads for a refusal."""
    return f"error: {refusal.code}: {refusal.message}"
