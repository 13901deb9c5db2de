"""Every ceiling of the contract, at its edge and one past it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from hindnote.core.project.contract import bounds, documents, envelope, todos
from hindnote.core.project.contract.bounds import (
    Descriptive,
    Identity,
    Rows,
    clip_utf16,
    utf16_length,
)
from hindnote.core.project.contract.envelope import Failure
from hindnote.core.project.contract.marks import label, marks_of
from hindnote.core.project.tools import TOOLS
from hindnote.hosts import pi
from hindnote.hosts.pi import output_adapter, output_schema

HASH = f"sha256:{'0a' * 32}"
EFFECTS = {
    "documents": "observed",
    "cache": "none",
    "changed": {"items": [{"path": "a", "hash": HASH}], "total": 1, "omitted": 0},
    "possible": {"items": [{"path": "a", "hash": None}], "total": None, "omitted": None},
    "phase": "created",
    "rollback": "none",
    "recovery": {
        "started": 1,
        "completed": 1,
        "receipts": [
            {
                "journal": "j",
                "journal_hash": HASH,
                "source": {"path": "a", "hash": HASH, "current": None},
                "target": {"path": "b", "hash": HASH, "current": HASH},
                "action": "resume",
                "state": "completed",
            }
        ],
        "total": 1,
        "omitted": 0,
    },
}
NONE = {"total": 1, "returned": 1, "omitted": 0}
TODO = {"path": "a", "id": 1, "status": "ready", "priority": "p1", "hash": HASH, "title": "t"}
ISSUE = {"code": "duplicate_id", "blocking": True, "message": "m", "path": "a"}
ROOT = {"path": "todos", "availability": "present"}
SEARCH = {
    "results": [
        {
            "path": "a",
            "kind": "document",
            "title": "t",
            "snippet": "s",
            "score": 1.5,
            "facets": [{"name": "n", "tags": ["t"], "values": ["v"]}],
            "confidence": {
                "label": "raw_exact",
                "fields": [{"field": "n", "label": "profile_warning"}],
                "evidence": [{"provider": "p", "field": "n", "finding": "f"}],
            },
            "provenance": {
                "scope": "docs",
                "source": "index",
                "hash": HASH,
                "matched": ["title"],
                "explanation": "e",
            },
            "related": [{"path": "b", "title": "t", "relation": "links_to"}],
            "preview_covered": True,
        }
    ],
    "cache_state": {
        "state": "fresh",
        "freshness": "auto",
        "documents": 1,
        "refreshed": 0,
        "previews_partial": 0,
        "unreadable": 0,
        "reason": "r",
        "roots": [{"scope": "docs", "path": "docs", "availability": "present"}],
    },
}
DESCRIBE = {
    "definitions": [
        {
            "name": "n",
            "owner": "o",
            "type": "text",
            "description": "d",
            "required": False,
            "enum": ["e"],
        }
    ],
    "observed": [
        {"name": "n", "count": 1, "types": ["text"], "distinct": 1, "distinct_capped": False}
    ],
    "samples": [{"field": "n", "owner": "o", "values": ["v"]}],
}
SCAN = {"root": ROOT, "todos": [TODO], "issues": [ISSUE], "directory_hash": HASH}
DATA: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "project_artifact_search": (
        SEARCH,
        ("results", "related", "facets", "facet_values", "confidence", "evidence"),
    ),
    "project_artifact_describe": (
        DESCRIBE,
        ("definitions", "enum_values", "observed", "samples", "sample_values"),
    ),
    "project_todo_list": (SCAN, ("todos", "issues")),
    "project_todo_validate": (SCAN, ("todos", "issues")),
    "project_todo_inspect": (
        {"root": ROOT, "state": "valid", "todo": TODO, "issues": [ISSUE]},
        ("issues",),
    ),
    "project_todo_allocate": (
        {"id": 1, "rendered_id": "001", "directory_hash": HASH, "reserved": False},
        (),
    ),
    "project_todo_create": ({"todo": TODO}, ()),
    "project_todo_transition": ({"todo": TODO, "previous_path": "b"}, ()),
}
FAILURE = {
    "ok": False,
    "error": {
        "code": "changed",
        "message": "m",
        "path": "a",
        "root": ROOT,
        "expected": HASH,
        "actual": None,
        "issues": [ISSUE],
        "issues_omitted": 0,
        "where": "w",
        "limit": 1,
        "size": 2,
    },
    "effects": EFFECTS,
}

# The table of the contract: where a ceiling lies, and what it is.
IN_EFFECTS = {
    "effects.changed.items": 8,
    "effects.changed.items.path": 4096,
    "effects.changed.items.hash": 71,
    "effects.possible.items": 8,
    "effects.possible.items.path": 4096,
    "effects.possible.items.hash": 71,
    "effects.phase": 64,
    "effects.recovery.receipts": 2,
    "effects.recovery.receipts.journal": 4096,
    "effects.recovery.receipts.journal_hash": 71,
    "effects.recovery.receipts.source.path": 4096,
    "effects.recovery.receipts.source.hash": 71,
    "effects.recovery.receipts.source.current": 71,
    "effects.recovery.receipts.target.path": 4096,
    "effects.recovery.receipts.target.hash": 71,
    "effects.recovery.receipts.target.current": 71,
}
IN_TODO = {"data.todo.path": 4096, "data.todo.hash": 71, "data.todo.title": 240}
IN_ISSUES = {
    "data.issues": 100,
    "data.issues.message": 240,
    "data.issues.path": 4096,
    "data.root.path": 4096,
}
IN_SCAN = {
    **IN_ISSUES,
    "data.todos": 100,
    "data.todos.path": 4096,
    "data.todos.hash": 71,
    "data.todos.title": 240,
    "data.directory_hash": 71,
}
CEILINGS: dict[str, dict[str, int]] = {
    "project_artifact_search": {
        "data.results": 100,
        "data.results.path": 4096,
        "data.results.title": 240,
        "data.results.snippet": 1000,
        "data.results.facets": 8,
        "data.results.facets.name": 256,
        "data.results.facets.tags": 4,
        "data.results.facets.tags.*": 120,
        "data.results.facets.values": 3,
        "data.results.facets.values.*": 120,
        "data.results.confidence.fields": 8,
        "data.results.confidence.fields.field": 256,
        "data.results.confidence.evidence": 8,
        "data.results.confidence.evidence.provider": 256,
        "data.results.confidence.evidence.field": 256,
        "data.results.confidence.evidence.finding": 240,
        "data.results.provenance.hash": 71,
        "data.results.provenance.explanation": 240,
        "data.results.related": 20,
        "data.results.related.path": 4096,
        "data.results.related.title": 240,
        "data.cache_state.reason": 240,
        "data.cache_state.roots.path": 4096,
    },
    "project_artifact_describe": {
        "data.definitions": 100,
        "data.definitions.name": 256,
        "data.definitions.owner": 256,
        "data.definitions.description": 240,
        "data.definitions.enum": 20,
        "data.definitions.enum.*": 240,
        "data.observed": 100,
        "data.observed.name": 256,
        "data.samples": 20,
        "data.samples.field": 256,
        "data.samples.owner": 256,
        "data.samples.values": 3,
        "data.samples.values.*": 80,
    },
    "project_todo_list": IN_SCAN,
    "project_todo_validate": IN_SCAN,
    "project_todo_inspect": {**IN_ISSUES, **IN_TODO},
    "project_todo_allocate": {"data.rendered_id": 15, "data.directory_hash": 71},
    "project_todo_create": IN_TODO,
    "project_todo_transition": {**IN_TODO, "data.previous_path": 4096},
    "failure": {
        "error.message": 240,
        "error.path": 4096,
        "error.root.path": 4096,
        "error.expected": 71,
        "error.actual": 71,
        "error.issues": 100,
        "error.issues.message": 240,
        "error.issues.path": 4096,
        "error.where": 64,
    },
}
ROWS = [
    (tool, where, limit)
    for tool, table in CEILINGS.items()
    for where, limit in {**table, **IN_EFFECTS}.items()
]


def dto(tool: str) -> dict[str, Any]:
    if tool == "failure":
        return copy.deepcopy(FAILURE)
    data, collections = DATA[tool]
    return copy.deepcopy(
        {
            "ok": True,
            "data": data,
            "completeness": {
                "complete": False,
                "clipped": [{"text": "results.title", "count": 1}],
                "collections": dict.fromkeys(collections, NONE),
            },
            "effects": EFFECTS,
        }
    )


def accepts(tool: str, value: dict[str, Any]) -> bool:
    """Return the verdict of the closed schema, on which the JSON schema must not be stricter."""
    name = "project_todo_list" if tool == "failure" else tool
    try:
        output_adapter(name).validate_python(value)
    except ValidationError:
        return False
    assert validator(name).is_valid(value)
    return True


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(output_schema(name))


def steps(where: str) -> Iterator[str]:
    return iter(where.removesuffix(".*").split("."))


def put(value: Any, where: str, new: Any) -> None:
    """Set a place, the first item of every list on the way."""
    *way, last = steps(where)
    for step in way:
        value = value[step]
        value = value[0] if isinstance(value, list) else value
    if where.endswith(".*"):
        value[last][0] = new
    else:
        value[last] = new


def get(value: Any, where: str) -> Any:
    for step in steps(where):
        value = (value[0] if isinstance(value, list) else value)[step]
    return value[0] if where.endswith(".*") else value


def of_length(sample: str, length: int) -> str:
    """Return a text of so many UTF-16 units, fewer code points wherever the form is free."""
    if length in (71, 72):
        return HASH[:length] + "0" * (length - len(HASH))
    if sample == "001":
        return "0" * length
    return "😀" * (length // 2) + "x" * (length % 2)


@pytest.mark.parametrize(("tool", "where", "limit"), ROWS)
def test_a_ceiling_holds_at_its_edge_and_not_one_past_it(tool: str, where: str, limit: int) -> None:
    whole = dto(tool)
    sample = get(whole, where)
    rows = isinstance(sample, list)

    put(whole, where, sample * limit if rows else of_length(sample, limit))
    assert accepts(tool, whole)

    put(whole, where, sample * (limit + 1) if rows else of_length(sample, limit + 1))
    assert not accepts(tool, whole)


@pytest.mark.parametrize("tool", [*TOOLS, "failure"])
def test_the_table_holds_every_ceiling_of_the_models(tool: str) -> None:
    model = Failure if tool == "failure" else TOOLS[tool].success
    table = {**CEILINGS[tool], **IN_EFFECTS}

    found = {}
    for where, mark in marks_of(model):
        name = label(where) + (".*" if where[-1] == "*" else "")
        assert isinstance(mark, Identity | Descriptive | Rows)
        found[name] = mark.limit

    assert found == table


@pytest.mark.parametrize("tool", [*TOOLS, "failure"])
def test_an_output_is_closed_on_every_level(tool: str) -> None:
    def objects(value: Any) -> Iterator[dict[str, Any]]:
        if isinstance(value, dict):
            yield value
            for item in value.values():
                yield from objects(item)
        elif isinstance(value, list):
            for item in value:
                yield from objects(item)

    assert accepts(tool, dto(tool))
    for position in range(len(list(objects(dto(tool))))):
        changed = dto(tool)
        list(objects(changed))[position]["unheard_of"] = 1
        assert not accepts(tool, changed), position


@pytest.mark.parametrize("tool", TOOLS)
def test_a_success_is_told_from_a_failure_by_ok(tool: str) -> None:
    assert not accepts(tool, {**dto(tool), "ok": False})
    assert not accepts(tool, {**dto("failure"), "ok": True})


@pytest.mark.parametrize("name", ["path", "issues", "where", "expected"])
def test_a_field_that_may_be_left_out_may_not_be_null(name: str) -> None:
    failure = dto("failure")
    failure["error"][name] = None

    assert not accepts("failure", failure)


def test_a_receipt_tells_observed_absence_from_no_observation() -> None:
    failure = dto("failure")
    source = failure["effects"]["recovery"]["receipts"][0]["source"]
    assert source["current"] is None
    assert accepts("failure", failure)

    del source["current"]
    parsed = Failure.model_validate(failure).model_dump(mode="json", exclude_unset=True)
    assert "current" not in parsed["effects"]["recovery"]["receipts"][0]["source"]
    assert parsed == failure


def test_an_empty_enum_value_is_valid() -> None:
    whole = dto("project_artifact_describe")
    whole["data"]["definitions"][0]["enum"] = ["", "x"]
    assert accepts("project_artifact_describe", whole)


@pytest.mark.parametrize("distinct", [100, 101])
def test_distinct_values_are_counted_up_to_a_hundred(distinct: int) -> None:
    whole = dto("project_artifact_describe")
    whole["data"]["observed"][0]["distinct"] = distinct
    assert accepts("project_artifact_describe", whole) == (distinct == 100)


@pytest.mark.parametrize("bad", ["sha256:" + "A" * 64, "sha256:" + "a" * 63, HASH + "\n", "a" * 71])
def test_a_hash_has_one_form(bad: str) -> None:
    whole = dto("project_todo_create")
    whole["data"]["todo"]["hash"] = bad
    assert not accepts("project_todo_create", whole)


@pytest.mark.parametrize("part", [bounds, documents, envelope, todos])
def test_the_pi_host_exports_the_models_of_the_contract(part: ModuleType) -> None:
    own = [
        name
        for name in vars(part)
        if getattr(vars(part)[name], "__module__", None) == part.__name__
    ]
    exported = [name for name in own if name in pi.__all__]

    assert exported
    assert all(getattr(pi, name) is vars(part)[name] for name in exported)


def test_the_pi_host_exports_nothing_else() -> None:
    with pytest.raises(AttributeError):
        pi.TypeAdapter  # noqa: B018


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [("abc", 3, "abc"), ("a😀b", 2, "a"), ("a😀b", 3, "a😀"), ("😀", 1, ""), ("éé", 1, "é")],
)
def test_clipping_never_cuts_a_surrogate_pair(text: str, limit: int, kept: str) -> None:
    assert clip_utf16(text, limit) == kept
    assert utf16_length(kept) <= limit
