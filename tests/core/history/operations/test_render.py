"""What the text of a list says, and what it need not say again."""

from __future__ import annotations

from typing import Any

import pytest
from fake_sessions import FakeSource, SessionBuilder, bound_call
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.history.operations.list import HISTORY_LIST
from hindnote.core.history.operations.models import HistoryList
from hindnote.core.tools.outcome import Success


def page(*builders: SessionBuilder, **args: Any) -> HistoryList:
    outcome = HISTORY_LIST.handle(bound_call(FakeSource(*builders)), HISTORY_LIST.bind(args))
    assert isinstance(outcome, Success)
    return outcome.data


def told(*builders: SessionBuilder, **args: Any) -> list[str]:
    """Return the blocks of a list's rows."""
    return HISTORY_LIST.render(page(*builders, **args)).split("\n\n")[:-1]


def talk(session_id: str, *times: str) -> SessionBuilder:
    builder = SessionBuilder(session_id)
    for time in times:
        builder.user("needle", created_at=time)
    return builder


def test_the_day_is_said_where_it_changes_and_times_to_the_minute() -> None:
    session = talk(
        "s1",
        "2026-11-30T09:00:00.123Z",
        "2026-11-30T09:01:59.999Z",
        "2026-12-01T00:00:00.000Z",
        "2026-12-01T01:00:00.000+01:00",
    )

    assert [block.splitlines()[1] for block in told(session)] == [
        "at 2026-11-30 09:00Z",
        "at 09:01Z",
        "at 2026-12-01 00:00Z",
        "at 01:00+01:00",
    ]


def test_a_recorded_time_that_is_none_is_shown_as_it_is_on_one_line() -> None:
    assert told(talk("s1", "soon | \n now"))[0].splitlines()[1] == 'at "soon | \\n now"'


def test_rows_without_a_time_leave_the_day_said() -> None:
    session = talk("s1", "2026-11-30T09:00:00Z")
    session.user("needle")
    session.user("needle", created_at="2026-11-30T10:00:00Z")

    lines = [block.splitlines()[1] for block in told(session)]
    assert lines == ["at 2026-11-30 09:00Z", "needle", "at 10:00Z"]


def test_every_hit_in_many_sessions_names_its_session() -> None:
    sessions = [talk("s1", *["2026-11-30T09:00:00Z"] * 2), talk("s2", "2026-11-30T09:00:00Z")]

    heads = [block.splitlines()[0] for block in told(*sessions, session="*", query="needle")]

    assert heads == [
        "session pi:s1 | seq 1 | user",
        "session pi:s1 | seq 2 | user",
        "session pi:s2 | seq 1 | user",
    ]


def test_a_session_that_the_call_named_is_in_every_header() -> None:
    blocks = told(talk("s1-long", "2026-11-30T09:00:00Z", "2026-11-30T09:00:00Z"), session="s1-l")

    assert [block.splitlines()[0] for block in blocks] == [
        "session pi:s1-long | seq 1 | user",
        "session pi:s1-long | seq 2 | user",
    ]


def test_only_a_hit_with_several_matches_counts_them() -> None:
    session = SessionBuilder("s1")
    session.user("needle")
    session.user("needle and needle")

    assert told(session, query="needle") == [
        "seq 1 | user\nneedle",
        "seq 2 | user\n[2 matches]\nneedle and needle",
    ]


@pytest.mark.parametrize("end", ["newest", "oldest"])
@pytest.mark.parametrize("selector", [None, "s1", "*"])
@given(sizes=st.lists(st.integers(100, 400), min_size=150, max_size=200))
def test_a_page_has_as_many_rows_as_fit(selector: str | None, end: str, sizes: list[int]) -> None:
    session = SessionBuilder("s1")
    for size in sizes:
        session.user("a" * size, created_at="2026-11-30T09:00:00Z")
    args = {"query": "a", "limit": 200, "from": end}
    if selector is not None:
        args["session"] = selector
    bound = bound_call(FakeSource(session))

    found = page(session, **args)

    count = len(found.items)
    assert bound.budget.fits(found, HISTORY_LIST.render(found))
    assert count < len(sizes)
    wider = page(session, **{**args, "limit": count + 1, "max_chars_per_item": 50})
    assert len(wider.items) == count + 1
    bodies = {seq: "a" * size for seq, size in enumerate(sizes, start=1)}
    rows = [
        row.model_copy(update={"content": bodies[row.seq], "truncated": None})
        for row in wider.items
        if hasattr(row, "content")
    ]
    one_more = found.model_copy(update={"items": rows})
    assert not bound.budget.fits(one_more, HISTORY_LIST.render(one_more))
