"""What parsing a tool result costs: twice the text, about twice the time."""

from __future__ import annotations

import gc
import sys
import time
from typing import Any

import pytest
from yardstick import SMOKE

from hindnote.hosts.pi.presentation.parse import present

LINES = 50 if SMOKE else 2_000
ROUNDS = 1 if SMOKE else 5

TEXTS = {
    "plain": "src/app.py:{n}: def add(a, b):",
    "old": "src/app.py-{n}-def add(a, b):",
    "ambiguous": "a-1- b-{n}- c:{n}: d-{n}- e:7: f-8- g",
    "unread": "no line of a file at all",
}


def spent(text: str) -> float:
    """Return the least processor time of a few rounds, in seconds."""
    message: dict[str, Any] = {"toolName": "grep", "content": text, "isError": False}
    times = []
    for _ in range(ROUNDS):
        gc.collect()
        started = time.process_time()
        shown = present(message)
        times.append(time.process_time() - started)
        assert shown.joined() == text
    return min(times)


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_lines_take_about_twice_the_time(name: str) -> None:
    once, twice = (
        spent("\n".join(TEXTS[name].format(n=n) for n in range(1, count + 1)))
        for count in (LINES, 2 * LINES)
    )

    sys.stderr.write(f"{name}: {once * 1e3:.1f} ms, doubled {twice / once:.2f} times\n")
    assert SMOKE or twice <= 3 * once + 0.005


def test_a_longer_line_takes_about_the_time_of_reading_it() -> None:
    long = "a.py:1: " + "x:1: " * (100 if SMOKE else 200_000)

    once, twice = spent(long), spent(long + long)

    sys.stderr.write(f"one line: {once * 1e3:.1f} ms, doubled {twice / once:.2f} times\n")
    assert SMOKE or twice <= 3 * once + 0.005
