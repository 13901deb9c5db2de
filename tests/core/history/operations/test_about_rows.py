"""The rows of a list by what events are about: how many, which part is shown, and what was covered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_sessions import FakeSource, SessionBuilder, bound_call
from msgspec.structs import replace
from ranked_lists import BUTTONS, HAY, IMPORTER, Row, listed, talk, where

from hindnote.core.history.operations.list import HISTORY_LIST
from hindnote.core.history.operations.read import HISTORY_READ
from hindnote.core.tools.outcome import Success, wire
from hindnote.core.tools.schema import schema_of

WORDS = "importer crashed, delivery, header line"
LONG = f"{'Nothing of this matters here. ' * 60}{IMPORTER}. {'Neither does this. ' * 60}"


@pytest.fixture(autouse=True)
def own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def read(found: FakeSource, row: Row, **args: Any) -> Row:
    asked = HISTORY_READ.bind({"session": row["session"], "seq": row["seq"], **args})
    outcome = HISTORY_READ.handle(bound_call(found), asked)
    assert isinstance(outcome, Success)
    return wire(outcome)


def test_a_row_shows_the_part_that_fits_and_history_read_goes_on_from_there() -> None:
    found = FakeSource(talk("s1", LONG, *HAY))

    (row,) = listed(found)["items"]

    assert IMPORTER in row["content"] and row["truncated"]
    assert len(row["content"]) <= 280 < row["total_chars"] == len(LONG)
    assert row["offset_chars"] > 1_000
    assert read(found, row, offset_chars=row["offset_chars"])["text"].startswith(row["content"])
    assert LONG[row["offset_chars"] - 1] == LONG[row["offset_chars"] + len(row["content"])] == " "


def test_a_usual_answer_has_eight_rows_of_280_characters_and_no_further_page() -> None:
    found = FakeSource(talk("s1", *[f"{LONG} {number}" for number in range(12)], *HAY))

    page = listed(found, session="pi:s1")
    larger = listed(found, session="pi:s1", limit=10, max_chars_per_item=500)

    assert (len(page["items"]), page["more"]) == (8, 4)
    assert all(240 < len(row["content"]) <= 280 for row in page["items"])
    assert (page["page_older"], page["page_newer"]) == (None, None)
    assert (len(larger["items"]), larger["more"]) == (10, 2)
    assert all(450 < len(row["content"]) <= 500 for row in larger["items"])


@pytest.mark.parametrize("name", ["limit", "max_chars_per_item"])
def test_the_schema_fills_in_no_default_that_holds_for_one_kind_of_list_alone(name: str) -> None:
    properties = schema_of(HISTORY_LIST.params)["properties"]

    assert "default" not in properties[name]
    assert "about: " in properties[name]["description"]


@pytest.mark.parametrize(
    ("events", "more"), [(400, 399), (1_000, 999), (1_001, 1_000), (1_100, 1_000)]
)
def test_further_events_are_counted_to_a_thousand(events: int, more: int) -> None:
    found = FakeSource(talk("s1", *[f"{IMPORTER} {number}" for number in range(events)], *HAY))

    assert listed(found, WORDS, session="pi:s1", limit=1)["more"] == more
    assert listed(found, WORDS, limit=1)["more"] == more


def test_an_answer_of_any_size_fits_what_a_call_may_return() -> None:
    found = FakeSource(talk("s1", *[f"{IMPORTER} {number} {LONG * 3}" for number in range(60)]))

    page = listed(found, WORDS, session="pi:s1", limit=200, max_chars_per_item=8_000)

    assert 1 <= len(page["items"]) < 60
    assert len(page["items"]) + page["more"] == 60


def test_without_a_session_the_current_one_is_asked_in_all_its_windows() -> None:
    builder = talk("s1", IMPORTER, *HAY)
    builder.window("Some of the above, in short")
    builder.user(BUTTONS)

    page = listed(FakeSource(builder, talk("s2", IMPORTER)), session=None)

    assert [row["seq"] for row in page["items"]] == [1]
    assert "session" not in page["items"][0]


def test_seq_bounds_leave_events_of_one_session_out_before_the_ranking() -> None:
    found = FakeSource(talk("s1", IMPORTER, *HAY, IMPORTER, *HAY, IMPORTER))

    assert {seq for _, seq in where(listed(found, session="pi:s1"))} == {1, 8, 15}
    assert {seq for _, seq in where(listed(found, session="pi:s1", before_seq=8))} == {1}
    assert {seq for _, seq in where(listed(found, session="pi:s1", after_seq=8))} == {15}


def test_matches_are_counted_only_of_a_query() -> None:
    found = FakeSource(talk("s1", f"{IMPORTER}, header after header", *HAY))

    assert "matches_total" not in listed(found)["items"][0]
    assert listed(found, query="header")["items"][0]["matches_total"] == 3


def test_an_empty_question_is_none() -> None:
    found = FakeSource(talk("s1", *HAY))

    assert listed(found, "", session="pi:s1") == listed(found, None, session="pi:s1")


def test_copies_of_an_event_in_forks_are_one_row_of_the_newest_session() -> None:
    origin = talk("origin", IMPORTER, *HAY)
    fork = SessionBuilder("fork", parent="origin")
    fork._slots.extend(origin._slots)

    page = listed(FakeSource(fork, origin))

    assert where(page) == [("pi:fork", 1)]
    assert page["items"][0]["also_in"] == 1


def test_of_events_that_fit_equally_well_the_newer_comes_first_each_time() -> None:
    days = (3, 20, 11, 28, 7)
    found = FakeSource(*[talk(f"s{day}", IMPORTER, day=day) for day in days], talk("hay", *HAY))
    newest_first = [(f"pi:s{day}", 1) for day in sorted(days, reverse=True)]

    assert where(listed(found)) == newest_first
    assert where(listed(found)) == newest_first


def test_an_answer_without_events_says_so() -> None:
    found = FakeSource(talk("s1", *HAY))
    asked = HISTORY_LIST.bind({"session": "*", "about": "sourdough hydration"})
    outcome = HISTORY_LIST.handle(bound_call(found), asked)

    assert isinstance(outcome, Success)
    assert HISTORY_LIST.render(outcome.data).startswith("no events in this selection")


def test_what_the_time_does_not_cover_is_told_and_the_next_calls_go_on_from_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions = [talk(f"s{number}", f"{IMPORTER} {number}", *HAY) for number in range(5)]
    found = FakeSource(*sessions)
    for session in sessions:
        entry = found.entry(session).model_copy(update={"size": 1})
        found.entries[entry.canonical] = entry
    monkeypatch.setenv("HINDNOTE_SEARCH_SECONDS", "0.000001")

    pages = [listed(found) for _ in range(6)]

    assert [page["sessions_covered"] for page in pages] == [1, 2, 3, 4, 5, 5]
    assert [page["sessions_remaining"] for page in pages] == [4, 3, 2, 1, 0, 0]
    assert where(pages[0]) == [("pi:s0", 1)]
    assert {name for name, _ in where(pages[-1])} == {f"pi:s{number}" for number in range(5)}


def test_sessions_in_which_no_event_can_be_meant_count_as_covered_and_are_not_opened() -> None:
    old, new = talk("old", IMPORTER, day=1), talk("new", IMPORTER, day=29)
    found = FakeSource(new, old)
    # The files changed in 2027, so that only since tells that nothing can be in them.
    page = listed(found, since="2028-01-01")

    assert (page["items"], page["sessions_covered"], page["sessions_remaining"]) == ([], 2, 0)
    assert found.opened == []


def test_a_session_that_cannot_be_read_is_counted_and_costs_no_other() -> None:
    found = FakeSource(talk("s1", IMPORTER), talk("s2", IMPORTER), talk("s3", *HAY))
    found.unreadable.add("pi:s1")

    page = listed(found)

    assert where(page) == [("pi:s2", 1)]
    assert (page["sessions_covered"], page["sessions_skipped"]) == (2, 1)


def test_events_of_each_role_are_found_to_their_ends_and_of_tools_what_the_docs_say() -> None:
    builder = talk("s1", f"{'filler ' * 3_000} walrus", *HAY)
    builder.context(f"{'filler ' * 3_000} ocelot")
    builder.answer(f"{'filler ' * 3_000} tapir")
    builder.call("c", "spectrometer", '{"command": "calibrate quokka"}')
    filler = "filler " * 2_000
    builder.result("c", f"axolotl {filler} pangolin {filler} wombat")
    found = FakeSource(builder)

    told = {
        word: [row["seq"] for row in listed(found, word, session="pi:s1")["items"]]
        for word in ("walrus", "ocelot", "tapir", "spectrometer", "quokka", "axolotl", "wombat")
    }

    assert told == {
        "walrus": [1],
        "ocelot": [8],
        "tapir": [9],
        "spectrometer": [10],
        "quokka": [10],
        "axolotl": [10],
        "wombat": [10],
    }
    assert listed(found, "pangolin", session="pi:s1")["items"] == []
    assert where(listed(found, "", query="pangolin")) == [("pi:s1", 10)]


def test_whoever_waits_is_told_of_each_session_that_is_looked_at() -> None:
    found = FakeSource(*[talk(f"s{number}", IMPORTER) for number in range(3)])
    told: list[tuple[int, int]] = []
    bound = replace(bound_call(found), progress=lambda done, total: told.append((done, total)))

    HISTORY_LIST.handle(bound, HISTORY_LIST.bind({"session": "*", "about": WORDS}))

    assert told[:3] == [(0, 3), (1, 3), (2, 3)]
