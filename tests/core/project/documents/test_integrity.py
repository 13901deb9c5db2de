"""Damage to the index's file: every answer is right all the same."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[..., Path]

ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("artifact_search", {"query": "word", "related_limit": 3, "limit": 100}),
    ("artifact_search", {"filters": {"status": "ready", "tags": "one"}}),
    ("artifact_search", {}),
    ("artifact_describe", {"field_names": ["status", "tags"], "include_samples": True}),
)


@pytest.fixture
def file(base: Path, write: Write, run: Run) -> Path:
    """Return the index of a few documents."""
    for number in range(12):
        lines = [f"title: Title {number}", f"status: {('ready', 'done')[number % 2]}"]
        lines.append(f"tags: [{('one', 'two', 'three')[number % 3]}, every]")
        settle(write(f"docs/{number:02}.md", f"word x{number} [y](00.md) " * 3, *lines))
    settle(write("docs/long.md", "word " * 500))
    run("artifact_search")
    return base / ".hindnote" / "artifacts.sqlite3"


def settle(place: Path) -> None:
    os.utime(place, ns=(1, 1_600_000_000_000_000_000))


def answers(run: Run) -> tuple[list[Any], list[str]]:
    """Return what the questions bring, and what is told of the index."""
    found, told = [], []
    for name, arguments in ASKED:
        data = run(name, **arguments).dto["data"]
        state = data.pop("cache_state", {})
        told.append(state.get("reason", ""))
        found.append(data)
    return found, told


DAMAGES = (
    "UPDATE documents SET title = 'Title of none' WHERE path = 'docs/04.md'",
    "UPDATE documents SET hash = 'sha256:' || substr(hash, 9) || '0'",
    "UPDATE documents SET covered = 1",
    "UPDATE documents SET path = x'ff' WHERE path = 'docs/04.md'",
    "UPDATE documents SET path = 4 WHERE path = 'docs/04.md'",
    "UPDATE documents SET inode = 'none' WHERE path = 'docs/04.md'",
    "UPDATE contents SET preview = 'word of none' WHERE document = 3",
    "UPDATE contents SET preview = x'ff' WHERE document = 3",
    'UPDATE contents SET metadata = \'{"status": "read"}\' WHERE document = 3',
    "UPDATE contents SET metadata = 7 WHERE document = 3",
    "UPDATE contents SET document = document + 1 WHERE document = 13",
    "DELETE FROM contents WHERE document = 3",
    "UPDATE fields SET shown = 'of none' WHERE document = 2",
)


@pytest.mark.parametrize("statement", DAMAGES)
def test_what_became_something_else_is_never_shown_and_is_put_right_once(
    run: Run, file: Path, statement: str
) -> None:
    before, _ = answers(run)
    with closing(sqlite3.connect(file)) as connection, connection:
        assert connection.execute(statement).rowcount

    after, told = answers(run)

    assert after == before
    assert sum("damaged" in reason for reason in told) <= 1
    assert answers(run) == (before, [""] * 4)


@pytest.mark.campaign
def test_no_flipped_bit_of_an_index_changes_an_answer(
    run: Run, file: Path, rounds: Callable[[int], int]
) -> None:
    before, _ = answers(run)
    whole, chance = file.read_bytes(), random.Random(7)
    bits = [chance.randrange(8 * len(whole)) for _ in range(rounds(4_500))]
    # The sum itself, and the first and the last bit.
    bits += [0, 8 * len(whole) - 1, 8 * (len(whole) - 2)]

    for bit in bits:
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        file.unlink()
        file.write_bytes(flipped)
        question = chance.randrange(len(ASKED))
        name, arguments = ASKED[question]

        data = run(name, **arguments).dto["data"]

        told = data.pop("cache_state", {})
        assert data == before[question]
        assert told.get("state", "rebuilt") == "rebuilt"
