"""Index the remaining sessions after an answer, in a process that stays.

A question is answered from the sessions that could be indexed within its time. A thread with low
priority indexes the others afterwards, so the next question finds them. A process that ends with
its answer does not do this.
"""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Event, Lock, Thread, get_native_id
from typing import TYPE_CHECKING

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.operations.coverage import Indexing, Opening, with_index
from hindnote.core.system.process import stays

if TYPE_CHECKING:
    from hindnote.core.history.operations.coverage import Coverage
    from hindnote.core.history.sessions import Sessions, Target
    from hindnote.core.history.turns import Turns
    from hindnote.core.recall.index import Index

SLICE = 0.1
"""Duration of one piece of this work in seconds. A question waits about this long for its turn."""

PAUSE = 0.1
"""Seconds between two pieces, during which the process serves calls."""

NICE = 10
"""Value that is added to the thread's nice value."""


class Ahead:
    """Indexes the sessions that remained after an answer, one request at a time.

    Args:
        turns: The turns of questions; this work waits for a turn like a question.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._lock = Lock()
        self._busy = False
        self._pause = Event()

    def go_on(self, sessions: Sessions, targets: list[Target]) -> None:
        """Begin to index, unless this process already does or is about to end.

        Args:
            sessions: Opens the sessions.
            targets: All sessions that the question was about.
        """
        with self._lock:
            if self._busy or not stays():
                return
            self._busy = True
        try:
            Thread(target=self._work, args=(sessions, targets), daemon=True).start()
        except RuntimeError:
            # No thread can be started. The next question continues where this one stopped.
            self._busy = False

    def _work(self, sessions: Sessions, targets: list[Target]) -> None:
        with suppress(OSError, AttributeError):
            # On Linux this is the priority of the thread alone.
            os.setpriority(os.PRIO_PROCESS, get_native_id(), NICE)
        opening = Opening(sessions)
        try:
            # The next question reports what cannot be read or written.
            with suppress(Refused, HostFailure, OSError, MemoryError):
                while self._piece(opening, targets).remaining:
                    self._pause.wait(PAUSE)
        finally:
            self._busy = False

    def _piece(self, opening: Opening, targets: list[Target]) -> Coverage:
        def some(index: Index) -> Coverage:
            return Indexing(index, opening).cover(targets, None, SLICE)

        with self._turns.turn():
            return with_index(some)
