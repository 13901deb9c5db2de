"""The tool calls of one server: queued, run in parallel, and answered within a time limit."""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from hindnote.hosts.mcp.wire import INTERNAL_ERROR, Failed

WORKERS = 8
"""Maximum number of parallel calls; the others wait in order."""

LIMIT = 50.0
"""Seconds after which every call is answered, since programs time out after 60."""

TOO_LONG = Failed(
    INTERNAL_ERROR,
    f"the call took longer than {LIMIT:.0f} seconds and was given up; narrow it, and look at what "
    "a change has changed before it is repeated",
)

UNEXPECTED = Failed(INTERNAL_ERROR, "hindnote failed unexpectedly; its log says why")
"""The answer to a request that revealed a defect of the server."""

Work = Callable[[], dict[str, Any]]
Answer = Callable[["dict[str, Any] | Failed | None"], None]
"""Called once with a result, a failure, or None when the call was cancelled."""


class Job:
    """One call.

    Args:
        id: The request's id.
        work: Carries out the call.
        answer: Called with the outcome.
        due: When the call times out, as ``time.monotonic``.
    """

    def __init__(self, id: Any, work: Work, answer: Answer, due: float) -> None:
        self.id = id
        self.work = work
        self.answer = answer
        self.due = due


class Jobs:
    """The calls of one server.

    Args:
        limit: Time limit for one call in seconds, including its time in the queue.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._open: list[Job] = []
        self._waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._workers = 0

    def add(self, id: Any, work: Work, answer: Answer) -> None:
        """Carry out a call as soon as a worker is free."""
        job = Job(id, work, answer, time.monotonic() + self._limit)
        with self._changed:
            self._open.append(job)
            more = self._workers < min(WORKERS, len(self._open))
            self._workers += more
        self._waiting.put(job)
        if more:
            threading.Thread(target=self._run, daemon=True).start()

    def cancel(self, id: Any) -> None:
        """Cancel the calls with this id; one that is running is completed, but not answered."""
        for job in self._taken(lambda job: type(job.id) is type(id) and job.id == id):
            job.answer(None)

    def expire(self) -> float | None:
        """Answer the calls that have timed out.

        Returns:
            Seconds until the next call times out; None when there are no calls.
        """
        now = time.monotonic()
        for job in self._taken(lambda job: job.due <= now):
            job.answer(TOO_LONG)
        with self._changed:
            return min((job.due - now for job in self._open), default=None)

    def finish(self, seconds: float) -> bool:
        """Wait for the calls, at most some seconds; return whether all are answered."""
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
            # Answer before removing the job: otherwise the process could end in between, after the
            # end of its input.
            job.answer(ended)
            self._open.remove(job)
            self._changed.notify_all()
