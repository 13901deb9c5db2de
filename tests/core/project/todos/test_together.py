"""Two processes in one todos root: no id twice, no todo lost, every refusal explained."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.project.run import run_tool

pytestmark = pytest.mark.filterwarnings(
    # Test runners keep threads of their own; the children use none of them.
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)

EXPLAINED = {"not_found", "stale_content", "nothing_to_do", "stale_directory", "locked"}
ROUNDS = int(os.environ.get("HINDNOTE_TODO_ROUNDS", "10"))
"""The benchmark runs more."""


def call(base: Path, name: str, **arguments: Any) -> dict[str, Any]:
    return run_tool(f"project_todo_{name}", arguments, base_cwd=base).dto


def together(base: Path, work: Any) -> list[list[Any]]:
    """Run ``work(base, barrier, number)`` in two processes; return what they tell."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(2, timeout=60)
    queue: Any = context.SimpleQueue()

    def run(number: int) -> None:
        queue.put((number, json.dumps(work(base, barrier, number))))

    children = [context.Process(target=run, args=(number,)) for number in range(2)]
    for child in children:
        child.start()
    told = dict(queue.get() for _ in children)
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    return [json.loads(told[number]) for number in range(2)]


def test_of_two_transitions_of_one_todo_exactly_one_wins_each_time(base: Path) -> None:
    first = call(base, "create", title="x", priority="p1", body="b")["data"]["todo"]
    statuses = ("ready", "pending")

    def work(base: Path, barrier: Any, number: int) -> list[Any]:
        told = []
        for turn in range(ROUNDS):
            todo = call(base, "list")["data"]["todos"][0]
            barrier.wait()
            dto = call(
                base,
                "transition",
                path=todo["path"],
                to_status=statuses[turn % 2],
                expected_content_hash=todo["hash"],
            )
            told.append(dto.get("error", {}).get("code"))
            barrier.wait()
        return told

    one, two = together(base, work)

    for pair in zip(one, two, strict=True):
        assert sorted(code is None for code in pair) == [False, True]
        assert {code for code in pair if code} <= EXPLAINED
    (only,) = call(base, "list")["data"]["todos"]
    assert only["id"] == first["id"]
    assert call(base, "validate")["data"]["issues"] == []


def test_two_processes_creating_and_moving_lose_and_double_nothing(base: Path) -> None:
    def work(base: Path, barrier: Any, number: int) -> list[Any]:
        told: list[Any] = []
        barrier.wait()
        for turn in range(ROUNDS):
            made = call(base, "create", title=f"t{number} {turn}", priority="p1", body=f"{turn}")
            assert made["ok"], made
            todo = made["data"]["todo"]
            told.append(["created", todo["id"]])
            # The newest todo, whoever made it: both often reach for the same one.
            newest = max(path.name for path in (base / "todos").iterdir())
            seen = call(base, "inspect", path=f"todos/{newest}")
            moved = seen
            if seen["ok"]:
                moved = call(
                    base,
                    "transition",
                    path=f"todos/{newest}",
                    to_status="complete",
                    expected_content_hash=seen["data"]["todo"]["hash"],
                )
            told.append(["moved", moved["ok"] or moved["error"]["code"]])
        return told

    one, two = together(base, work)

    told = Counter((kind, str(value)) for kind, value in map(tuple, one + two))
    ids = [int(value) for kind, value in told if kind == "created"]
    assert sorted(ids) == list(range(1, 2 * ROUNDS + 1))
    assert {value for kind, value in told if kind == "moved"} - {"True"} <= EXPLAINED
    names = sorted(path.name for path in (base / "todos").iterdir())
    assert [int(name[:3]) for name in names] == list(range(1, 2 * ROUNDS + 1))
    assert call(base, "validate")["data"]["issues"] == []
    complete = sum("-complete-" in name for name in names)
    assert complete == told[("moved", "True")]


def test_two_worktrees_give_the_same_id_and_the_merge_is_diagnosed(base: Path) -> None:
    for name in ("one", "two"):
        (base / name).mkdir()
        made = run_tool(
            "project_todo_create",
            {"title": name, "priority": "p1", "body": ""},
            base_cwd=base / name,
        ).dto
        assert made["data"]["todo"]["id"] == 1
    for path in (base / "two" / "todos").iterdir():
        path.rename(base / "one" / "todos" / path.name)

    listed = call(base / "one", "list")

    assert len(listed["data"]["todos"]) == 2
    assert {issue["code"] for issue in listed["data"]["issues"]} == {"duplicate_id"}
    assert call(base / "one", "allocate")["error"]["code"] == "todo_conflict"


def test_two_workspaces_over_one_todos_root_exclude_each_other(base: Path) -> None:
    """The folder itself is locked as well, since each workspace has a lock file of its own."""
    (base / "part").mkdir()
    roots = [{"todos_root": "part/todos"}, {"workspace_root": "part"}]

    def work(base: Path, barrier: Any, number: int) -> list[Any]:
        barrier.wait()
        made = [
            call(base, "create", title=f"{number}", priority="p1", body="", **roots[number])
            for _ in range(ROUNDS)
        ]
        return [dto["data"]["todo"]["id"] for dto in made]

    one, two = together(base, work)

    assert sorted(one + two) == list(range(1, 2 * ROUNDS + 1))
