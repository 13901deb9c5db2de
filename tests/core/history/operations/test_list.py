from __future__ import annotations

from typing import Any

import pytest
from fake_sessions import FakeSource, SessionBuilder, bound_call
from history_strategies import apply, filters, steps, wide_texts
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.errors import Refused
from hindnote.core.history.operations.list import HISTORY_LIST
from hindnote.core.history.operations.models import HistoryList
from hindnote.core.plugins.models import Decoration
from hindnote.core.tools.outcome import Success, wire

Row = dict[str, Any]


def listed(builder: SessionBuilder, decoration: Decoration | None = None, **args: Any) -> Row:
    """Return the wire result of one call, checked against the budget."""
    bound = bound_call(FakeSource(builder), decoration)
    outcome = HISTORY_LIST.handle(bound, HISTORY_LIST.bind(args))
    assert isinstance(outcome, Success)
    assert bound.budget.fits(outcome.data, HISTORY_LIST.render(outcome.data))
    return wire(outcome)


def seqs(builder: SessionBuilder, page: Row) -> list[int]:
    """Return the events that a page stands for, those in folded rows listed through expand."""
    found: list[int] = []
    for row in page["items"]:
        if row.get("folded"):
            inside = everything(builder, row["expand"])
            assert len(inside) == row["count"]
            assert (inside[0], inside[-1]) == (row["first_seq"], row["last_seq"])
            found.extend(inside)
        else:
            found.append(row["seq"])
    return found


def everything(builder: SessionBuilder, args: Row) -> list[int]:
    page = listed(builder, **args)
    found = [row["seq"] for row in page["items"]]
    while page["page_newer"] is not None:
        page = listed(builder, **{**args, **page["page_newer"]})
        found += [row["seq"] for row in page["items"]]
    return found


def walk(builder: SessionBuilder, args: Row, recipe: str, page: Row) -> list[list[int]]:
    """Return the events of each page, following one recipe to null."""
    pages = [seqs(builder, page)]
    while page[recipe] is not None:
        assert len(pages) < 200
        page = listed(builder, **{**args, **page[recipe]})
        pages.append(seqs(builder, page))
    return pages


def flat(pages: list[list[int]]) -> list[int]:
    return [seq for page in pages for seq in page]


@given(made=steps, args=filters, times=st.booleans())
def test_pages_visit_every_event_once_from_both_ends(made: Any, args: Row, times: bool) -> None:
    builder = SessionBuilder()
    builder.times = times
    apply(builder, made)

    newest = listed(builder, **args)
    older = walk(builder, args, "page_older", newest)
    oldest = listed(builder, **args, **{"from": "oldest"})
    newer = walk(builder, {**args, "from": "oldest"}, "page_newer", oldest)

    assert flat(older[::-1]) == flat(newer)
    assert flat(newer) == sorted(set(flat(newer)))
    assert set(flat(newer)) == expected(builder, args)
    assert newest["page_newer"] is None
    assert oldest["page_older"] is None


@given(made=steps, args=filters)
def test_turning_back_at_the_end_visits_the_same_events(made: Any, args: Row) -> None:
    builder = SessionBuilder()
    apply(builder, made)
    page = listed(builder, **args)
    forth = [seqs(builder, page)]
    while page["page_older"] is not None:
        page = listed(builder, **{**args, **page["page_older"]})
        forth.append(seqs(builder, page))

    back = walk(builder, args, "page_newer", page)

    assert flat(back) == flat(forth[::-1])


@given(made=steps, more=st.lists(steps, min_size=1, max_size=4), args=filters)
def test_pages_visit_every_event_once_while_the_session_grows(
    made: Any, more: list[Any], args: Row
) -> None:
    builder = SessionBuilder()
    apply(builder, made)
    first = expected(builder, {"roles": args.get("roles")})
    page = listed(builder, **args)
    found = seqs(builder, page)
    for grown in more:
        if page["page_older"] is None:
            break
        apply(builder, grown)
        page = listed(builder, **{**args, **page["page_older"]})
        found += seqs(builder, page)
    rest = walk(builder, args, "page_older", page)[1:] if page["page_older"] else []

    assert len(found + flat(rest)) == len(set(found + flat(rest)))
    if "query" not in args and "since" not in args and "until" not in args:
        assert set(found + flat(rest)) == first


@given(
    made=steps,
    args=filters,
    after=st.none() | st.integers(0, 32),
    before=st.none() | st.integers(1, 32),
    end=st.sampled_from(["newest", "oldest"]),
)
def test_recipes_are_null_exactly_when_nothing_lies_that_way(
    made: Any, args: Row, after: int | None, before: int | None, end: str
) -> None:
    builder = SessionBuilder()
    apply(builder, made)
    selection = expected(builder, args)
    bounds = {"after_seq": after, "before_seq": before, "from": end}
    inside = {
        seq
        for seq in selection
        if (after is None or seq > after) and (before is None or seq < before)
    }

    page = listed(builder, **args, **bounds)
    shown = seqs(builder, page)
    older, newer = page["page_older"], page["page_newer"]

    if not inside:
        assert shown == []
        assert (older is None) == (after is None or not any(seq <= after for seq in selection))
        assert (newer is None) == (before is None or not any(seq >= before for seq in selection))
    elif end == "newest":
        assert shown[-1] == max(inside)
        assert (older is None) == (shown[0] == min(inside))
        assert (newer is None) == (shown[-1] == max(selection))
        assert older is None or older["after_seq"] == after
        assert newer is None or newer["before_seq"] is None
    else:
        assert shown[0] == min(inside)
        assert (newer is None) == (shown[-1] == max(inside))
        assert (older is None) == (shown[0] == min(selection))
        assert newer is None or newer["before_seq"] == before
        assert older is None or older["after_seq"] is None
    for recipe, side in ((older, -1), (newer, 0)):
        if recipe is not None:
            next_page = seqs(builder, listed(builder, **{**args, **recipe}))
            assert next_page
            assert not set(next_page) & set(shown)
            beyond = [s for s in selection if s < shown[0]] if shown and side else None
            if beyond:
                assert next_page[-1] == max(beyond)


@given(
    texts=st.lists(wide_texts(), min_size=1, max_size=6),
    args=st.fixed_dictionaries(
        {},
        optional={
            "max_chars_per_item": st.sampled_from([1200, 12_000]),
            "query": st.sampled_from(["a", '"', "é"]),
            "from": st.sampled_from(["newest", "oldest"]),
        },
    ),
    suffix=st.sampled_from(["", "é" * 3_000]),
)
def test_both_forms_fit_for_any_content(texts: list[str], args: Row, suffix: str) -> None:
    builder = SessionBuilder()
    for number, text in enumerate(texts):
        builder.user(text, created_at="2026-11-30T09:00:00Z")
        builder.answer()
        builder.call(f"c{number}", "bash", text)
        builder.result(f"c{number}", text, full_output_path="/tmp/" + text[:200])

    page = listed(builder, Decoration(suffix=suffix), **args)

    if "query" not in args:
        assert page["items"]
    for row in page["items"]:
        if "truncated" in row:
            assert len(row["content"]) < row["total_chars"]


@pytest.mark.parametrize("end", ["newest", "oldest"])
def test_only_the_first_row_is_shrunk_and_the_others_are_dropped_whole(end: str) -> None:
    builder = SessionBuilder()
    for _ in range(3):
        builder.user("\U0001f469" * 12_000)

    page = listed(builder, max_chars_per_item=12_000, **{"from": end})

    assert len(page["items"]) == 1
    assert 7_000 < len(page["items"][0]["content"]) < 8_192
    assert page["items"][0]["seq"] == (3 if end == "newest" else 1)


def test_a_row_that_its_identity_makes_too_large_is_refused() -> None:
    builder = SessionBuilder()
    builder.command("x", tool="t" * 40_000)

    with pytest.raises(Refused) as caught:
        listed(builder, roles=["tool"])

    assert caught.value.code == "page_too_large"


def test_a_run_at_an_edge_belongs_to_the_older_page() -> None:
    builder = SessionBuilder()
    for word in "abc":
        builder.user(word)
        builder.context("note")
        builder.context("note")

    newest = listed(builder, limit=1)
    middle = listed(builder, limit=1, **newest["page_older"])
    oldest = listed(builder, limit=1, **{"from": "oldest"})

    assert seqs(builder, newest) == [7, 8, 9]
    assert seqs(builder, middle) == [4, 5, 6]
    assert seqs(builder, oldest) == [1, 2, 3]


def test_folded_rows_count_calls_by_tool_and_do_not_count_toward_the_limit() -> None:
    builder = SessionBuilder()
    builder.answer("go")
    for number, tool in enumerate(["bash", "read", "bash", "x" * 101]):
        builder.call(f"c{number}", tool)
        builder.result(f"c{number}")
    builder.context("summary")
    builder.user("next")

    page = listed(builder, limit=2)

    first, run, last = page["items"]
    assert (first["seq"], last["seq"]) == (1, 11)
    assert run["count"] == 5
    assert run["tools"] == {"bash": 2, "read": 1}
    assert run["omitted_tools"] == 1
    assert run["expand"]["limit"] == 5


def test_an_expand_recipe_keeps_the_time_bounds_of_its_call() -> None:
    builder = SessionBuilder()
    builder.context("early", created_at="2026-11-30T08:00:00Z")
    builder.context("late", created_at="2026-11-30T10:00:00Z")

    page = listed(builder, since="2026-11-30T09:00:00Z")

    assert seqs(builder, page) == [2]


def test_an_appended_event_does_not_shift_the_next_page() -> None:
    builder = SessionBuilder()
    for word in "abcd":
        builder.user(word)
    page = listed(builder, limit=2)
    builder.user("e")

    page = listed(builder, limit=2, **page["page_older"])

    assert [row["seq"] for row in page["items"]] == [1, 2]


def test_a_hit_says_where_its_preview_starts_and_how_often_the_query_matches() -> None:
    builder = SessionBuilder()
    builder.user("İ" * 500 + " Needle needle" + "z" * 500)

    row = listed(builder, query="needle", max_chars_per_item=100)["items"][0]

    assert "Needle" in row["content"]
    assert row["matches_total"] == 2
    assert row["truncated"] is True
    assert row["content"].index("Needle") + row["offset_chars"] == 501


@given(
    before=st.text("ab ", max_size=40),
    literal=st.text("ab", min_size=1, max_size=8),
    after=st.text("ab ", max_size=20),
    limit=st.integers(1, 20),
)
def test_the_first_match_is_in_the_preview(
    before: str, literal: str, after: str, limit: int
) -> None:
    text = before + literal + after
    builder = SessionBuilder()
    builder.user(text)

    [row] = listed(builder, query=literal, max_chars_per_item=limit)["items"]

    start = text.index(literal)

    assert row["content"] == text[row["offset_chars"] :][: min(limit, len(text))]
    assert row["offset_chars"] <= start
    if len(literal) <= limit:
        assert literal in row["content"]
        assert start + len(literal) <= row["offset_chars"] + len(row["content"])
    else:
        assert row["offset_chars"] == start


def test_queries_leave_look_ups_out_and_count_them() -> None:
    builder = SessionBuilder()
    builder.user("the needle")
    builder.answer()
    for number, tool in enumerate(["history_list", "notes_search", "notes_write"]):
        builder.call(f"c{number}", tool, '{"query":"needle"}')
        builder.result(f"c{number}", "needle")
    builder.call("running", "codemode", '{"script":"needle"}')

    bound = bound_call(FakeSource(builder), call_id="running/2")
    found = HISTORY_LIST.handle(bound, HISTORY_LIST.bind({"query": "needle"}))
    asked = HISTORY_LIST.handle(bound, HISTORY_LIST.bind({"query": "needle", "roles": ["tool"]}))

    assert [row["seq"] for row in wire(found)["items"]] == [1, 7]
    assert wire(found)["lookups_omitted"] == 3
    assert [row["seq"] for row in wire(asked)["items"]] == [3, 5, 7, 9]
    assert "lookups_omitted" not in wire(asked)


@given(made=steps, limit=st.integers(1, 3), word=st.sampled_from(["x", "said", "alpha"]))
def test_look_ups_counted_on_pages_add_up(made: Any, limit: int, word: str) -> None:
    builder = SessionBuilder()
    apply(builder, made)
    whole = listed(builder, query=word, limit=200)

    page = listed(builder, query=word, limit=limit)
    counted = page.get("lookups_omitted", 0)
    while page["page_older"] is not None:
        page = listed(builder, query=word, limit=limit, **page["page_older"])
        counted += page.get("lookups_omitted", 0)

    assert counted == whole.get("lookups_omitted", 0)


def test_damaged_lines_and_a_decoders_note_are_said_in_both_forms() -> None:
    builder = SessionBuilder(note="version 9 is unknown")
    builder.user("hi")
    builder.damage()
    bound = bound_call(FakeSource(builder))

    outcome = HISTORY_LIST.handle(bound, HISTORY_LIST.bind({}))

    assert isinstance(outcome, Success)
    assert wire(outcome)["damaged_lines"] == 1
    text = HISTORY_LIST.render(outcome.data)
    assert "damaged_lines: 1" in text
    assert "version 9 is unknown" in text


def test_an_empty_session_says_so() -> None:
    bound = bound_call(FakeSource(SessionBuilder()))

    outcome = HISTORY_LIST.handle(bound, HISTORY_LIST.bind({}))

    assert isinstance(outcome, Success)
    assert wire(outcome) == {"items": [], "page_older": None, "page_newer": None}
    assert HISTORY_LIST.render(outcome.data).startswith("no events")


def test_an_empty_page_names_the_session_that_was_asked_for() -> None:
    empty = HistoryList(session="pi:other", items=[], page_older=None, page_newer=None)

    assert HISTORY_LIST.render(empty).startswith("no events in this selection of session pi:other")


def test_without_a_session_the_call_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        HISTORY_LIST.handle(bound_call(FakeSource()), HISTORY_LIST.bind({}))

    assert caught.value.code == "no_current_session"


def test_a_page_asks_for_the_facts_of_its_rows_alone() -> None:
    builder = SessionBuilder()
    for number in range(2_000):
        builder.user(f"message {number}", created_at="2026-11-30T09:00:00Z")
        builder.answer("yes")
        builder.call(f"c{number}")
        builder.result(f"c{number}")
    source = FakeSource(builder)
    state = builder.projection()
    source.current = lambda call: state  # type: ignore[method-assign]

    HISTORY_LIST.handle(bound_call(source), HISTORY_LIST.bind({"limit": 5}))

    assert len(state.asked) == 5


def expected(builder: SessionBuilder, args: Row) -> set[int]:
    """Return the selection, worked out the slow way from single events."""
    from hindnote.core.history.operations.lookups import Lookups
    from hindnote.core.history.timeline import Timeline
    from hindnote.core.history.times import bound
    from hindnote.core.text.matching import Matcher

    timeline = Timeline(builder.projection())
    matcher = Matcher.from_query(args.get("query"))
    since, until = bound("since", args.get("since")), bound("until", args.get("until"))
    found = set()
    for position in range(timeline.size):
        if not timeline.is_event(position):
            continue
        event, when = timeline.event(position), timeline.instant(position)
        role = timeline.role(position)
        if args.get("roles") and role not in args["roles"]:
            continue
        if (since is not None and not when >= since) or (until is not None and not when < until):
            continue
        if matcher is not None:
            if matcher.first(event.document) is None:
                continue
            if "tool" not in args.get("roles", ()) and Lookups().includes(event, None):
                continue
        found.add(event.seq)
    return found


def test_a_list_that_was_written_as_text_is_told_when_nothing_is_found() -> None:
    builder = SessionBuilder()
    builder.user("needle")

    assert "give query as a list" in listed(builder, query='["needle"]')["note"]
    assert "note" not in listed(builder, query=["absent"])
    assert "note" not in listed(builder, query="[needle")


def test_a_decoration_that_leaves_no_room_is_named_as_what_is_too_long() -> None:
    builder = SessionBuilder()
    builder.user("hello")
    bound = bound_call(FakeSource(builder), Decoration(prefix="x" * 32_750))

    with pytest.raises(Refused) as caught:
        HISTORY_LIST.handle(bound, HISTORY_LIST.bind({}))

    assert caught.value.code == "page_too_large"
    assert "32,750 bytes" in caught.value.refusal.message
    assert "host_decoration" in caught.value.refusal.message
