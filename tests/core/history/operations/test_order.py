"""The order in which a search looks into sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_sessions import FakeSource, SessionBuilder, bound_call

from hindnote.core.history.operations import wildcard
from hindnote.core.history.operations.list import HISTORY_LIST
from hindnote.core.history.operations.order import LARGE, SAME_AGE, by_age
from hindnote.core.history.sessions import Target
from hindnote.core.plugins.models import SessionEntry
from hindnote.core.tools.outcome import Success, wire

NOW = 1_800_000_000.0


def target(name: str, age: float, size: int = 0) -> Target:
    entry = SessionEntry(host="pi", id=name, file=Path(f"/s/{name}"), size=size, modified=NOW - age)
    return Target(entry.canonical, entry)


def order(*targets: Target, running: str | None = None) -> list[str]:
    return [one.canonical.removeprefix("pi:") for one in by_age(targets, running)]


def test_a_large_session_waits_for_the_small_ones_of_its_age() -> None:
    large, late = target("large", 0, LARGE), target("late", SAME_AGE + 1)

    assert order(large, target("a", 1), target("b", SAME_AGE), late) == ["a", "b", "large", "late"]


def test_it_waits_for_no_session_that_is_much_older() -> None:
    targets = [target(f"large{age}", age, LARGE) for age in (0, 500, 1_000, 1_500)]

    assert order(*targets, target("old", 2_000)) == [
        *("large0", "large500", "large1000", "large1500", "old")
    ]


def test_the_running_session_never_waits() -> None:
    assert order(target("run", 0, LARGE), target("a", 1), running="pi:run") == ["run", "a"]
    assert order(Target("pi:run", None), target("a", 1)) == ["run", "a"]


def listed(**args: Any) -> dict[str, Any]:
    found = FakeSource(SessionBuilder("large"), SessionBuilder("small"))
    for builder in found.builders:
        builder.user("a needle")
    for name, size in (("large", LARGE), ("small", 10)):
        one = found.entry(next(b for b in found.builders if b.header.session_id == name))
        found.entries[one.canonical] = one.model_copy(update={"size": size})
    outcome = HISTORY_LIST.handle(
        bound_call(found), HISTORY_LIST.bind({"session": "*", "query": "needle", **args})
    )
    assert isinstance(outcome, Success)
    return wire(outcome)


def test_rows_come_newest_session_first_whichever_was_looked_into_first() -> None:
    page = listed()

    assert [row["session"] for row in page["items"]] == ["pi:large", "pi:small"]
    assert (page["sessions_covered"], page["sessions_remaining"]) == (2, 0)


def test_a_session_that_had_to_wait_and_was_not_reached_counts_as_remaining(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter(range(0, 10_000, 1_000))
    monkeypatch.setattr(wildcard, "monotonic", lambda: next(clock))

    page = listed()

    assert [row["session"] for row in page["items"]] == ["pi:small"]
    assert (page["sessions_covered"], page["sessions_remaining"]) == (1, 1)
