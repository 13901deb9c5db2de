"""Tool calls as they wait, run and are answered: beside each other, each within its time."""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from hindnote.hosts.mcp.wire import INTERNAL_ERROR, Failed

WORKERS = 8
"""Calls that run at once, at most; the others wait in order."""

LIMIT = 50.0
"""Seconds after which a call is answered in any case: programs give up after 60."""

TOO_LONG = Failed(
    INTERNAL_ERROR,
    f"the call took longer than {LIMIT:.0f} seconds and was given up; narrow it, and look at what "
    "a change has changed before it is repeated",
)

UNEXPECTED = Failed(INTERNAL_ERROR, "hindnote failed unexpectedly; its log says why")
"""The answer to a request that met a defect of the server."""

Work = Callable[[], dict[str, Any]]
Answer = Callable[["dict[str, Any] | Failed | None"], None]
"""Takes a result, a failure, or None when the call was cancelled; called once."""


class Job:
    """One call.

    Args:
        id: The request's id.
        work: Carries the call out.
        answer: Told how it ended.
        due: When the call is given up, by ``time.monotonic``.
    """

    def __init__(self, id: Any, work: Work, answer: Answer, due: float) -> None:
        self.id = id
        self.work = work
        self.answer = answer
        self.due = due


class Jobs:
    """The calls of one server.

    Args:
        limit: Seconds for one call, its waiting included.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._open: list[Job] = []
        self._waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._workers = 0

    def add(self, id: Any, work: Work, answer: Answer) -> None:
        """Carry a call out as soon as a worker is free."""
        job = Job(id, work, answer, time.monotonic() + self._limit)
        with self._changed:
            self._open.append(job)
            more = self._workers < min(WORKERS, len(self._open))
            self._workers += more
        self._waiting.put(job)
        if more:
            threading.Thread(target=self._run, daemon=True).start()

    def cancel(self, id: Any) -> None:
        """Answer no call of this id any more; one that runs is carried out to its end."""
        for job in self._taken(lambda job: type(job.id) is type(id) and job.id == id):
            job.answer(None)

    def expire(self) -> float | None:
        """Give up the calls whose time is over.

        Returns:
            Seconds until the next one's is; None when there is none.
        """
        now = time.monotonic()
        for job in self._taken(lambda job: job.due <= now):
            job.answer(TOO_LONG)
        with self._changed:
            return min((job.due - now for job in self._open), default=None)

    def finish(self, seconds: float) -> bool:
        """Wait some seconds at most, and return whether every call is answered."""
        self.expire()
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, seconds)

    def _taken(self, chosen: Callable[[Job], bool]) -> list[Job]:
        with self._changed:
            taken = [job for job in self._open if chosen(job)]
            for job in taken:
                self._open.remove(job)
            self._changed.notify_all()
        return taken

    def _run(self) -> None:
        while True:
            job = self._waiting.get()
            with self._changed:
                if job not in self._open:
                    continue
            ended: dict[str, Any] | Failed
            try:
                ended = job.work()
            except Failed as failed:
                ended = failed
            except Exception:  # noqa: BLE001 - the request needs an answer, the worker its next job
                traceback.print_exc()
                ended = UNEXPECTED
            self._settle(job, ended)

    def _settle(self, job: Job, ended: dict[str, Any] | Failed) -> None:
        with self._changed:
            if job not in self._open:
                return
            # Before the call counts as answered, or the end of input could end the
            # process in between.
            job.answer(ended)
            self._open.remove(job)
            self._changed.notify_all()
