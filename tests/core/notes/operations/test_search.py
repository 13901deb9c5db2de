"""What ``notes_search`` answers: matches, bounds and both forms."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES
from hindnote.core.notes.operations.matches import MATCHES_SHOWN


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
    assert "2 matching lines" in agent.text


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


def test_a_match_line_that_cannot_fit_is_cut_to_the_longest_prefix(agent: Any) -> None:
    line = "needle " + "é" * 60_000
    agent.put("@human/a", f"{line}\nneedle")

    found = agent.search(query="needle")
    (match,) = found["files"][0]["matches"]

    assert match["truncated"] is True
    assert match["text"].endswith(" [truncated]")
    assert line.startswith(match["text"].removesuffix(" [truncated]"))
    assert found["files"][0]["matches_total"] == 2
    sizes = [len(agent.text.encode()), len(json.dumps(found, ensure_ascii=False).encode())]
    assert max(sizes) > OUTPUT_BUDGET_BYTES - 60


def test_fewer_matches_come_before_a_cut_one(agent: Any) -> None:
    agent.put("@human/a", "\n".join("needle " + "x" * 9_000 for _ in range(6)))

    row = agent.search(query="needle")["files"][0]

    assert (row["matches_total"], len(row["matches"])) == (6, 3)
    assert all("truncated" not in match for match in row["matches"])


def test_rows_behind_the_first_are_dropped_whole(agent: Any) -> None:
    agent.put("@human/a", "needle " + "x" * 20_000, 3)
    agent.put("@human/b", "needle " + "x" * 20_000, 2)
    agent.put("@human/c", "needle", 1)

    found = agent.search(query="needle")

    assert [row["address"] for row in found["files"]] == ["@human/a.md"]
    assert found["more"] == 2


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
