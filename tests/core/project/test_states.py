"""Whatever a handler comes up with: the DTO fits its schema and every form its size."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from hindnote.core.project.contract.bounds import (
    HASH_PATTERN,
    MAX_DETAILS_BYTES,
    MAX_DTO_BYTES,
    MAX_TEXT_BYTES,
    Identity,
)
from hindnote.core.project.contract.envelope import ErrorInfo, FailureCode, Receipt
from hindnote.core.project.contract.marks import json_size
from hindnote.core.project.effects import EffectLog, ReceiptLog
from hindnote.core.project.outcome import Declined, Observation, Outcome
from hindnote.core.project.run import ToolAnswer, answer
from hindnote.core.project.tools import TOOLS, tool_named
from hindnote.hosts.pi import output_adapter

LENGTHS = st.sampled_from([0, 1, 79, 80, 81, 120, 121, 239, 240, 241, 256, 257, 1000, 1001, 4095])
HASHES = st.sampled_from([f"sha256:{digit * 64}" for digit in "0af"])


def texts(*, past: bool) -> st.SearchStrategy[str]:
    """Return short texts of any kind, and long ones of one character."""
    long = st.builds(lambda char, length: char * length, st.sampled_from("aé漢😀\n\u2028"), LENGTHS)
    if not past:
        return st.text(
            st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8
        ) | st.builds(
            lambda char, length: char * (1 + length // 2), st.sampled_from("aé漢"), LENGTHS
        )
    return st.text(st.characters(), max_size=8) | long


def facts(annotation: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Return JSON-ready facts for a place of the contract, whose ceilings they may break."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return facts(arguments[0], arguments[1:])
    if origin in (Union, UnionType):
        return st.one_of([facts(choice) for choice in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return many(facts(arguments[0]))
    if annotation is str:
        return strings(metadata)
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return st.integers(0, 100)
    if annotation is float:
        return st.floats(0, 1e6)
    if annotation is type(None):
        return st.none()
    return records(annotation)


def strings(metadata: tuple[Any, ...]) -> st.SearchStrategy[str]:
    identity = next((mark for mark in metadata if isinstance(mark, Identity)), None)
    if identity is None:
        return texts(past=True)
    if identity.pattern == HASH_PATTERN:
        return HASHES
    if identity.pattern is not None:
        return st.sampled_from(["001", "123456789012345"])
    # Nearly always in order, or nothing else would ever be reached.
    good = texts(past=False).filter(lambda text: identity.fault(text) is None)
    return st.one_of([good] * 30 + [texts(past=True)])


def many(item: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Return lists that are short, or one item very often."""
    repeated = st.builds(
        lambda one, times: [one] * times, item, st.sampled_from([7, 8, 9, 21, 101])
    )
    return st.lists(item, max_size=3) | repeated


@cache
def records(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    required, optional = {}, {}
    for name, field in model.model_fields.items():
        place = required if field.is_required() else optional
        place[name] = facts(field.annotation, tuple(field.metadata))
    return st.fixed_dictionaries(required, optional=optional)


@st.composite
def logs(draw: st.DrawFn) -> EffectLog | None:
    if draw(st.integers(0, 9)) == 0:
        return None
    paths = facts(str, (Identity(4096),))
    log = EffectLog(
        cache=draw(st.sampled_from(["none", "observed", "possible"])),
        phase=draw(st.none() | texts(past=True)),
        rollback=draw(st.sampled_from(["none", "completed", "failed"])),
    )
    for path in draw(st.lists(paths, max_size=10)):
        log.may_change(path)
    for path in draw(st.lists(paths, max_size=10)):
        log.changed(path, draw(st.none() | HASHES))
    for told in draw(st.lists(records(Receipt), max_size=3)):
        source, target = told["source"], told["target"]
        log.receipts.append(
            ReceiptLog(
                told["journal"],
                told["journal_hash"],
                (source["path"], source["hash"]),
                (target["path"], target["hash"]),
                current={
                    s: told[s]["current"] for s in ("source", "target") if "current" in told[s]
                },
            )
        )
    log.recoveries_started = len(log.receipts)
    return log


@st.composite
def outcomes(draw: st.DrawFn, tool: str) -> Outcome:
    if draw(st.integers(0, 3)) == 0:
        told = draw(records(ErrorInfo))
        code = draw(st.sampled_from(get_args(FailureCode)))
        rest = {key: value for key, value in told.items() if key not in ("code", "message")}
        return Declined(code, told["message"], **rest)
    model = TOOLS[tool].success.model_fields["data"].annotation
    return Observation(draw(facts(model)), totals=draw(st.just({}) | st.just({"results": 900})))


def holds(tool: str, given_answer: ToolAnswer) -> None:
    output_adapter(tool).validate_python(given_answer.dto)
    assert json_size(given_answer.dto) <= MAX_DTO_BYTES
    assert len(given_answer.text.encode()) <= MAX_TEXT_BYTES
    assert json_size(given_answer.details) <= MAX_DETAILS_BYTES
    assert len(given_answer.blocks) == 2
    assert given_answer.text.strip()


@settings(
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ]
)
@given(st.data())
def test_any_state_of_any_handler_is_delivered_within_its_contract(data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(list(TOOLS)))
    outcome, log = data.draw(outcomes(tool)), data.draw(logs())

    given_answer = answer(tool_named(tool), outcome, log)

    holds(tool, given_answer)
    if log is not None:
        effects = given_answer.dto["effects"]
        told = log.facts()
        assert (effects["documents"] == "none") == (told["documents"] == "none")
        for kind in ("changed", "possible"):
            shown = effects[kind]
            assert shown["total"] == told[kind]["total"]
            assert len(shown["items"]) + shown["omitted"] == shown["total"]
