from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.text.minutes import day_and_minute, local_minute, to_the_minute

OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))


@pytest.mark.parametrize(
    ("recorded", "told"),
    [
        ("2026-11-30T09:50:59.151Z", "2026-11-30 09:50Z"),
        ("2026-11-30T09:50:59+00:00", "2026-11-30 09:50Z"),
        ("2026-11-30T09:50:59.1+01:00", "2026-11-30 09:50+01:00"),
        ("2026-11-30T09:50:59", "2026-11-30 09:50Z"),
        ("2026-11-30", "2026-11-30 00:00Z"),
        ("yesterday", "yesterday"),
        ("", ""),
    ],
)
def test_a_time_is_told_to_the_minute_with_its_offset(recorded: str, told: str) -> None:
    assert to_the_minute(recorded) == told


def test_text_that_is_no_time_has_no_day() -> None:
    assert day_and_minute("2026-13-01T00:00Z") is None


@given(st.datetimes(timezones=OFFSETS | st.just(UTC)))
def test_what_is_told_is_the_same_instant_without_its_seconds(moment: datetime) -> None:
    told = datetime.fromisoformat(to_the_minute(moment.isoformat()))

    assert told == moment.replace(second=0, microsecond=0)
    assert told.utcoffset() == moment.utcoffset()


@pytest.fixture
def in_lisbon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "WET0WEST,M3.5.0/1,M10.5.0")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("recorded", "told"),
    [
        ("2026-11-30T09:50:59.151Z", "2026-11-30 09:50"),
        ("2026-07-01T23:50:59Z", "2026-07-02 00:50"),
        ("2026-07-01T09:50:59+02:00", "2026-07-01 08:50"),
        ("2026-07-01T09:50:59", "2026-07-01 10:50"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("yesterday", "yesterday"),
        (None, ""),
    ],
)
def test_a_person_is_told_the_time_of_their_own_zone(
    in_lisbon: None, recorded: str | None, told: str
) -> None:
    assert local_minute(recorded) == told
