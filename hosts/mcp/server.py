"""The process that a program starts: reads lines, writes lines, and ends.

Until a program calls a tool, the answers come from generated declarations, and the modules for
calls are not imported. They are imported once the program has requested the list of tools and
sends nothing for a moment.
"""

from __future__ import annotations

import os
import queue
import select
import threading
from typing import TYPE_CHECKING, Any

from hindnote.hosts.mcp import wire

if TYPE_CHECKING:
    from hindnote.hosts.mcp.session import Session

LINE_LIMIT = 64 * 1024 * 1024
"""Maximum length of a line in bytes. A longer one is answered with an error."""

SILENCE = 0.1
"""Seconds without a line after which the modules for calls are imported."""

_CHUNK = 1024 * 1024
_GONE = select.POLLERR | select.POLLHUP


class Sink:
    """Writes messages to a descriptor, whole and in order, in a thread of its own.

    A program that does not read its messages delays neither other answers nor reading.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()
        self.gone = False
        """Whether the reader has closed the descriptor."""

    def send(self, message: Any) -> None:
        """Send a message. Thread-safe."""
        self._lines.put(wire.write(message))

    def finish(self) -> None:
        """Wait until everything is written, or the reader has closed the descriptor."""
        self._lines.put(None)
        self._writer.join()

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            left = memoryview(line)
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                self.gone = True
                return


class Source:
    """Reads lines from a descriptor, and checks whether the output still has a reader.

    Args:
        descriptor: The descriptor to read.
        sink: The output descriptor to check.
        limit: Maximum length of a line, in bytes.
    """

    def __init__(self, descriptor: int, sink: int, limit: int = LINE_LIMIT) -> None:
        self._descriptor = descriptor
        self._sink = sink
        self._limit = limit
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._poll.register(sink, 0)
        self._kept = bytearray()
        self._searched = 0
        self._skipping = False
        self.ended = False
        """Whether the input has ended."""

        self.deserted = False
        """Whether the output has no reader any more."""

    def lines(self, seconds: float | None) -> list[bytes | None]:
        """Return the lines that have arrived, waiting at most some seconds.

        Returns:
            The lines, with None for one that was too long. Empty when none arrived in time.
        """
        timeout = None if seconds is None else max(0.0, seconds) * 1000
        events = dict(self._poll.poll(timeout))
        self.deserted = bool(events.get(self._sink, 0) & _GONE)
        if self.deserted or self._descriptor not in events:
            return []
        chunk = os.read(self._descriptor, _CHUNK)
        if not chunk:
            self.ended = True
            self._poll.unregister(self._descriptor)
        return self._split(chunk or b"\n")

    def _split(self, chunk: bytes) -> list[bytes | None]:
        lines: list[bytes | None] = []
        self._kept += chunk
        while (end := self._kept.find(b"\n", self._searched)) >= 0:
            lines.append(None if self._skipping or end > self._limit else bytes(self._kept[:end]))
            del self._kept[: end + 1]
            self._searched, self._skipping = 0, False
        self._searched = len(self._kept)
        if self._searched > self._limit:
            self._kept.clear()
            self._searched, self._skipping = 0, True
        return lines


def serve(session: Session, source: Source, sink: Sink, warm_up: threading.Thread) -> None:
    """Serve one program until its input ends or its output has no reader.

    Calls that are running when the input ends are completed and answered.
    """
    warm = False
    while not (source.ended or source.deserted or sink.gone):
        due = session.jobs.expire()
        rest = session.listed and not warm
        lines = source.lines(SILENCE if rest else due)
        for line in lines:
            if line is None:
                session.refuse(f"the line is longer than {LINE_LIMIT} bytes")
            else:
                session.take(line)
        if rest and not lines:
            warm = True
            warm_up.start()
    while not (source.deserted or sink.gone or session.jobs.finish(SILENCE)):
        source.lines(0)
    if not (source.deserted or sink.gone):
        sink.finish()
