from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.notes import clock


@given(st.integers(min_value=0, max_value=4_000_000_000_000))
def test_an_instant_survives_its_text(instant: int) -> None:
    text = clock.format_ms(instant)

    assert clock.parse_ms(text) == instant
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", text)


@pytest.mark.parametrize(
    "other",
    ["2026-05-26T10:00:00Z", "2026-05-26T10:00:00.000Z", "2026-05-26T12:00:00+02:00"],
)
def test_times_are_compared_as_instants(other: str) -> None:
    assert clock.parse_ms(other) == 1_779_789_600_000


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2026-13-45",
        None,
        12,
        "0001-01-01T00:00:00+23:00",
        "0001-01-01",
        "9999-12-31T23:59:59-23:00",
    ],
)
def test_what_is_no_time_is_none(value: object) -> None:
    assert clock.parse_ms(value) is None
