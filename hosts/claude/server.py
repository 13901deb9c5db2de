"""A small HTTP/1.1 server on a Unix socket, for one user and one host process.

``POST /`` passes a body to the answering function. If the answer takes long, the client gets
status 202 and a path from which to fetch it later, since Claude Code cancels a request after half
a minute. ``GET /alive`` tells that the server is running. There is one request per connection, and
connections run in parallel. The server ends on SIGTERM, SIGINT or SIGHUP, when its parent process
ends, and when no request came for long enough.
"""

from __future__ import annotations

import itertools
import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from hindnote.core.history.files import POOL
from hindnote.core.system.shortage import is_shortage
from hindnote.hosts.claude.http1 import BadRequest, discard, failure, read_request, response
from hindnote.hosts.claude.sockets import listening

PATIENCE = 30.0
"""Time limit in seconds for a client to send its request."""

HOLD = 20.0
"""Seconds that a client waits for its answer before it gets status 202."""

KEPT = 60.0
"""Seconds for which an answer is kept for a client that got status 202."""

PARENT_CHECK = 1.0
"""Interval in seconds for checking the parent, where the system cannot report its end."""

SHORTAGE_PAUSE = 0.1
"""Seconds without new connections when no descriptors or threads are left."""

LAST_CALLS = 1.0
"""Seconds that running calls may take to finish when the server ends."""

Answer = Callable[[bytes], tuple[int, bytes]]
"""Maps a request's body to status and body of the response. Called in several threads."""


@dataclass(slots=True)
class _Job:
    """An answer that is being computed."""

    done: threading.Event = field(default_factory=threading.Event)
    result: tuple[int, bytes] = (500, b"")
    ended: float = 0.0
    """Time of its completion, by the monotonic clock."""


class Server:
    """One resident server.

    Args:
        path: Path of the socket. Its folder is created, private to the user.
        parent: Id of the process with which the server ends.
        idle: Seconds without a request after which the server ends.
        answer: Computes the answer to a body.
        body_limit: Maximum size of a body, in bytes.
    """

    def __init__(
        self, path: Path, parent: int, idle: float, answer: Answer, body_limit: int
    ) -> None:
        self._path = path
        self._parent = parent
        self._idle = idle
        self._answer = answer
        self._body_limit = body_limit
        self._lock = threading.Lock()
        self._running = 0
        self._taken: socket.socket | None = None
        """An accepted connection for which no thread could be started yet."""

        self._jobs: dict[str, _Job] = {}
        self._names = itertools.count(1)
        self._last_used = time.monotonic()

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until one of the reasons to end; calls ``ready`` once it listens.

        Raises:
            OSError: The folder or the socket cannot be created, or belongs to another user.
        """
        with listening(self._path) as listener, _signals() as signals:
            ready()
            self._loop(listener, signals)
            deadline = time.monotonic() + LAST_CALLS
            while self._running and time.monotonic() < deadline:
                time.sleep(0.01)

    def _loop(self, listener: socket.socket, signals: socket.socket) -> None:
        with selectors.DefaultSelector() as selector, _parent_handle(self._parent) as parent:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(signals, selectors.EVENT_READ)
            if parent is not None:
                selector.register(parent, selectors.EVENT_READ)
            while (remaining := self._remaining()) > 0 and (parent is not None or self._alive()):
                wait = remaining if parent is not None else min(remaining, PARENT_CHECK)
                events = [key.fileobj for key, _ in selector.select(wait)]
                if events and listener not in events:
                    return
                if events and not self._accept(listener):
                    # A waiting connection stays readable, so without a pause this loop would use a
                    # whole CPU.
                    selector.unregister(listener)
                    while not self._accept(listener):
                        if selector.select(SHORTAGE_PAUSE) or not self._alive():
                            return
                    selector.register(listener, selectors.EVENT_READ)

    def _remaining(self) -> float:
        with self._lock:
            if self._running:
                return self._idle
            return self._last_used + self._idle - time.monotonic()

    def _alive(self) -> bool:
        try:
            os.kill(self._parent, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _accept(self, listener: socket.socket) -> bool:
        """Accept the next connection; return False when no descriptors or threads are left."""
        if self._taken is None:
            try:
                self._taken, _ = listener.accept()
            except OSError as error:
                # Any other error means that the client has disconnected.
                if is_shortage(error):
                    POOL.close_idle()
                return not is_shortage(error)
            self._taken.settimeout(PATIENCE)
            with self._lock:
                self._running += 1
        if not self._in_thread(self._serve, self._taken):
            return False
        self._taken = None
        return True

    @staticmethod
    def _in_thread(work: Callable[..., None], *arguments: object) -> bool:
        """Run a function in a new thread; return False when no thread can be started."""
        try:
            threading.Thread(target=work, args=arguments, daemon=True).start()
        except (RuntimeError, MemoryError):
            return False
        return True

    def _serve(self, connection: socket.socket) -> None:
        try:
            # A client that disconnected is not an error of ours.
            with connection, suppress(OSError):
                self._exchange(connection)
        finally:
            with self._lock:
                self._running -= 1
                self._last_used = time.monotonic()

    def _exchange(self, connection: socket.socket) -> None:
        """Read the request on a connection and send the answer."""
        try:
            request = read_request(connection, self._body_limit)
        except BadRequest as bad:
            connection.sendall(failure(bad.status, str(bad)))
            discard(connection)
        else:
            connection.sendall(self._response(*request))

    def _response(self, method: str, target: str, body: bytes) -> bytes:
        if (method, target) == ("POST", "/"):
            target = self._begin(body)
        elif method != "GET":
            target = ""
        if target == "/alive":
            return response(200, b"")
        job = self._jobs.get(target)
        if job is None:
            return failure(404, "ask with POST / or GET /alive")
        if not job.done.wait(HOLD):
            return response(202, target.encode())
        self._jobs.pop(target, None)
        return response(*job.result)

    def _begin(self, body: bytes) -> str:
        """Start to answer a body; return the path from which the answer can be fetched."""
        job = _Job()
        with self._lock:
            # Answers that nobody fetched are dropped, so that they do not accumulate.
            late = time.monotonic() - KEPT
            for path in [p for p, job in self._jobs.items() if 0 < job.ended < late]:
                del self._jobs[path]
            path = f"/later/{next(self._names)}"
            self._jobs[path] = job
            self._running += 1
        if not self._in_thread(self._work, job, body):
            # This thread would only wait for the answer anyway.
            self._work(job, body)
        return path

    def _work(self, job: _Job, body: bytes) -> None:
        try:
            job.result = self._answer(body)
        finally:
            with self._lock:
                self._running -= 1
                self._last_used = job.ended = time.monotonic()
            job.done.set()


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """Yield a socket that becomes readable when the process receives a signal to end."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno())
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    handlers = [signal.signal(number, lambda *_: None) for number in numbers]
    try:
        with reader, writer:
            yield reader
    finally:
        signal.set_wakeup_fd(before)
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)


@contextmanager
def _parent_handle(parent: int) -> Iterator[int | None]:
    """Yield a descriptor that becomes readable when the parent ends; None if unsupported."""
    handle: int | None = None
    if sys.platform == "linux":
        # Not permitted in some containers; ProcessLookupError means that the parent has ended
        # already, which the first check detects.
        with suppress(OSError):
            handle = os.pidfd_open(parent)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)
