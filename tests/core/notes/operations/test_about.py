"""What ``notes_search`` answers to ``about``: the notes that fit best, with their best lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def filled(agent: Any) -> Any:
    agent.put("@human/coffee", "Buy beans on Friday.\nThe grinder jams when it is cold.")
    agent.put(
        "@human/deploys", "Never deploy on Fridays.\n\nRoll back with make rollback.\nKeys: vault."
    )
    agent.put(
        "@human/rules",
        "Deploying needs two reviews.\nThe release manager deploys.\nAsk before deploys.",
    )
    return agent


def addresses(answer: dict[str, Any]) -> list[str]:
    return [row["address"].removesuffix(".md") for row in answer["files"]]


def test_the_note_that_fits_best_comes_first_whatever_form_its_words_have(filled: Any) -> None:
    found = filled.search(about="how do we roll back a deployed release?")

    assert addresses(found)[0] == "@human/deploys"
    assert "Roll back with make rollback." in [hit["text"] for hit in found["files"][0]["matches"]]


def test_a_note_shows_its_three_best_lines_with_where_they_are(filled: Any) -> None:
    filled.put("@human/many", "\n".join(f"deploy number {number}" for number in range(9)))

    row = next(row for row in filled.search(about="deploy")["files"] if "many" in row["address"])

    assert (row["matches_total"], len(row["matches"])) == (9, 3)
    body = filled.read(address="@human/many")["text"]
    assert all(body[hit["offset_chars"] :].startswith("deploy") for hit in row["matches"])


def test_a_long_line_is_cut_around_what_fits(filled: Any) -> None:
    filled.put("@human/long", "x " * 5_000 + "the grinder was repaired " + "y " * 5_000)

    (hit,) = next(
        row for row in filled.search(about="repaired grinder")["files"] if "long" in row["address"]
    )["matches"]

    assert "grinder was repaired" in hit["text"] and len(hit["text"]) <= 312 and hit["truncated"]
    body = filled.read(address="@human/long", offset_chars=hit["excerpt_offset_chars"])["text"]
    assert body.startswith(hit["text"][:100])
    assert body[hit["offset_chars"] - hit["excerpt_offset_chars"] :].startswith("grinder")


def test_query_and_glob_leave_notes_out_before_the_ranking(filled: Any) -> None:
    assert addresses(filled.search(about="deploys", query="vault")) == ["@human/deploys"]
    assert addresses(filled.search(about="deploys", glob="@human/r*")) == ["@human/rules"]


def test_a_question_that_no_note_answers_finds_none(filled: Any) -> None:
    assert filled.search(about="telescope mirror polishing")["files"] == []


def test_notes_are_ranked_without_an_index(
    filled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    assert addresses(filled.search(about="grinder"))
    assert not list(tmp_path.rglob("recall*"))


def test_an_empty_question_counts_as_omitted(filled: Any) -> None:
    assert len(filled.search(about="")["files"]) == 3


def test_a_quoted_phrase_must_be_in_the_note(filled: Any) -> None:
    assert addresses(filled.search(about='deploys "two reviews"')) == ["@human/rules"]


def test_a_tie_goes_to_the_newer_note(filled: Any) -> None:
    filled.put("@human/older", "quarterly retention of backups")
    filled.put("@human/newer", "quarterly retention of backups")

    assert addresses(filled.search(about="backup retention"))[:2] == [
        "@human/newer",
        "@human/older",
    ]
