"""Turns: one at a time, in the order of asking, and nobody waits behind one that is done."""

from __future__ import annotations

import threading
from time import monotonic

import pytest

from hindnote.core.history import turns
from hindnote.core.history.turns import Turns


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SLICE", 0.0)


def waiting(all_turns: Turns, count: int) -> None:
    deadline = monotonic() + 10
    while len(all_turns._waiting) < count:
        assert monotonic() < deadline


def test_who_waited_longest_is_next() -> None:
    all_turns, done = Turns(), []

    def work(name: str) -> None:
        with all_turns.turn():
            done.append(name)

    with all_turns.turn():
        threads = []
        for place, name in enumerate("abcd", start=1):
            threads.append(threading.Thread(target=work, args=(name,)))
            threads[-1].start()
            waiting(all_turns, place)
    for thread in threads:
        thread.join()

    assert done == [*"abcd"]


def test_long_work_lets_the_others_go_on_in_turn() -> None:
    all_turns, steps = Turns(), []

    def work(name: str) -> None:
        with all_turns.turn() as turn:
            for _ in range(5):
                steps.append(name)
                assert turn.pass_on(monotonic() + 10)

    with all_turns.turn():
        threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
        for place, thread in enumerate(threads, start=1):
            thread.start()
            waiting(all_turns, place)
    for thread in threads:
        thread.join()

    assert steps == [*"ababababab"]


def test_waiting_ends_at_the_deadline_and_the_turn_stays_with_its_owner() -> None:
    all_turns = Turns()
    with all_turns.turn():
        assert not all_turns.take(0.0)
        assert not all_turns.awaited

    assert all_turns.take(0.0)


def test_a_failure_gives_the_turn_back() -> None:
    all_turns = Turns()
    with pytest.raises(RuntimeError), all_turns.turn():
        raise RuntimeError

    assert all_turns.take(0.0)
