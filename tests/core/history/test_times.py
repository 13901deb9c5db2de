from __future__ import annotations

import math
import time
from collections.abc import Iterator

import pytest

from hindnote.core.errors import Refused
from hindnote.core.history.times import bound, instant, recorded


@pytest.fixture
def plus_two(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Etc/GMT-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_recorded_times_compare_as_instants() -> None:
    written = ["2026-11-30T09:00:00Z", "2026-11-30T09:00:00.000Z", "2026-11-30T11:00:00+02:00"]

    assert len({instant(one) for one in written}) == 1


@pytest.mark.parametrize("nothing", [None, "", "yesterday", "2026-13-45"])
def test_what_is_no_time_is_no_instant(nothing: str | None) -> None:
    assert math.isnan(instant(nothing))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2026-11-30T09:00:00+02:00", "2026-11-30T09:00:00+02:00"),
        (1_796_000_060, "2026-11-30T00:54:20.000Z"),
        (1_796_000_060_500, "2026-11-30T00:54:20.500Z"),
        (-1.5, "1969-12-31T23:59:58.500Z"),
        *((nothing, None) for nothing in ("soon", "", None, True, [], 1e300, -1e15, 10**400)),
    ],
)
def test_a_time_is_shown_from_whatever_was_recorded(value: object, shown: str | None) -> None:
    assert recorded(value) == shown


@pytest.mark.usefixtures("plus_two")
def test_a_date_alone_is_a_local_day() -> None:
    assert bound("since", "2026-11-30") == instant("2026-11-30T00:00:00+02:00")
    assert bound("until", "2026-11-30") == instant("2026-12-01T00:00:00+02:00")
    assert bound("until", "20261130") == instant("2026-12-01T00:00:00+02:00")


@pytest.mark.usefixtures("plus_two")
def test_a_date_time_without_an_offset_is_local() -> None:
    assert bound("since", "2026-11-30T10:00") == instant("2026-11-30T08:00:00Z")
    assert bound("until", "2026-11-30T10:00Z") == instant("2026-11-30T10:00:00Z")


def test_the_ends_of_the_calendar_bound_nothing() -> None:
    assert bound("until", "9999-12-31") == math.inf
    assert bound("since", "0001-01-01") in (-math.inf, instant("0001-01-01T00:00:00Z"))


@pytest.mark.parametrize("value", ["", "soon", "2026-02-30", "2026-11-30T25:00", "12:00"])
def test_a_malformed_bound_is_refused(value: str) -> None:
    with pytest.raises(Refused) as caught:
        bound("until", value)

    assert caught.value.code == "invalid_time"
    assert "2026-11-30" in caught.value.refusal.message
