"""Turns for long work in one process, so that parallel searches do not slow each other down.

Python runs one thread at a time. Several threads that each read a little and decode a little spend
nearly all their time switching; one after another, each takes only its own time. A turn lasts at
least a tenth of a second, and the thread that has waited longest is next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock
from time import monotonic

SLICE = 0.1
"""Minimum duration of a turn in seconds, before it is given to a waiting thread."""


class Turns:
    """A lock that is granted in the order in which threads requested it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: deque[Event] = deque()
        self._taken = False

    @property
    def awaited(self) -> bool:
        """Whether a thread is waiting."""
        return bool(self._waiting)

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Have the turn while the block runs; ``Turn.pass_on`` can interrupt it."""
        turn = Turn(self)
        turn.begin()
        try:
            yield turn
        finally:
            turn.end()

    def take(self, seconds: float | None) -> bool:
        """Wait for the turn; return whether it was granted.

        Args:
            seconds: Maximum time to wait; None: without limit.
        """
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            mine = Event()
            self._waiting.append(mine)
        if mine.wait(seconds):
            return True
        with self._lock:
            if mine.is_set():
                return True
            self._waiting.remove(mine)
            return False

    def give_back(self) -> None:
        """End the turn and grant it to the thread that has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


class Turn:
    """One piece of long work, which may get the turn several times.

    Args:
        turns: The lock.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._mine = False
        self._since = 0.0

    def begin(self, seconds: float | None = None) -> bool:
        """Wait for the turn, as ``Turns.take`` does; return whether it was granted."""
        self._mine = self._turns.take(seconds)
        self._since = monotonic()
        return self._mine

    def end(self) -> None:
        """Give up the turn, if this work has it."""
        if self._mine:
            self._mine = False
            self._turns.give_back()

    def pass_on(self, deadline: float) -> bool:
        """Let others run if this turn has lasted long enough, and wait for the next turn.

        Args:
            deadline: When to stop waiting, as ``time.monotonic``.

        Returns:
            Whether the turn was granted before the deadline.
        """
        if not self._turns.awaited or monotonic() - self._since < SLICE:
            return True
        self.end()
        return self.begin(max(0.0, deadline - monotonic()))


SEARCHES = Turns()
"""The turns of lists over many sessions: in a process one of them, ranked or not, works at a time."""
