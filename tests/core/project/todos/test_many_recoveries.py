"""Nine interrupted transitions: more than one answer may hold references and receipts of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from journal_files import sealed

from hindnote.core.project import state
from hindnote.core.project.run import ToolAnswer

Run = Callable[..., ToolAnswer]
MOVES = 9


def text(number: int, status: str) -> str:
    return f"---\nissue_id: {number}\nstatus: {status}\npriority: p1\n---\nbody\n"


def interrupted(base: Path, published: bool) -> None:
    """Leave what nine killed processes leave: their journals, and their targets if published."""
    journals = base / ".hindnote" / "todo-transitions"
    journals.mkdir(parents=True)
    (base / "todos").mkdir()
    for number in range(1, MOVES + 1):
        names = {status: f"00{number}-{status}-p1-x.md" for status in ("pending", "ready")}
        hashes = {status: state.digest(text(number, status).encode()) for status in names}
        (base / "todos" / names["pending"]).write_text(text(number, "pending"))
        if published:
            (base / "todos" / names["ready"]).write_text(text(number, "ready"))
        told: dict[str, Any] = {
            "version": 1,
            "id": str(number) * 32,
            "root": ["todos"],
            "source": names["pending"],
            "source_hash": hashes["pending"],
            "target": names["ready"],
            "target_hash": hashes["ready"],
            "stage": "target_written" if published else "prepared",
        }
        (journals / f"{told['id']}.json").write_bytes(sealed(told))


@pytest.mark.parametrize("published", [True, False])
def test_the_direct_receipt_says_what_it_withholds(base: Path, run: Run, published: bool) -> None:
    interrupted(base, published)

    answer = run("todo_allocate")

    effects = answer.dto["effects"]
    recovery = effects["recovery"]
    assert (recovery["started"], recovery["completed"], recovery["omitted"]) == (9, 9, 7)
    assert answer.dto["completeness"]["complete"] is False
    receipt = answer.blocks[1].splitlines()
    assert receipt[0].startswith("incomplete: ")
    assert "recovery receipts 2 of 9" in receipt[0]
    assert receipt[-1] == "recovered: 7 more, withheld"
    assert len([line for line in receipt if line.startswith("recovered: todos/")]) == 2


def test_changes_that_are_withheld_for_a_ceiling_are_possible(base: Path, run: Run) -> None:
    interrupted(base, published=True)

    answer = run("todo_allocate")

    effects = answer.dto["effects"]
    assert effects["documents"] == "possible"
    changed = effects["changed"]
    assert (len(changed["items"]), changed["total"], changed["omitted"]) == (8, 9, 1)
    assert "changed documents 8 of 9" in answer.blocks[1].splitlines()[0]
    assert "changed: 1 more, withheld" in answer.text


@pytest.mark.parametrize(("published", "told"), [(True, "none"), (False, "completed")])
def test_a_recovery_that_rolled_back_says_so(
    base: Path, run: Run, published: bool, told: str
) -> None:
    interrupted(base, published)

    answer = run("todo_allocate")

    assert answer.dto["effects"]["rollback"] == told
    assert ("rollback completed" in answer.blocks[1]) is (told == "completed")
