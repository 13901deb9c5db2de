"""Lines of a long file, found from either of its ends without reading or keeping all of it.

Both functions take a ``read`` that returns bytes by offset and size, so that they serve a
catalogue, which opens a file for a moment, and a decoder, which keeps it open. As in
``lines``, NUL bytes end a line as well: a machine that lost power leaves runs of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TypeAlias

Read: TypeAlias = Callable[[int, int], bytes]
"""Returns the bytes at an offset; fewer at the end of the file."""

FIRST_PIECE = 8192
"""Bytes that are read first: they hold what is looked for in nearly every file."""

_PIECE = 1 << 18
LONGEST = 1 << 20
"""Bytes of a line that ``last_lines_with`` returns, at most; a longer one is passed over."""


def reader(handle: int) -> Read:
    """Return a ``read`` for an open file."""
    return lambda offset, size: os.pread(handle, size, offset)


def first_lines(read: Read, size: int, limit: int) -> Iterator[bytes]:
    """Yield the lines of a file from its beginning, without their newlines and empty ones.

    Args:
        read: Reads the file.
        size: Bytes of the file; a last line without a newline is yielded too.
        limit: Bytes to read, at most; a line that goes on behind them is not yielded.
    """
    end = min(size, limit)
    start, piece = 0, FIRST_PIECE
    pending: list[bytes] = []
    while start < end:
        data = read(start, min(piece, end - start))
        if not data:
            return
        start, piece = start + len(data), min(4 * piece, _PIECE)
        data = data.replace(b"\0", b"\n")
        if b"\n" not in data:
            pending.append(data)
            continue
        first, *lines = data.split(b"\n")
        if any(pending) or first:
            yield b"".join((*pending, first))
        # A file may hold gigabytes of NUL bytes, each of which counts as a line end.
        yield from filter(None, lines[:-1])
        pending = [lines[-1]]
    if start >= size and any(pending):
        yield b"".join(pending)


def last_lines_with(read: Read, start: int, end: int, *marks: bytes) -> Iterator[bytes]:
    """Yield the lines that hold one of some marks, the last one first.

    Args:
        read: Reads the file.
        start: Where to stop looking: the beginning of a line.
        end: Where to begin, going backwards: the end of a line.
        marks: What to look for; long ones are found fastest.
    """
    overlap = max(map(len, marks)) - 1
    stop = end
    while stop > start:
        low = max(start, stop - _PIECE)
        data = read(low, min(stop + overlap, end) - low)
        found = _last(data, stop - low, marks)
        while found >= 0:
            line_start, line = _line_at(read, low + found, start, end)
            if line is not None:
                yield line
            low = min(low, line_start)
            found = _last(data, line_start - low, marks) if line_start > low else -1
        stop = low


def _last(data: bytes, end: int, marks: tuple[bytes, ...]) -> int:
    """Return where the last of the marks is that begins before ``end``; -1 for none."""
    return max(data.rfind(mark, 0, end + len(mark) - 1) for mark in marks)


def _line_at(read: Read, place: int, start: int, end: int) -> tuple[int, bytes | None]:
    """Return where the line begins that holds a place, and the line unless it is too long."""
    low = max(start, place - LONGEST)
    before = read(low, place - low).replace(b"\0", b"\n")
    cut = before.rfind(b"\n")
    line_start = low + cut + 1
    if cut < 0 and low > start:
        return low, None
    behind = read(place, min(LONGEST, end - place)).replace(b"\0", b"\n")
    stop = behind.find(b"\n")
    if stop < 0 and place + len(behind) < end:
        return line_start, None
    return line_start, before[cut + 1 :] + (behind if stop < 0 else behind[:stop])
