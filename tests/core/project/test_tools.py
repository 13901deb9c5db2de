"""The tools as hosts see them: declarations, forms of an answer, what is a host failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hindnote.core.errors import HostFailure
from hindnote.core.project.contract.marks import json_size
from hindnote.core.project.effects import EffectLog
from hindnote.core.project.outcome import Declined, Observation
from hindnote.core.project.rendering import SMALL_JSON_BYTES
from hindnote.core.project.run import ToolAnswer, answer, run_tool
from hindnote.core.project.tools import TOOLS, declaration, tool_named
from hindnote.core.tools.operation import ArgumentError
from hindnote.hosts.pi import output_schema

Run = Callable[..., Any]


@pytest.mark.parametrize("name", TOOLS)
def test_a_declaration_is_closed_and_short_enough(name: str) -> None:
    declared = declaration(tool_named(name))

    assert len(declared["description"]) < 2_048
    assert declared["inputSchema"]["additionalProperties"] is False
    assert declared["outputSchema"] == output_schema(name)
    assert declared["outputSchema"]["type"] == "object"
    jsonschema.Draft202012Validator.check_schema(declared["inputSchema"])
    jsonschema.Draft202012Validator.check_schema(declared["outputSchema"])
    json.dumps(declared)
    looks = name.startswith("project_artifact") or name.rpartition("_")[2] in (
        "list",
        "validate",
        "inspect",
    )
    assert declared["hints"]["readOnly"] is looks


def test_an_unknown_tool_is_a_host_failure(base: Path) -> None:
    with pytest.raises(HostFailure, match="project_todo_list"):
        run_tool("project_todo_delete", {}, base_cwd=base)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("artifact_search", {"limit": 0}),
        ("artifact_search", {"limit": 101}),
        ("artifact_search", {"related_limit": 21}),
        ("artifact_search", {"max_snippet_chars": 59}),
        ("artifact_search", {"max_snippet_chars": 1001}),
        ("artifact_search", {"freshness": "never"}),
        ("artifact_search", {"filters": {"a": {"b": 1}}}),
        ("artifact_search", {"filters": {"a": ["x"] * 501}}),
        ("artifact_search", {"filters": {str(n): "x" for n in range(51)}}),
        ("artifact_search", {"unheard_of": 1}),
        ("artifact_describe", {"field_names": ["x"] * 21}),
        ("todo_create", {"title": "x", "priority": "p4", "body": ""}),
        ("todo_create", {"title": "x", "priority": "p1"}),
        ("todo_transition", {"path": "x", "to_status": "ready", "expected_content_hash": "x"}),
        ("todo_inspect", {}),
    ],
)
def test_arguments_that_break_the_schema_are_a_host_failure(
    run: Run, base: Path, name: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(ArgumentError):
        run(name, **arguments)
    assert list(base.iterdir()) == []


def test_a_crash_of_a_handler_is_not_dressed_up(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hindnote.core.project.todos import observe as looking

    def crash(*_: Any) -> None:
        raise ZeroDivisionError

    (base / "todos").mkdir()
    monkeypatch.setattr(looking, "observe", crash)
    with pytest.raises(ZeroDivisionError):
        run_tool("project_todo_list", {}, base_cwd=base)


def test_a_handler_runs_once_whatever_becomes_of_its_result(
    base: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hindnote.core.project.todos import creation

    made = []
    tool = tool_named("project_todo_create")
    real = tool.handle

    def once(*arguments: Any) -> Any:
        made.append(1)
        return real(*arguments)

    too_long = {"path": "p" * 5000, "id": 1, "status": "pending", "priority": "p1", "hash": HASH}
    monkeypatch.setitem(tool.__dict__, "handle", once)
    monkeypatch.setattr(creation, "identity", lambda *_: too_long)
    dto = run("todo_create", title="x", priority="p1", body="").dto

    assert made == [1]
    assert dto["error"]["code"] == "contract_identity"
    assert dto["effects"]["documents"] == "observed"
    assert dto["effects"]["changed"]["items"][0]["path"] == "todos/001-pending-p1-x.md"
    assert len(list((base / "todos").iterdir())) == 1


# -- forms of an answer --------------------------------------------------------------

ROOT = {"path": "todos", "availability": "present"}
HASH = f"sha256:{'0' * 64}"


def listed(count: int, width: int = 10) -> Observation:
    todos = [
        {"path": "é" * width, "id": n, "status": "ready", "priority": "p1", "hash": HASH}
        for n in range(count)
    ]
    data = {"root": ROOT, "todos": todos, "issues": [], "directory_hash": HASH}
    return Observation(data)


def answered(outcome: Any, log: EffectLog | None = None) -> ToolAnswer:
    given = answer(tool_named("project_todo_list"), outcome, log or EffectLog())
    assert len(given.text.encode()) <= 32_768
    assert json_size(given.details) <= 65_536
    return given


def test_small_facts_are_whole_json_in_the_first_block() -> None:
    outcome = listed(3)

    given = answered(outcome)

    assert json.loads(given.blocks[0]) == outcome.data
    assert "complete" in given.blocks[1]


def test_facts_at_the_edge_of_small_are_json_and_beyond_it_lines() -> None:
    room = SMALL_JSON_BYTES - json_size(listed(1, 0).data)
    edge = room // 2

    assert json.loads(answered(listed(1, edge)).blocks[0])
    assert not answered(listed(1, edge + 1)).blocks[0].startswith("{")


def test_many_facts_are_lines_with_the_rest_counted() -> None:
    given = answered(listed(2_000))

    lines = given.blocks[0].splitlines()
    assert lines[0] == f"2000 todos in todos, 0 issues; directory_hash {HASH}"
    assert lines[-1].startswith(f"[{2_001 - (len(lines) - 1)} more lines left out")
    told = given.blocks[1].splitlines()
    assert told[0].startswith(f"this text: {2_001 - (len(lines) - 1)} of 2001 lines left out; ")
    assert told[1] == "incomplete: todos 100 of 2000"


def test_a_receipt_says_what_the_lines_of_a_whole_output_leave_out() -> None:
    lines, receipt = answered(listed(30)).blocks

    digits = HASH.removeprefix("sha256:")[:12]
    assert lines.splitlines()[1].endswith(f"| {digits}")
    assert f"directory_hash {HASH}" in lines
    assert receipt.splitlines()[:2] == [
        "this text: hashes cut to 12 digits, project_todo_inspect has whole ones",
        "otherwise complete",
    ]


def test_a_contract_error_leaves_the_direct_text_useful() -> None:
    given = answered(listed(1, 5_000))

    assert given.is_error
    assert "é" * 5_000 in given.blocks[0]
    assert "contract_identity" in given.blocks[1]


def test_omissions_and_effects_are_visible_to_a_direct_caller() -> None:
    log = EffectLog(rollback="completed", phase="target_written")
    log.changed("todos/a.md", HASH)
    log.changed("todos/b.md", None)
    log.may_change("todos/c.md")

    text = answered(Declined("io_error", "the disk is full"), log).text

    assert "error: io_error: the disk is full" in text
    assert "documents observed, cache none, phase target_written, rollback completed" in text
    assert f"changed: todos/a.md {HASH}" in text
    assert "changed: todos/b.md removed" in text
    assert "possible: todos/c.md" in text


def test_unknown_effects_are_told_as_unknown() -> None:
    tool = tool_named("project_todo_list")

    assert "documents unknown, cache unknown" in answer(tool, listed(1), None).text


def test_a_failure_is_an_error_to_the_host_and_a_bad_finding_is_none(base: Path, run: Run) -> None:
    (base / "todos").mkdir()
    (base / "todos" / "001-ready-p1-x.md").write_text("broken")

    assert run("todo_validate").is_error is False
    assert run("todo_inspect", path="todos/none.md").is_error is True


def test_details_hold_rows_until_they_are_oversize() -> None:
    small, large = answered(listed(10)), answered(listed(2_000))

    assert len(small.details["rows"]) == 10
    assert large.details == {
        "tool": "project_todo_list",
        "summary": f"2000 todos in todos, 0 issues; directory_hash {HASH}",
        "counts": {"todos": 2000, "issues": 0, "blocking": 0},
        "rows_omitted": 2000,
    }


def test_details_at_the_edge_keep_their_rows() -> None:
    def sized(width: int) -> ToolAnswer:
        return answered(listed(30, width))

    width = next(w for w in range(900, 1200) if "rows_omitted" in sized(w).details)

    assert 65_536 - 60 <= json_size(sized(width - 1).details) <= 65_536
    assert sized(width).details["rows_omitted"] == 30


def test_no_answer_holds_another_copy_of_its_dto() -> None:
    given = answered(listed(3))

    assert "effects" not in given.details
    assert "completeness" not in given.details
