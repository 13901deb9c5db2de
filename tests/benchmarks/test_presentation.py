"""What parsing a tool result costs: twice the text, about twice the time."""

from __future__ import annotations

from typing import Any

import pytest
from yardstick import SMOKE, best, said, times_as_long

from hindnote.hosts.pi.presentation.parse import present

LINES = 50 if SMOKE else 2_000

TEXTS = {
    "plain": "src/app.py:{n}: def add(a, b):",
    "old": "src/app.py-{n}-def add(a, b):",
    "ambiguous": "a-1- b-{n}- c:{n}: d-{n}- e:7: f-8- g",
    "unread": "no line of a file at all",
}


def parse(text: str) -> None:
    message: dict[str, Any] = {"toolName": "grep", "content": text, "isError": False}
    assert present(message).joined() == text


def doubled(name: str, once: str, twice: str) -> float:
    """Return how many times as long the second text takes as the first, and say so."""
    found = times_as_long(lambda: parse(twice), lambda: parse(once))
    said(f"{name}: {best(lambda: parse(once)) * 1e3:.1f} ms, doubled {found:.2f} times")
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_lines_take_about_twice_the_time(name: str) -> None:
    once, twice = (
        "\n".join(TEXTS[name].format(n=n) for n in range(1, count + 1))
        for count in (LINES, 2 * LINES)
    )

    found = doubled(name, once, twice)

    assert SMOKE or found <= 3


def test_a_longer_line_takes_about_the_time_of_reading_it() -> None:
    long = "a.py:1: " + "x:1: " * (100 if SMOKE else 200_000)

    found = doubled("one line", long, long + long)

    assert SMOKE or found <= 3
