r"""One JSON Lines file that a host may still be writing.

``LineFile`` handles bytes and lines, not their meaning. Usage by a decoder::

    file = LineFile(path)              # raises OSError
    for offset, line in file.advance():  # every line that is new since the last pass
        …
    for batch in file.batches():         # the same for long files: many lines at once
        …
    match file.state():
        case State.GREW: …advance() again: it goes on where it stopped
        case State.REPLACED: …forget everything and open a new LineFile
    file.read(offset, size)            # a line again, when its body is wanted

Lines end at ``\n`` bytes only, since hosts store U+2028 and similar characters unescaped. A last line without a
newline is delivered if it is a complete JSON object; otherwise the host is still writing it, and
it is not delivered yet. A file whose path was replaced can be read as long as its descriptor is
open (see ``files``); after that, reads return nothing, and never bytes of the other file.
"""

from __future__ import annotations

import errno
import re
from enum import Enum
from io import BytesIO
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hindnote.core.errors import Refused
from hindnote.core.history.files import OpenFile
from hindnote.core.history.jsontext import Unreadable, parse
from hindnote.core.history.projection import Damage
from hindnote.core.system.shortage import is_shortage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

RowT = TypeVar("RowT")

FILE_LIMIT = 1 << 30
"""Maximum size of a file in bytes; a larger one is refused before it is read."""

LINE_LIMIT = 128 << 20
"""Maximum length of a line in bytes; a longer one is skipped, and counts as damaged."""

_CHUNK = 1 << 17
_PROBE = 1024

_PIECES = re.compile(rb"\0+|[^\0]+")
_PASSED_OVER = b"\0\n"
"""Placeholder for a line that was too long to keep."""


def rewritten_meanwhile(path: object) -> Refused:
    """Return the refusal to read lines of a file that have changed since they were indexed."""
    return Refused("unreadable_session", f"{path} was rewritten while it was read; ask again")


class State(Enum):
    """How a file has changed since it was last read."""

    SAME = "same"
    GREW = "grew"
    REPLACED = "replaced"
    """Truncated, rewritten, rotated or deleted: all that was read before is invalid."""


class Batch(NamedTuple):
    """Consecutive lines of a file, as three lists of the same length."""

    offsets: list[int]
    sizes: list[int]
    """Length of each line in bytes, without its newline."""

    lines: list[bytes]
    """The lines, including blank ones, each with its newline if it has one."""

    def filled(self) -> Iterator[tuple[int, bytes]]:
        """Yield the offset and bytes of each non-blank line, without its newline.

        NUL bytes also end a line, and each run of them is yielded as an unreadable line: after a
        power failure they appear where a file had already been extended.
        """
        for offset, size, line in zip(*self, strict=True):
            if not size or line.isspace():
                continue
            if b"\0" not in line:
                yield offset, line[:size]
                continue
            for piece in _PIECES.finditer(line[:size]):
                if not piece.group().isspace():
                    yield offset + piece.start(), piece.group()

    def decoded(
        self,
        decode: Callable[[bytes], RowT],
        keep: Callable[[RowT, int, int], bool],
        take: Callable[[list[Any], list[int], list[int]], None],
        damaged: Callable[[Damage], None],
    ) -> None:
        """Decode the lines one by one, if decoding the batch as a whole failed.

        Args:
            decode: Decodes a line into a row; raises ``Unreadable``.
            keep: Returns whether to take a row, given its offset and size as well.
            take: Receives rows with their offsets and sizes: all rows between two damaged lines.
            damaged: Receives each line that cannot be decoded, after the rows before it.
        """
        rows: list[RowT] = []
        offsets: list[int] = []
        sizes: list[int] = []
        for offset, line in self.filled():
            try:
                row = decode(line)
            except Unreadable as error:
                take(rows, offsets, sizes)
                rows, offsets, sizes = [], [], []
                damaged(Damage(offset, len(line), str(error)))
                continue
            if keep(row, offset, len(line)):
                rows.append(row)
                offsets.append(offset)
                sizes.append(len(line))
        take(rows, offsets, sizes)


class LineFile:
    """A JSON Lines file, read up to the point to which it has been written.

    Only ``read`` is thread-safe: one thread at a time may advance it.

    Args:
        path: The file. A relative path is used as it is.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = OpenFile(path)
        self._known = self._file.status()
        self._end = 0
        self._open_line = False
        self._probes: list[tuple[int, bytes]] = []

    @property
    def end(self) -> int:
        """Offset up to which lines have been delivered."""
        return self._end

    def close(self) -> None:
        """Close the descriptor; a later read opens the file again."""
        self._file.close()

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the opened file; fewer when it was truncated or replaced.

        Raises:
            OSError: This process has no descriptors or memory left.
        """
        try:
            data = self._file.read(size, offset)
            if len(data) in (size, 0):
                return data
            parts = [data]
            while data and (missing := size - sum(map(len, parts))):
                data = self._file.read(missing, offset + size - missing)
                parts.append(data)
        except OSError as error:
            if is_shortage(error):
                raise
            return b""
        return b"".join(parts)

    def rewritten(self) -> bool:
        """Return whether bytes that were read have changed since, judged by the file's two ends."""
        try:
            now = self._file.status()
        except OSError as error:
            if is_shortage(error):
                raise
            return True
        if now.st_size < self._end:
            return True
        known = self._known
        unchanged = (now.st_size, now.st_mtime_ns) == (known.st_size, known.st_mtime_ns)
        return not unchanged and not self._begins_and_ends_as_before()

    def _begins_and_ends_as_before(self) -> bool:
        return all(self.read(offset, len(data)) == data for offset, data in self._probes)

    def state(self) -> State:
        """Return how the file has changed, without reading new lines."""
        try:
            now = self.path.stat()
        except OSError:
            return State.REPLACED
        known = self._known
        if (now.st_dev, now.st_ino) != (known.st_dev, known.st_ino) or now.st_size < self._end:
            return State.REPLACED
        if (now.st_size, now.st_mtime_ns) == (known.st_size, known.st_mtime_ns):
            return State.SAME
        if not self._begins_and_ends_as_before():
            return State.REPLACED
        if self._open_line and self.read(self._end, 1) not in (b"", b"\n"):
            # More text after a complete object: it was not the whole line after all.
            return State.REPLACED
        return State.GREW

    def advance(self) -> Iterator[tuple[int, bytes]]:
        """Yield the byte offset and content of each new line, without its newline.

        Skips blank lines. Exhaust the iterator before calling this again.
        """
        for batch in self.batches():
            yield from batch.filled()

    def batches(self) -> Iterator[Batch]:
        """Yield the new lines in batches, as they were read.

        Exhaust the iterator before calling this again.

        Raises:
            OSError: ``EFBIG`` when the file is larger than ``FILE_LIMIT``.
        """
        self._known = self._file.status()
        limit = self._known.st_size
        if limit > FILE_LIMIT:
            self._file.close()
            raise OSError(
                errno.EFBIG, f"it has {limit:,} bytes, and at most {FILE_LIMIT:,} are read"
            )
        offset = self._end
        if self._open_line and limit > offset:
            offset += 1
            self._open_line = False
        self._end = offset
        for lines in self._pieces(offset, limit):
            offset = self._end
            if isinstance(lines, int):
                self._end = offset + lines
                yield Batch([offset], [lines - 1], [_PASSED_OVER])
            elif lines[-1].endswith(b"\n"):
                lengths = list(map(len, lines))
                *offsets, self._end = accumulate(lengths, initial=offset)
                yield Batch(offsets, [length - 1 for length in lengths], lines)
            elif _is_whole(lines[0]):
                self._open_line = True
                self._end = offset + len(lines[0])
                yield Batch([offset], [len(lines[0])], lines)
        self._remember_probes()

    def _pieces(self, start: int, limit: int) -> Iterator[list[bytes] | int]:
        """Yield lines with their newlines; a last one without a newline comes in a list of its own.

        For a line longer than ``LINE_LIMIT``, only its length is yielded.
        """
        pending: list[bytes] = []
        length = 0
        """Length of the current line so far; greater than that of ``pending`` if it is too
        long."""
        while start < limit:
            chunk = self._file.read(min(_CHUNK, limit - start), start)
            if not chunk:
                break
            start += len(chunk)
            # Finds newlines several times faster than bytes.split.
            lines = BytesIO(chunk).readlines()
            rest = [] if chunk.endswith(b"\n") else [lines.pop()]
            ended = bool(lines)
            if lines and length > LINE_LIMIT:
                yield length + len(lines.pop(0))
            elif lines:
                lines[0] = b"".join((*pending, lines[0]))
            if lines:
                yield lines
            if ended:
                pending, length = [], 0
            pending += rest
            length += sum(map(len, rest))
            if length > LINE_LIMIT:
                pending = []
        if pending:
            yield [b"".join(pending)]

    def _remember_probes(self) -> None:
        head = min(_PROBE, self._end)
        tail = max(0, self._end - _PROBE)
        self._probes = [(0, self.read(0, head)), (tail, self.read(tail, self._end - tail))]


def _is_whole(line: bytes) -> bool:
    """Return whether a line without a newline is a complete object."""
    line = line[line.rfind(b"\0") + 1 :]
    if not line.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(parse(line), dict)
    except Unreadable:
        return False
