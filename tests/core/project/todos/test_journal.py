"""How an interrupted transition ends, for everything that can be observed."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from journal_files import sealed

from hindnote.core.project.todos.journal import Journal, decide, read_journal, written

S, T, OTHER = (f"sha256:{digit * 64}" for digit in "0a5")
ID = "f" * 32


def journal(stage: Any = "prepared", **more: Any) -> Journal:
    told = {
        "id": ID,
        "root": ["todos"],
        "source": "001-pending-p1-a.md",
        "source_hash": S,
        "target": "001-ready-p1-a.md",
        "target_hash": T,
        "stage": stage,
        **more,
    }
    return Journal.model_validate(told)


@pytest.mark.parametrize(
    ("stage", "source", "target", "taken", "action"),
    [
        ("prepared", S, None, False, "rollback"),
        ("prepared", S, T, False, "resume"),
        ("target_written", S, T, False, "resume"),
        ("target_written", None, T, True, "cleanup"),
        ("source_removed", None, T, False, "cleanup"),
        # Somebody edited the source: it stays, what we published goes.
        ("prepared", OTHER, None, False, "rollback"),
        ("target_written", OTHER, T, False, "rollback"),
        # Somebody edited the published target: it stays, the source goes.
        ("target_written", S, OTHER, False, "resume"),
        ("source_removed", None, OTHER, False, "cleanup"),
        # Nothing proves that this target was ours.
        ("prepared", S, OTHER, False, "rollback"),
        # Both edited: only a person can tell.
        ("target_written", OTHER, OTHER, False, "none"),
        # The target vanished: the todo is kept if anything of it is left.
        ("target_written", None, None, True, "rollback"),
        ("source_removed", None, None, False, "cleanup"),
    ],
)
def test_an_interrupted_transition_ends_by_what_is_observed(
    stage: str, source: str | None, target: str | None, taken: bool, action: str
) -> None:
    assert decide(journal(stage), source, target, taken=taken) == action


def test_no_decision_removes_what_somebody_else_wrote() -> None:
    stages = ("prepared", "target_written", "source_removed")
    for stage, source, target, taken in product(
        stages, (None, S, OTHER), (None, T, OTHER), (False, True)
    ):
        action = decide(journal(stage), source, target, taken=taken)
        if action == "resume":
            assert source == S and target is not None
        if source == OTHER and target == OTHER and stage != "prepared":
            assert action == "none"
        if target is None and (source is not None or taken):
            assert action == "rollback"


def text(**more: Any) -> bytes:
    return sealed({**journal().model_dump(mode="json"), **more})


def test_a_journal_is_read_as_it_was_written() -> None:
    assert read_journal(f"{ID}.json", text()) == journal()
    assert read_journal(f"{ID}.json", written(journal())) == journal()


def test_a_journal_with_a_flipped_bit_is_none() -> None:
    whole = written(journal())

    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        assert read_journal(f"{ID}.json", bytes(flipped)) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 2000,
        text(version=2),
        text(stage="started"),
        text(extra=1),
        text(source="../../etc/passwd"),
        text(target="/etc/passwd"),
        text(source="001-pending-p1-a.md/../../x"),
        text(root=[".."]),
        text(root=["a/../.."]),
        text(root=[".hindnote"]),
        text(source_hash="sha256:x"),
        text(id="0" * 32),
    ],
)
def test_anything_else_is_no_journal_of_this_version(content: bytes) -> None:
    assert read_journal(f"{ID}.json", content) is None
