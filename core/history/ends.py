"""Find lines of a long file from either end without reading or keeping all of it.

Both functions take a ``read`` that returns bytes by offset and size. So they work for a catalogue,
which opens a file briefly, and for a decoder, which keeps it open. As in ``lines``, NUL bytes also
end a line: after a power failure a file may contain runs of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TypeAlias

Read: TypeAlias = Callable[[int, int], bytes]
"""Returns up to that many bytes at an offset; fewer at the end of the file."""

FIRST_PIECE = 8192
"""Bytes that are read first; in nearly every file they contain what is searched for."""

_PIECE = 1 << 18
LONGEST = 1 << 20
"""Maximum length in bytes of a line that ``last_lines_with`` returns; longer ones are skipped."""


def reader(handle: int) -> Read:
    """Return a ``read`` for an open file.

    It keeps the file's first piece, in which several facts are looked for one after another.
    """
    first: list[bytes] = []

    def read(offset: int, size: int) -> bytes:
        if offset or size > FIRST_PIECE:
            return os.pread(handle, size, offset)
        if not first:
            first.append(os.pread(handle, FIRST_PIECE, 0))
        return first[0][:size]

    return read


def first_lines(read: Read, size: int, limit: int) -> Iterator[bytes]:
    """Yield the lines of a file from its beginning, without newlines and without empty lines.

    Args:
        read: Reads the file.
        size: Size of the file; a last line without a newline is yielded too.
        limit: Maximum number of bytes to read; a line that extends beyond them is not yielded.
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
        if any(pending):
            yield b"".join((*pending, first))
        elif first:
            yield first
        # A file may contain gigabytes of NUL bytes, each of which counts as a line end.
        yield from filter(None, lines[:-1])
        pending = [lines[-1]]
    if start >= size and any(pending):
        yield b"".join(pending)


def last_lines_with(read: Read, start: int, end: int, *marks: bytes) -> Iterator[bytes]:
    """Yield the lines that contain at least one of the marks, last line first.

    Args:
        read: Reads the file.
        start: Where to stop: the beginning of a line.
        end: Where to begin, going backwards: the end of a line.
        marks: The byte strings to search for; long ones are found fastest.
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
    """Return the position of the last mark that begins before ``end``; -1 for none."""
    return max(data.rfind(mark, 0, end + len(mark) - 1) for mark in marks)


def _line_at(read: Read, place: int, start: int, end: int) -> tuple[int, bytes | None]:
    """Return the start of the line that contains a position, and the line unless it is too long."""
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
