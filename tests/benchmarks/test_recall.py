"""What questions by subject cost over sessions of a natural vocabulary, beside a bare FTS5 table."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from yardstick import SMOKE, said

SESSIONS = 6 if SMOKE else int(os.environ.get("HINDNOTE_BENCH_RECALL", "300"))
SIZE = 60_000 if SMOKE else 1_000_000

COLD = 5.0
"""Times a bare decode of the lines and an insertion of the same words into a bare FTS5 table."""

WARM, WARM_MORE = 2.0, 0.050
"""Times a bare query of that table, and seconds more."""

APPENDED = 0.030
"""Seconds that a question takes more after an event was appended."""

INDEX, GROWN = 0.06, 150_000_000


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Figures of one run in a process of its own."""
    script = Path(__file__).with_name("recall_costs.py")
    folder = tmp_path_factory.mktemp("recall")
    command = [sys.executable, str(script), str(folder), str(SESSIONS), str(SIZE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3_600)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def test_a_first_question_costs_little_more_than_filling_a_bare_table(
    costs: dict[str, Any],
) -> None:
    least = costs["decode"] + costs["insert"]

    said(
        f"{costs['bytes'] / 1e6:.0f} MB: bare {least:.1f} s, cold {costs['cold'] / least:.2f} times"
    )
    assert SMOKE or costs["cold"] <= COLD * least


def test_a_warm_question_costs_little_more_than_a_bare_query(costs: dict[str, Any]) -> None:
    bare, warm = statistics.median(costs["bare"]), statistics.median(costs["warm"])

    said(
        f"{SESSIONS} sessions: bare query {bare * 1000:.1f} ms, warm question {warm * 1000:.1f} ms"
    )
    assert SMOKE or warm <= WARM * bare + WARM_MORE


def test_an_appended_event_makes_the_next_question_little_slower(costs: dict[str, Any]) -> None:
    before, after = statistics.median(costs["before"]), statistics.median(costs["appended"])

    said(f"warm {before * 1000:.1f} ms, after an append {after * 1000:.1f} ms")
    assert SMOKE or after <= before + APPENDED


def test_the_index_and_memory_stay_small(costs: dict[str, Any]) -> None:
    share = costs["index"] / costs["bytes"]

    said(f"index {share:.1%} of the sessions; private memory grew by {costs['grown'] / 1e6:.0f} MB")
    assert SMOKE or share <= INDEX
    assert SMOKE or costs["grown"] <= GROWN
