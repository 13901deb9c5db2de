"""Turns for long work in one process, so that searches beside each other do not slow each other down.

Python runs one thread at a time. Several threads that each read a little and decode a
little spend nearly all of their time on handing over to each other; one after another
they take what each takes alone. A turn lasts a tenth of a second at least, and whoever
has waited longest is next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock
from time import monotonic

SLICE = 0.1
"""Seconds that a turn lasts before it is given to somebody who waits."""


class Turns:
    """A lock that is handed over in the order in which it was asked for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: deque[Event] = deque()
        self._taken = False

    @property
    def awaited(self) -> bool:
        """Whether somebody waits."""
        return bool(self._waiting)

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Have the turn while the block runs; it may be passed on and come again."""
        turn = Turn(self)
        turn.begin()
        try:
            yield turn
        finally:
            turn.end()

    def take(self, seconds: float | None) -> bool:
        """Wait for the turn; return whether it came.

        Args:
            seconds: How long to wait at most; None: until it comes.
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
        """End the turn: who has waited longest has it now."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


class Turn:
    """One piece of long work, which may have the turn several times.

    Args:
        turns: Whose turn it is.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._mine = False
        self._since = 0.0

    def begin(self, seconds: float | None = None) -> bool:
        """Wait for the turn, as ``Turns.take`` does; return whether it came."""
        self._mine = self._turns.take(seconds)
        self._since = monotonic()
        return self._mine

    def end(self) -> None:
        """Give the turn back, if it is here."""
        if self._mine:
            self._mine = False
            self._turns.give_back()

    def pass_on(self, deadline: float) -> bool:
        """Let others go on, once this turn has lasted long enough; return when it comes again.

        Args:
            deadline: When to stop waiting, by ``time.monotonic``.

        Returns:
            Whether the turn came before the deadline.
        """
        if not self._turns.awaited or monotonic() - self._since < SLICE:
            return True
        self.end()
        return self.begin(max(0.0, deadline - monotonic()))
