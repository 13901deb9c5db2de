"""Lists by what events are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_sessions import FakeSource, nested
from ranked_lists import BUTTONS, HAY, IMPORTER, listed, talk, where

from hindnote.core.errors import Refused


@pytest.fixture(autouse=True)
def own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_event_that_fits_best_comes_first_whatever_form_its_words_have() -> None:
    found = FakeSource(talk("s1", BUTTONS), talk("s2", BUTTONS, IMPORTER), talk("s3", "hello"))

    page = listed(found)

    assert where(page) == [("pi:s2", 2)]
    assert page["items"][0]["content"] == IMPORTER
    assert (page["sessions_covered"], page["sessions_remaining"]) == (3, 0)


def test_what_was_never_said_is_not_found() -> None:
    assert listed(FakeSource(talk("s1", BUTTONS, IMPORTER)), "sourdough hydration")["items"] == []


def test_a_session_has_three_rows_at_most_among_many() -> None:
    many = talk("s1", *[f"{IMPORTER}, attempt {number}" for number in range(6)])

    page = listed(FakeSource(many, talk("s2", IMPORTER), talk("s3", *HAY)))

    assert sorted(name for name, _ in where(page)) == ["pi:s1"] * 3 + ["pi:s2"]
    assert page["more"] == 3


def test_one_session_that_is_named_has_as_many_as_fit_the_limit() -> None:
    many = talk("s1", *[f"{IMPORTER}, attempt {number}" for number in range(6)], *HAY)

    page = listed(FakeSource(many), session="pi:s1", limit=5)

    assert len(page["items"]) == 5
    assert (page["session"], page["more"]) == ("pi:s1", 1)


def test_roles_query_and_times_leave_events_out_before_the_ranking() -> None:
    early, late = talk("early", IMPORTER, day=1), talk("late", IMPORTER, day=20)
    late.answer(f"{IMPORTER}; fixed", created_at="2026-11-21T09:00:00Z")
    found = FakeSource(late, early)

    assert where(listed(found, roles=["assistant"])) == [("pi:late", 2)]
    assert where(listed(found, query="; fixed")) == [("pi:late", 2)]
    assert where(listed(found, until="2026-11-02")) == [("pi:early", 1)]
    assert {name for name, _ in where(listed(found, since="2026-11-02"))} == {"pi:late"}


def test_a_quoted_phrase_must_be_in_the_event() -> None:
    found = FakeSource(talk("s1", IMPORTER, "A header line without a delivery crashed nothing"))

    assert where(listed(found, 'importing "no header line"')) == [("pi:s1", 1)]


def test_look_ups_are_left_out_and_counted_unless_tools_are_asked_for() -> None:
    builder = talk("s1", IMPORTER, *HAY)
    builder.answer()
    for number, tool in enumerate(["history_list", "notes_search", "notes_write"]):
        builder.call(f"c{number}", tool, f'"{IMPORTER}"')
        builder.result(f"c{number}", "done")

    page = listed(FakeSource(builder))
    tools = listed(FakeSource(builder), roles=["tool"])

    assert sorted(seq for _, seq in where(page)) == [1, 13]
    assert page["lookups_omitted"] == 2
    assert sorted(seq for _, seq in where(tools)) == [9, 11, 13]


@pytest.mark.parametrize("complete", [True, False])
def test_a_script_is_a_look_up_if_all_that_it_did_is_known_to_be_one(complete: bool) -> None:
    builder = talk("s1", BUTTONS)
    builder.answer()
    builder.call("c", "codemode", f'"{IMPORTER}"')
    builder.result("c", "done", nested=nested("history_list", "notes_read", complete=complete))

    page = listed(FakeSource(builder))

    assert [seq for _, seq in where(page)] == ([] if complete else [3])


def test_each_call_that_asks_leaves_itself_out_also_when_two_ask_at_the_same_state() -> None:
    builder = talk("s1", BUTTONS)
    builder.answer()
    for call_id in ("first", "second"):
        builder.call(call_id, "codemode", f'"{IMPORTER}"')
    found = FakeSource(builder)

    def asked_by(call_id: str) -> list[tuple[str, int]]:
        return where(listed(found, call={"session_id": "s1", "call_id": f"{call_id}/1"}))

    assert asked_by("first") == [("pi:s1", 4)]
    assert asked_by("second") == [("pi:s1", 3)]
    assert asked_by("first") == [("pi:s1", 4)]


def test_what_a_branch_left_behind_is_not_found_and_what_came_since_is() -> None:
    builder = talk("s1", IMPORTER, *HAY)
    found = FakeSource(builder)
    assert where(listed(found)) == [("pi:s1", 1)]

    builder.leave([1])
    builder.user(f"{IMPORTER} again")

    assert where(listed(found)) == [("pi:s1", 8)]


@pytest.mark.parametrize("bounds", [{"before_seq": 3}, {"after_seq": 3}])
def test_seq_bounds_over_many_sessions_are_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(Refused) as caught:
        listed(FakeSource(talk("s1", "a")), **bounds)

    assert caught.value.code == "invalid_selection"
