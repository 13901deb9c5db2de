"""SECURITY.md: what it says of the files that others can put in the way has tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
ROWS = [line.split(" | ") for line in TEXT.splitlines() if line.startswith("| ")][2:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][2:40])
def test_each_row_names_tests_that_are_there(row: list[str]) -> None:
    assert len(row) == 4
    named = re.findall(r"`(tests/[^`]+)`", row[3])

    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize(
    "asked",
    ["What is protected, from whom", "What is not protected", "Report a vulnerability"],
)
def test_it_says_what_a_person_looks_for(asked: str) -> None:
    assert f"## {asked}\n" in TEXT


def test_every_variable_that_the_program_reads_is_in_it() -> None:
    """One that is read and not listed has not been thought about."""
    harmless = {
        "HINDNOTE_PROJECT_TOOLS",  # which tools are offered: one of a few words
        "HINDNOTE_SEARCH_SECONDS",  # a number
    }
    sources = [
        path
        for folder in ("core", "hosts")
        for suffix in ("py", "ts")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
        if "tests" not in path.parts
    ]
    read = {
        name
        for path in sources
        for name in re.findall(r"\bHINDNOTE_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))
    }

    assert sorted(name for name in read - harmless if name not in TEXT) == []
