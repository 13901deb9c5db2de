from __future__ import annotations

from typing import Any

import pytest
from fake_sessions import FakeSource, SessionBuilder, bound_call
from history_strategies import apply, steps
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.operations import wildcard
from hindnote.core.history.operations.list import HISTORY_LIST
from hindnote.core.plugins.projected import checked
from hindnote.core.plugins.source import Source
from hindnote.core.tools.outcome import Success, wire

Row = dict[str, Any]


def listed(found: FakeSource, call: Row | None = None, **args: Any) -> Row:
    bound = bound_call(found, **(call or {}))
    outcome = HISTORY_LIST.handle(bound, HISTORY_LIST.bind({"session": "*", **args}))
    assert isinstance(outcome, Success)
    text = HISTORY_LIST.render(outcome.data)
    assert bound.budget.fits(outcome.data, text)
    result = wire(outcome)
    assert f"sessions_remaining: {result['sessions_remaining']}" in text
    assert (result["page_older"], result["page_newer"]) == (None, None)
    return result


def where(page: Row) -> list[tuple[str, int]]:
    return [(row["session"], row["seq"]) for row in page["items"]]


def talk(session_id: str, *texts: str, host: str = "pi", **header: Any) -> SessionBuilder:
    builder = SessionBuilder(session_id, host=host, **header)
    for number, text in enumerate(texts, start=1):
        builder.user(text, entry_id=f"{session_id}-{number}", created_at="2026-11-30T09:00:00Z")
    return builder


def test_without_a_query_each_session_is_shown_by_its_latest_user_event() -> None:
    found = FakeSource(talk("s1", "a", "b"), SessionBuilder("s2"), talk("s3", "c", host="claude"))
    found.builders[0].answer("later")

    page = listed(found)

    assert where(page) == [("pi:s1", 2), ("claude:s3", 1)]
    assert (page["sessions_covered"], page["sessions_remaining"]) == (3, 0)


def test_a_list_stops_when_limit_sessions_have_produced_a_row() -> None:
    found = FakeSource(talk("s1", "a"), SessionBuilder("s2"), talk("s3", "c"), talk("s4", "d"))

    page = listed(found, limit=2)

    assert where(page) == [("pi:s1", 1), ("pi:s3", 1)]
    assert (page["sessions_covered"], page["sessions_remaining"]) == (3, 1)
    assert "pi:s4" not in found.opened


def test_a_query_returns_hits_of_all_roles_newest_session_first() -> None:
    first, second = talk("s1", "needle", "hay", "needle"), talk("s2", "hay")
    second.answer("a needle")
    second.call("c", "bash")
    second.result("c", "NEEDLE")

    page = listed(FakeSource(first, second), query="needle")

    assert where(page) == [("pi:s1", 1), ("pi:s1", 3), ("pi:s2", 2), ("pi:s2", 3)]
    assert [row["role"] for row in page["items"]] == ["user", "user", "assistant", "tool"]


def test_a_session_whose_hits_were_cut_off_counts_as_remaining() -> None:
    found = FakeSource(talk("s1", "needle"), talk("s2", *["needle"] * 3), talk("s3", "needle"))

    cut = listed(found, query="needle", limit=3)
    exact = listed(found, query="needle", limit=4)

    assert where(cut) == [("pi:s1", 1), ("pi:s2", 2), ("pi:s2", 3)]
    assert (cut["sessions_covered"], cut["sessions_remaining"]) == (1, 2)
    assert (exact["sessions_covered"], exact["sessions_remaining"]) == (2, 1)


def test_rows_that_the_budget_leaves_out_are_in_remaining_sessions() -> None:
    found = FakeSource(*[talk(f"s{n}", "needle" + "\x00" * 1_000) for n in range(9)])

    page = listed(found, query="needle")

    count = len(page["items"])
    assert 1 < count < 9
    assert (page["sessions_covered"], page["sessions_remaining"]) == (count, 9 - count)


def test_a_first_hit_that_is_too_long_is_shrunk_around_its_match() -> None:
    found = FakeSource(talk("s1", "\x00" * 9_000 + "needle" + "\x00" * 9_000))

    row = listed(found, query="needle", max_chars_per_item=12_000)["items"][0]

    assert "needle" in row["content"]
    assert row["truncated"] is True


def test_the_only_hit_in_the_oldest_of_many_sessions_is_found() -> None:
    found = FakeSource(*[talk(f"s{n}", "hay") for n in range(200)], talk("last", "needle"))

    page = listed(found, query="needle")

    assert where(page) == [("pi:last", 1)]
    assert page["sessions_covered"] == 201


def test_unreadable_sessions_are_skipped_and_counted() -> None:
    found = FakeSource(talk("s1", "a"), talk("s2", "b"))
    found.unreadable.add("pi:s1")

    page = listed(found)

    assert where(page) == [("pi:s2", 1)]
    assert (page["sessions_covered"], page["sessions_skipped"]) == (1, 1)
    assert page["sessions_remaining"] == 0


def test_a_host_whose_catalogue_fails_silences_no_other_and_is_named() -> None:
    found = FakeSource(talk("s1", "needle"), talk("s2", "needle", host="claude"))
    found.failing.add("claude")

    for arguments in ({}, {"query": "needle"}):
        page = listed(found, **arguments)

        assert where(page) == [("pi:s1", 1)]
        assert page["note"] == (
            "sessions of claude are missing: "
            "host plugin 'claude' failed in host_sessions with ValueError"
        )


def test_a_session_on_which_a_plugin_fails_is_skipped_and_the_plugin_is_named() -> None:
    found = FakeSource(talk("s1", "a"), talk("s2", "b"))
    found.failing.add("pi:s1")

    page = listed(found)

    assert where(page) == [("pi:s2", 1)]
    assert (page["sessions_covered"], page["sessions_skipped"]) == (1, 1)
    assert "host plugin 'pi' failed in host_projection" in page["note"]


def test_a_session_whose_facts_crash_gives_what_came_before_and_silences_no_other() -> None:
    found = FakeSource(talk("s1", "needle", "needle"), talk("s2", "needle"))
    [first, second] = [builder.projection() for builder in found.builders]
    first.slots.pop(1)
    broken = checked(Source("pi", "fake"), first)
    found.open = lambda call, entry: broken if entry.id == "s1" else second  # type: ignore[assignment, method-assign, return-value]

    page = listed(found, query="needle")

    assert where(page) == [("pi:s1", 2), ("pi:s2", 1)]
    assert (page["sessions_covered"], page["sessions_skipped"]) == (1, 1)
    assert "failed in facts(1) of session s1 with KeyError" in page["note"]


def test_a_plugin_that_did_not_load_is_named_by_every_wildcard() -> None:
    found = FakeSource(talk("s1", "a"))
    found.refused["bad"] = HostFailure("the host 'bad' failed to load: no module")

    for selector in ("*", "project:*"):
        assert "the host 'bad' failed to load: no module" in listed(found, session=selector)["note"]


def test_sessions_of_a_plugin_that_did_not_load_fail_with_its_reason() -> None:
    found = FakeSource(talk("s1", "a"))
    found.refused["bad"] = HostFailure("the host 'bad' failed to load: no module")

    for selector in ("bad:*", "bad:s1"):
        with pytest.raises(HostFailure, match="'bad' failed to load: no module"):
            HISTORY_LIST.handle(bound_call(found), HISTORY_LIST.bind({"session": selector}))


def test_the_one_host_that_is_asked_fails_as_the_call_does() -> None:
    found = FakeSource(talk("s1", "a"), talk("s2", "b", host="claude"))
    found.failing.add("claude")

    with pytest.raises(HostFailure, match="'claude'"):
        HISTORY_LIST.handle(bound_call(found), HISTORY_LIST.bind({"session": "claude:*"}))


def test_a_forks_copies_are_reported_once_for_the_newest_session() -> None:
    origin = talk("origin", "needle one", "needle two")
    fork = SessionBuilder("fork", parent="origin")
    other = SessionBuilder("other", parent="origin")
    for copy in (fork, other):
        copy._slots.extend(origin._slots)
    origin.user("needle three", entry_id="own", created_at="2026-11-30T10:00:00Z")

    page = listed(FakeSource(fork, other, origin), query="needle")

    assert where(page) == [("pi:fork", 1), ("pi:fork", 2), ("pi:origin", 3)]
    assert [row.get("also_in") for row in page["items"]] == [2, 2, None]


def test_calls_of_one_answer_are_no_copies_of_each_other() -> None:
    builder = SessionBuilder()
    builder.answer()
    for call_id in "ab":
        builder.call(call_id, "bash", '"needle"', entry_id="e1", created_at="2026-11-30T09:00:00Z")

    assert len(listed(FakeSource(builder), query="needle")["items"]) == 2


def test_representative_rows_are_not_left_out_for_being_copies() -> None:
    origin = talk("origin", "hello")
    fork = SessionBuilder("fork", parent="origin")
    fork._slots.extend(origin._slots)

    assert where(listed(FakeSource(fork, origin))) == [("pi:fork", 1), ("pi:origin", 1)]


def test_look_ups_are_left_out_under_each_hosts_own_naming() -> None:
    claude = SessionBuilder("c1", host="claude", tool_prefix="mcp__hindnote__")
    claude.answer()
    for number, tool in enumerate(
        ["mcp__hindnote__history_list", "history_list", "mcp__hindnote__notes_write"]
    ):
        claude.call(f"c{number}", tool, '"needle"')

    page = listed(FakeSource(claude), query="needle")

    assert where(page) == [("claude:c1", 3), ("claude:c1", 4)]
    assert page["lookups_omitted"] == 1


def test_the_asking_call_alone_is_a_look_up_in_its_own_session_alone() -> None:
    here, there = talk("here", "x"), talk("there", "x")
    for builder in (here, there):
        builder.answer()
        builder.call("id1", "codemode", '"needle"')

    page = listed(
        FakeSource(here, there), {"session_id": "here", "call_id": "id1/1"}, query="needle"
    )

    assert where(page) == [("pi:there", 3)]


@pytest.mark.parametrize("bounds", [{"before_seq": 3}, {"after_seq": 3}])
def test_seq_bounds_are_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(Refused) as caught:
        listed(FakeSource(talk("s1", "a")), **bounds)

    assert caught.value.code == "invalid_selection"


def test_the_search_stops_at_its_time_limit_and_says_how_far_it_got(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter(range(0, 1_000, 8))
    monkeypatch.setattr(wildcard, "monotonic", lambda: float(next(clock)))
    monkeypatch.setenv("HINDNOTE_SEARCH_SECONDS", "20")
    found = FakeSource(*[talk(f"s{n}", "hay") for n in range(9)])

    page = listed(found, query="needle")

    assert page["items"] == []
    assert (page["sessions_covered"], page["sessions_remaining"]) == (3, 6)


@pytest.mark.parametrize("value", ["", "soon", "-1", "0", "nan"])
def test_a_senseless_time_limit_is_the_default(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDNOTE_SEARCH_SECONDS", value)

    assert wildcard.time_limit() == 20.0


def test_time_bounds_leave_sessions_out_by_the_facts_of_their_files() -> None:
    late = talk("late", "a", started="2026-12-05T00:00:00Z")
    fork = talk("fork", "b", started="2026-12-05T00:00:00Z", parent="x")
    old = talk("old", "c", started="2026-11-30T00:00:00Z")
    found = FakeSource(late, fork, old)
    for builder in found.builders:
        entry = found.entry(builder)
        found.entries[entry.canonical] = entry.model_copy(update={"modified": 1_796_100_000.0})

    page = listed(found, until="2026-12-01T00:00:00Z")

    assert where(page) == [("pi:fork", 1), ("pi:old", 1)]
    assert "pi:late" not in found.opened
    assert page["sessions_covered"] == 3

    found.opened.clear()
    assert listed(found, since="2026-12-09T00:00:00Z")["items"] == []
    assert found.opened == []


@given(
    made=st.lists(steps, min_size=1, max_size=5),
    word=st.sampled_from(["alpha", "x", "said"]),
    limit=st.integers(1, 8),
)
def test_hits_of_a_wildcard_are_those_of_each_session(
    made: list[Any], word: str, limit: int
) -> None:
    builders = []
    for number, slots in enumerate(made):
        builder = SessionBuilder(f"s{number}")
        apply(builder, slots)
        builders.append(builder)
    found = FakeSource(*builders)
    single = [
        (row["session"], row["seq"])
        for builder in builders
        for row in _whole(found, builder.header.session_id, word)
    ]

    page = listed(found, query=word, limit=limit)

    whole = listed(found, query=word, limit=200)
    assert where(whole) == single
    assert set(where(page)) <= set(single)
    assert len(where(page)) == min(limit, len(single))
    counts = [page[f"sessions_{name}"] for name in ("covered", "remaining")]
    assert sum(counts) == len(builders)
    covered = {f"pi:s{number}" for number in range(counts[0])}
    assert [hit for hit in single if hit[0] in covered] == [
        hit for hit in where(page) if hit[0] in covered
    ]


def _whole(found: FakeSource, session_id: str, word: str) -> list[Row]:
    bound = bound_call(found)
    args = {"session": f"pi:{session_id}", "query": word, "limit": 200}
    result = wire(HISTORY_LIST.handle(bound, HISTORY_LIST.bind(args)))
    assert result["session"] == f"pi:{session_id}"
    rows: list[Row] = result["items"]
    return rows


def test_an_explicit_selector_puts_the_canonical_name_everywhere() -> None:
    builder = SessionBuilder("abcd-1")
    for word in "ab":
        builder.user(word)
        builder.context("note")
    bound = bound_call(FakeSource(builder))

    outcome = HISTORY_LIST.handle(bound, HISTORY_LIST.bind({"session": "abcd", "limit": 1}))

    assert isinstance(outcome, Success)
    result = wire(outcome)
    event, folded = result["items"]
    named = [result, event, folded, folded["expand"], result["page_older"]]
    assert [part["session"] for part in named] == ["pi:abcd-1"] * 5
    text = HISTORY_LIST.render(outcome.data)
    assert text.startswith("session pi:abcd-1 | seq 3 | user\n")
    assert "session pi:abcd-1 | seq 4 | folded" in text


def test_a_corpus_of_no_session_is_an_empty_list() -> None:
    found = FakeSource()
    bound = bound_call(found)
    bound = replace(bound, identity=replace(bound.identity, session_id="s1"))

    outcome = HISTORY_LIST.handle(bound, HISTORY_LIST.bind({"session": "*"}))

    assert wire(outcome)["sessions_covered"] == 0


def test_damaged_lines_of_the_sessions_looked_into_are_counted() -> None:
    first, second = talk("s1", "needle"), talk("s2", "hay")
    first.damage()
    second.damage()
    second.damage()

    assert listed(FakeSource(first, second), query="needle")["damaged_lines"] == 3
    assert listed(FakeSource(first, second), limit=1)["damaged_lines"] == 1


def test_two_events_of_one_session_are_no_copies_even_with_one_id() -> None:
    builder = SessionBuilder()
    for _ in range(2):
        builder.user("needle", entry_id="e1", created_at="2026-11-30T09:00:00Z")

    assert where(listed(FakeSource(builder), query="needle")) == [("pi:s1", 1), ("pi:s1", 2)]
