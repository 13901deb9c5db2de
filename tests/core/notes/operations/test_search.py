"""What ``notes_search`` answers: matches, bounds and both forms."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES, Budget
from hindnote.core.notes.operations.matches import MATCHES_SHOWN
from hindnote.core.notes.operations.models import SearchParams
from hindnote.core.notes.operations.search import search_notes
from hindnote.core.plugins.models import Decoration


def test_a_search_finds_lines_with_exact_offsets(agent: Any) -> None:
    agent.put("@human/a", "---\nneedle: not here\n---\nİİİİ needle\r\nnothing\r\nẞẞ NEEDLE needle")

    row = agent.search(query="Needle")["files"][0]

    assert row["matches_total"] == 2
    assert row["matches"] == [
        {"line": 1, "offset_chars": 5, "text": "İİİİ needle"},
        {"line": 3, "offset_chars": 25, "text": "ẞẞ NEEDLE needle"},
    ]
    body = agent.read(address="@human/a")["text"]
    assert body[25:31] == "NEEDLE"
    agent.search(query="Needle")
    assert "  3 (offset_chars 25): ẞẞ NEEDLE needle" in agent.text
    assert "  1 (offset_chars 5): İİİİ needle" in agent.text


def test_any_of_several_literals_matches(agent: Any) -> None:
    agent.put("@human/a", "部署失败后回滚")
    agent.put("@human/b", "cafe\u0301 [x]")

    assert len(agent.search(query=["回滚", "", "nothing"])["files"]) == 1
    assert len(agent.search(query=["caf\u00e9"])["files"]) == 1
    assert len(agent.search(query="[x]")["files"]) == 1
    assert agent.search(query="nothing")["files"] == []


@pytest.mark.parametrize("query", [None, "", [], ["", ""]])
def test_without_a_query_the_notes_in_scope_come_back(agent: Any, query: Any) -> None:
    agent.put("@human/a", "one\ntwo")

    row = agent.search(query=query)["files"][0]

    assert (row["matches_total"], row["matches"]) == (0, [])


def test_many_matching_lines_are_counted_and_the_first_shown(agent: Any) -> None:
    agent.put("@human/a", "needle\n" * 5_000)

    row = agent.search(query="needle")["files"][0]

    assert (row["matches_total"], len(row["matches"])) == (5_000, MATCHES_SHOWN)
    assert f"5000 matching lines, {MATCHES_SHOWN} of them here" in agent.text


def test_a_long_line_is_an_excerpt_around_its_match_and_starves_no_other_note(agent: Any) -> None:
    for number in range(5):
        agent.put(f"@human/small{number}", "a needle", number)
    line = "x" * 40_000 + " needle"
    agent.put("@human/long", f"first\n{line}", 9)

    found = agent.search(query="needle")

    assert found["more"] == 0
    assert len(found["files"]) == 6
    (match,) = found["files"][0]["matches"]
    start = match["excerpt_offset_chars"]
    assert match["offset_chars"] == len("first\n") + 40_001
    assert match["text"] == f"first\n{line}"[start : start + 300] + " [truncated]"
    assert "needle" in match["text"]
    assert match["truncated"] is True
    assert f"text from {start}" in agent.text


def test_an_excerpt_that_begins_its_line_has_no_offset_of_its_own(agent: Any) -> None:
    agent.put("@human/a", "needle " + "é" * 300)

    (match,) = agent.search(query="needle")["files"][0]["matches"]

    assert match["text"] == "needle " + "é" * 293 + " [truncated]"
    assert "excerpt_offset_chars" not in match


def test_a_line_of_300_code_points_is_shown_whole(agent: Any) -> None:
    agent.put("@human/a", "é" * 294 + "needle")

    (match,) = agent.search(query="needle")["files"][0]["matches"]

    assert match["text"] == "é" * 294 + "needle"
    assert "truncated" not in match


@given(before=st.integers(0, 900), after=st.integers(0, 900), wanted=st.integers(1, 400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_excerpt_is_a_part_of_the_body_that_begins_where_it_says(
    agent: Any, before: int, after: int, wanted: int
) -> None:
    body = "head\n" + "é" * before + "n" * wanted + "é" * after
    agent.put("@human/a", body)

    (match,) = agent.search(query="n" * wanted)["files"][0]["matches"]
    start = match.get("excerpt_offset_chars", len("head\n"))
    text = match["text"].removesuffix(" [truncated]")

    assert body[start : start + len(text)] == text
    assert start <= match["offset_chars"] < start + len(text)
    assert len(text) <= 300


def test_a_first_line_that_cannot_fit_is_cut_to_the_longest_prefix_that_does(agent: Any) -> None:
    agent.put("@human/a", "needle " + "é" * 200)
    room = Budget(Decoration(prefix="x" * (OUTPUT_BUDGET_BYTES - 400)))

    found = search_notes(agent.store, SearchParams(query="needle"), room)

    (match,) = found.files[0].matches
    assert match.truncated
    assert match.text.startswith("needle éé")
    assert match.text.endswith("é [truncated]")


def test_fewer_matches_are_shown_before_one_is_cut(agent: Any) -> None:
    agent.put("@human/a", "\n".join("needle " + "\x01" * 290 for _ in range(20)))

    row = agent.search(query="needle")["files"][0]

    assert row["matches_total"] == 20
    assert 15 < len(row["matches"]) < 20
    assert all("truncated" not in match for match in row["matches"])


def test_rows_behind_the_first_are_dropped_whole(agent: Any) -> None:
    for number in range(10):
        agent.put(f"@human/{number}", "\n".join(["needle " + "x" * 290] * 20), number)

    found = agent.search(query="needle")

    assert [row["address"] for row in found["files"]] == [f"@human/{n}.md" for n in (9, 8, 7, 6)]
    assert found["more"] == 6
    assert all(len(row["matches"]) == 20 for row in found["files"])


@pytest.mark.parametrize("query", ['["needle"]', ' ["a", "needle"]'])
def test_a_list_that_was_written_as_text_is_told_when_nothing_is_found(
    agent: Any, query: str
) -> None:
    agent.put("@human/a", "needle")

    found = agent.search(query=query)

    assert found["files"] == []
    assert "give query as a list" in found["note"]
    assert found["note"] in agent.text


@pytest.mark.parametrize("query", ["[needle]", "[1]", "[]x", '["needle"', ["zebra"], "[" * 100_000])
def test_a_query_that_is_no_list_in_text_is_not_told_of(agent: Any, query: object) -> None:
    agent.put("@human/a", "thread")

    assert "note" not in agent.search(query=query)


@given(
    notes=st.lists(
        st.tuples(
            st.text(st.sampled_from("abé部 -"), min_size=1, max_size=30),
            st.text(st.sampled_from('n "\n\x01é'), max_size=4_000),
        ),
        max_size=12,
    ),
    query=st.sampled_from([None, "n", "é"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_forms_fit_for_any_notes(
    agent: Any, notes: list[tuple[str, str]], query: str | None
) -> None:
    """The agent of the tests measures every answer."""
    for number, (name, body) in enumerate(notes):
        agent.put(f"@human/x{name.strip()}{number}", body * 5)

    found = agent.search(query=query)
    for row in found["files"]:
        assert row["address"] in agent.text
        for match in row["matches"]:
            assert match["text"] in agent.text
