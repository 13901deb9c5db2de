"""Build the output of a call from a handler's facts: at most 65,536 bytes, schema-checked.

In this order: identities are checked, descriptive texts clipped, collections cut, rows dropped
until the output fits, and the result is validated against the closed schema. If this is not
possible, the output is a contract error with the effects observed so far. Nothing is executed
here, in particular not the call again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from hindnote.core.project.contract.bounds import MAX_DTO_BYTES
from hindnote.core.project.contract.envelope import (
    Effects,
    ErrorInfo,
    Failure,
    Receipt,
    Reference,
    Success,
    adapter_of,
)
from hindnote.core.project.contract.marks import Part, document_at, json_size
from hindnote.core.project.effects import EffectLog, unknown_effects
from hindnote.core.project.outcome import Declined, Observation, Outcome
from hindnote.core.text.messages import quote

_NAMED_CHARS = 60
"""Maximum length of a path or value in a contract error's message, in characters."""


class _Breach(Exception):
    """The facts cannot be returned; contains the contract error."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **facts}


def deliver(success: type[Success], outcome: Outcome, effects: EffectLog | None) -> dict[str, Any]:
    """Return the output of one call, JSON-ready.

    Args:
        success: The tool's success envelope.
        outcome: The outcome of the handler.
        effects: The recorded effects; None when the handler does not record them.
    """
    observed = unknown_effects() if effects is None else effects.facts()
    try:
        if isinstance(outcome, Declined):
            return _failure(success, outcome, observed)
        return _success(success, outcome, observed)
    except _Breach as breach:
        return _contract_error(breach.error, observed)


def _success(
    success: type[Success], outcome: Observation, observed: dict[str, Any]
) -> dict[str, Any]:
    data_model: Any = success.model_fields["data"].annotation
    data = Part(data_model, outcome.data, outcome.totals)
    effects = Part(Effects, observed, {})
    data.omit_unfit()
    _bound(data, effects, outcome.holders)

    def dto() -> dict[str, Any]:
        _count_references(effects.value)
        counts, clipped = data.counts(), data.clipped()
        clipped.update({f"effects.{text}": n for text, n in effects.clipped().items()})
        omitted = any(count["omitted"] for count in counts.values()) or withholds(effects.value)
        return {
            "ok": True,
            "data": data.value,
            "completeness": {
                "complete": not omitted and not clipped,
                "clipped": [{"text": text, "count": n} for text, n in clipped.items()],
                "collections": counts,
            },
            "effects": effects.value,
        }

    return _fitted(success, dto, data, effects)


def _failure(success: type[Success], outcome: Declined, observed: dict[str, Any]) -> dict[str, Any]:
    told = {"code": outcome.code, "message": outcome.message, **outcome.facts}
    error, effects = Part(ErrorInfo, told, {}), Part(Effects, observed, {})
    _bound(error, effects, {})

    def dto() -> dict[str, Any]:
        _count_references(effects.value)
        if "issues" in error.value:
            error.value["issues_omitted"] = error.counts()["issues"]["omitted"]
        return {"ok": False, "error": error.value, "effects": effects.value}

    return _fitted(success, dto, error, effects)


def _bound(part: Part, effects: Part, holders: Mapping[str, str]) -> None:
    for piece, prefix in ((part, ""), (effects, "effects.")):
        fault = piece.identity_fault()
        if fault is not None:
            path = fault.path or holders.get(fault.value)
            named = {} if path is None else {"path": path}
            raise _Breach(
                "contract_identity",
                f"{prefix}{fault.where} {_quoted(fault.value)}{_of(path)} cannot be "
                f"delivered exactly: {fault.reason}; {_DO_NOT_REPEAT}",
                where=prefix + fault.where,
                limit=fault.limit,
                **named,
            )
    part.clip()
    part.cut()
    effects.clip()
    _cut_effects(effects)


_DO_NOT_REPEAT = "effects say what was done, do not repeat it"


def _quoted(text: str) -> str:
    return quote(text if len(text) <= _NAMED_CHARS else f"{text[:_NAMED_CHARS]}…")


def _of(path: str | None) -> str:
    return "" if path is None else f" of {_quoted(path)}"


def _cut_effects(effects: Part) -> None:
    """Cut references at their limits; then the changes are only reported as possible."""
    if effects.cut():
        _no_longer_observed(effects.value)


def _no_longer_observed(effects: dict[str, Any]) -> None:
    if effects["documents"] == "observed":
        effects["documents"] = "possible"


def _fitted(success: type[Success], dto: Any, part: Part, effects: Part) -> dict[str, Any]:
    answer: dict[str, Any] = dto()
    size = json_size(answer)
    while size > MAX_DTO_BYTES:
        excess = size - MAX_DTO_BYTES
        if not part.drop(excess) and not _withhold(effects, excess):
            raise _Breach(
                "contract_overflow",
                f"the result takes {size} bytes, at most {MAX_DTO_BYTES} can be delivered; "
                f"{_DO_NOT_REPEAT}",
                limit=MAX_DTO_BYTES,
                size=size,
            )
        answer = dto()
        size = json_size(answer)
    try:
        adapter_of(success).validate_python(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        steps = first["loc"][1:]
        where = ".".join(str(step) for step in steps)
        path = document_at(answer, steps)
        named = {} if path is None else {"path": path}
        raise _Breach(
            "contract_schema",
            f"the result breaks its schema at {where}{_of(path)}: {first['msg']}; {_DO_NOT_REPEAT}",
            where=where,
            **named,
        ) from None
    return answer


def _withhold(effects: Part, excess: int) -> bool:
    """Drop references to save space; then the changes are only reported as possible."""
    if not effects.drop(excess):
        return False
    _no_longer_observed(effects.value)
    return True


def withholds(effects: Mapping[str, Any]) -> bool:
    """Return whether references or receipts are missing in the returned effects."""
    parts = (effects["changed"], effects["possible"], effects["recovery"])
    return any(part["omitted"] for part in parts)


def _count_references(effects: dict[str, Any]) -> None:
    recovery = effects["recovery"]
    for holder, rows in (
        (effects["changed"], "items"),
        (effects["possible"], "items"),
        (recovery, "receipts"),
    ):
        if holder["total"] is not None:
            holder["omitted"] = holder["total"] - len(holder[rows])


def _contract_error(error: dict[str, Any], observed: dict[str, Any]) -> dict[str, Any]:
    told = Part(ErrorInfo, error, {})
    told.clip()
    effects = Part(Effects, observed, {})
    if _without_faulty(effects.value):
        effects.value["documents"] = "possible"
    effects.clip()
    _cut_effects(effects)
    answer = {"ok": False, "error": told.value, "effects": effects.value}
    _count_references(effects.value)
    while json_size(answer) > MAX_DTO_BYTES and _withhold(
        effects, json_size(answer) - MAX_DTO_BYTES
    ):
        _count_references(effects.value)
    try:
        Failure.model_validate(answer)
    except ValidationError:
        # The effects themselves break the schema, so they are reported as unknown.
        answer["effects"] = unknown_effects()
    return answer


def _without_faulty(effects: dict[str, Any]) -> bool:
    """Remove references whose identities cannot be returned; return whether there were any."""
    withheld = False
    kinds: tuple[tuple[list[Any], type[BaseModel]], ...] = (
        (effects["changed"]["items"], Reference),
        (effects["possible"]["items"], Reference),
        (effects["recovery"]["receipts"], Receipt),
    )
    for rows, model in kinds:
        sound = [row for row in rows if Part(model, row, {}).identity_fault() is None]
        withheld = withheld or len(sound) < len(rows)
        rows[:] = sound
    return withheld
