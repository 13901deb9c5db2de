"""The private process of one Pi session, which speaks the protocol of ``hosts.pi.protocol``."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from typing import IO, TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from hindnote.core.call import HostFailure
from hindnote.core.errors import ArgumentError, Refused
from hindnote.core.system import process
from hindnote.hosts.pi.protocol import (
    PROTOCOL,
    BootRequest,
    Cancel,
    Entries,
    LiveBuffer,
    LiveSnapshot,
    ProjectRequest,
    Request,
    StatusRequest,
    decode,
    failure,
    host_call,
    id_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hindnote.core.call import Dispatcher

WORKERS = 8
"""Maximum number of parallel calls; the others wait in order."""

PATIENCE = 1.0
"""Seconds for running calls to finish after standard input has ended."""

log = logging.getLogger("hindnote.pi")


class _Job(Struct):
    request: Request
    live: LiveSnapshot | None
    cancelled: bool = False


class Server:
    """Serves one shim until its side of the pipe closes.

    Args:
        dispatcher: Carries out the calls.
        status: Returns the status for a person.
        source: Stream of requests.
        sink: Stream for responses; nothing else may write to it.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        status: Callable[[], dict[str, Any]],
        source: IO[bytes],
        sink: IO[bytes],
    ) -> None:
        self._dispatcher = dispatcher
        self._source = source
        self._sink = sink
        self._status = status
        self._live = LiveBuffer()
        self._jobs: dict[str, _Job] = {}
        self._waiting: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._workers: list[threading.Thread] = []

    def serve(self) -> None:
        """Read requests until the source ends, then let running calls finish."""
        self._write(_encode({"ready": {"protocol": PROTOCOL, "pid": os.getpid()}}))
        # readline, since iterating over a pipe may keep lines in a buffer
        while line := self._source.readline():
            if line.strip():
                self._receive(line)
        for _ in self._workers:
            self._waiting.put(None)
        deadline = time.monotonic() + PATIENCE
        for worker in self._workers:
            worker.join(max(0.0, deadline - time.monotonic()))

    def _receive(self, line: bytes) -> None:
        try:
            message = decode(line)
        except msgspec.DecodeError as error:
            log.error("not a request: %s", error)
            self._fail(id_of(line), "request", f"not a request of protocol {PROTOCOL}: {error}")
            return
        if isinstance(message, Entries):
            self._live.take(message)
        elif isinstance(message, Cancel):
            self._cancel(message.id)
        else:
            self._queue(message)

    def _queue(self, request: Request) -> None:
        live = None
        if not isinstance(request, StatusRequest) and request.host.live:
            live = self._live.snapshot()
        job = _Job(request, live)
        with self._lock:
            if request.id in self._jobs:
                log.error("request id %r is in use", request.id)
                return
            self._jobs[request.id] = job
            waiting = len(self._jobs)
        self._waiting.put(job)
        if len(self._workers) < min(WORKERS, waiting):
            worker = threading.Thread(target=self._work, daemon=True)
            self._workers.append(worker)
            worker.start()

    def _cancel(self, request_id: str) -> None:
        with self._lock:
            job = self._jobs.pop(request_id, None)
            if job is None:
                return
            job.cancelled = True
        self._fail(request_id, "cancelled", "the call was cancelled")

    def _work(self) -> None:
        while (job := self._waiting.get()) is not None:
            if job.cancelled:
                continue
            response = self._respond(job)
            with self._lock:
                if job.cancelled:
                    continue
                del self._jobs[job.request.id]
            self._write(response)

    def _respond(self, job: _Job) -> bytes:
        request = job.request
        try:
            value = self._value(request, job.live)
            return _encode({"id": request.id, "ok": True, "value": value})
        except ArgumentError as error:
            return _encode(failure(request.id, "arguments", str(error)))
        except Refused as error:
            # Raised only for the boot block; a refused call is an answer.
            return _encode(failure(request.id, "refused", str(error)))
        except HostFailure as error:
            log.error("%s", error)
            return _encode(failure(request.id, "host", str(error)))
        except Exception:
            # The last handler: the traceback of a crash goes to the log, and the model only learns
            # that the call failed.
            log.exception("request %s crashed", request.id)
            return _encode(
                failure(request.id, "host", "hindnote failed unexpectedly; its log says why")
            )

    def _value(self, request: Request, live: LiveSnapshot | None) -> dict[str, Any]:
        if isinstance(request, StatusRequest):
            return {"pid": os.getpid(), **self._status()}
        call = host_call(request.host, live)
        if isinstance(request, BootRequest):
            return {"text": self._dispatcher.boot(call, request.tools)}
        if isinstance(request, ProjectRequest):
            return self._dispatcher.project(call, request.tool, request.arguments).packaged()
        return self._dispatcher.call(call, request.operation, request.arguments).packaged()

    def _fail(self, request_id: str | None, kind: str, message: str) -> None:
        if request_id is not None:
            self._write(_encode(failure(request_id, kind, message)))

    def _write(self, line: bytes) -> None:
        with self._writing:
            try:
                self._sink.write(line)
                self._sink.flush()
            except (BrokenPipeError, ValueError):
                # The shim has ended, so standard input is about to end.
                log.warning("a response found nobody to read it")


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Serve a shim with the installed hosts and the default notes home."""
    from hindnote.core.call import Dispatcher
    from hindnote.core.places.home import notes_home
    from hindnote.core.plugins.hosts import Hosts
    from hindnote.hosts.pi import plugin

    hosts = Hosts.load({"pi": plugin})
    home = notes_home()
    dispatcher = Dispatcher(hosts, home)

    def status() -> dict[str, Any]:
        from importlib.metadata import version

        reports = hosts.report()
        return {
            "version": version("hindnote"),
            "home": str(home),
            "hosts": [report.source.slug for report in reports if not report.refused],
            "refused": [str(report.refused) for report in reports if report.refused],
        }

    threading.Thread(target=_warm_up, daemon=True).start()
    Server(dispatcher, status, source, sink).serve()


def _warm_up() -> None:
    """Import what the first calls need, while the host is busy with other work."""
    from hindnote.core.tools.registry import registry

    try:
        import hindnote.core.boot.block  # noqa: F401

        list(registry().values())
    finally:
        process.settle()


def _encode(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"
