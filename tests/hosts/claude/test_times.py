"""When slots were written."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from math import isnan, nan
from typing import TYPE_CHECKING

import pytest
from claude_rows import Writer

from hindnote.core.history.instants import instant
from hindnote.core.history.timeline import Timeline
from hindnote.hosts.claude.rows import decode
from hindnote.hosts.claude.times import Times

if TYPE_CHECKING:
    from pathlib import Path

NINE = instant("2026-11-30T09:00:00Z")
RECORDED = {
    "2026-11-30T09:00:00.000Z": NINE,
    "2026-11-30T10:00:00+01:00": NINE,
    "2026-11-30T09:00:00": NINE,
    "20261130T090000Z": NINE,
    1_796_029_200_000: NINE,
    1_796_029_200.5: NINE + 0.5,
    "0001-01-01T00:00:00+14:00": -62_135_596_800 - 14 * 3600,
    "9999-12-31T23:59:59-14:00": 253_402_300_799 + 14 * 3600,
    "two\nlines": nan,
    "": nan,
    None: nan,
}


@pytest.mark.parametrize(("stamp", "expected"), RECORDED.items())
def test_a_time_is_read_in_any_company(stamp: str | float | None, expected: float) -> None:
    row = decode(json.dumps({"timestamp": stamp}).encode())
    times = Times()
    times.extend([row.timestamp])
    times.extend([datetime(2026, 11, 30, 9, tzinfo=UTC), row.timestamp])

    assert [times.at(0), times.at(1), times.at(2)] == pytest.approx(
        [expected, NINE, expected], nan_ok=True
    )


def test_times_go_on_after_some_were_asked_for() -> None:
    times = Times()
    for second in range(50):
        times.extend([datetime(2026, 11, 30, 9, 0, second, tzinfo=UTC)])
        assert times.at(second) == NINE + second


def test_many_who_ask_at_once_get_the_same() -> None:
    times = Times()
    for second in range(2_000):
        times.extend([1_796_029_200.0 + second])
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(times.at, reversed(range(2_000))))
    assert found == [NINE + second for second in reversed(range(2_000))]


def test_each_slot_of_a_branch_has_its_rows_time(tmp_path: Path) -> None:
    writer = Writer()
    writer.user("p", None)
    writer.user("left", "p")
    writer.text("a", "p", "m1")
    blocks = [{"type": "image"}, {"type": "text", "text": "two slots"}]
    writer.user("q", "a", content=blocks)
    writer.user("r", "q", timestamp="not a time")
    projection = writer.transcript(tmp_path).projection
    timeline = Timeline(projection)

    found = [timeline.instant(position) for position in range(timeline.size)]
    told = [instant(projection.facts(seq).created_at) for seq in projection.branch.seqs]
    assert found == pytest.approx(told, nan_ok=True)
    assert [isnan(time) for time in found] == [False] * 4 + [True]
