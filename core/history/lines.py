r"""One JSON Lines file that a host may still be writing.

``LineFile`` knows bytes and lines, not what they mean. Usage by a decoder::

    file = LineFile(path)              # raises OSError
    for offset, line in file.advance():  # every line that is new since the last pass
        …
    for batch in file.batches():         # the same for long files: many lines at once
        …
    match file.state():
        case State.GREW: …advance() again: it goes on where it stopped
        case State.REPLACED: …forget everything and open a new LineFile
    file.read(offset, size)            # a line again, when its body is wanted

Lines end at ``\n`` bytes only, since hosts store U+2028 and its like raw. A last
line without its newline is delivered when it is a whole JSON object, and held back
without complaint otherwise: the host is writing it. A file that was renamed over can be
read as long as its descriptor is open (see ``files``); after that, what is read
of it is nothing, and never the other file's bytes.
"""

from __future__ import annotations

import errno
import re
from enum import Enum
from io import BytesIO
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hindnote.core.history.files import OpenFile
from hindnote.core.history.jsontext import Unreadable, parse
from hindnote.core.history.projection import Damage
from hindnote.core.system.shortage import is_shortage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

RowT = TypeVar("RowT")

FILE_LIMIT = 1 << 30
"""Bytes of a file, at most; a larger one is refused before anything of it is read."""

LINE_LIMIT = 128 << 20
"""Bytes of a line, at most; a longer one is passed over, and counts as damaged."""

_CHUNK = 1 << 17
_PROBE = 1024

_PIECES = re.compile(rb"\0+|[^\0]+")
_PASSED_OVER = b"\0\n"
"""Stands for a line that was too long to keep."""


class State(Enum):
    """What became of a file since it was last read."""

    SAME = "same"
    GREW = "grew"
    REPLACED = "replaced"
    """Truncated, rewritten, rotated or gone: nothing read before holds."""


class Batch(NamedTuple):
    """Lines that follow each other in a file: three lists of the same length."""

    offsets: list[int]
    sizes: list[int]
    """Bytes of each line without its newline."""

    lines: list[bytes]
    """Blank ones too, and each with its newline if it has one."""

    def filled(self) -> Iterator[tuple[int, bytes]]:
        """Yield the offset and bytes of each line that is not blank, without its newline.

        NUL bytes end a line as well, and each run of them is a line that nobody can read:
        a machine that lost its power leaves them where a file had grown already.
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
        """Decode the lines one by one, for a batch that cannot be decoded as a whole.

        Args:
            decode: Makes a row of a line; it raises ``Unreadable``.
            keep: Returns whether a row is to be taken, given its offset and bytes as well.
            take: Gets rows with their offsets and bytes: all that lie between two damaged lines.
            damaged: Gets each line that cannot be decoded, after the rows before it.
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
    """A JSON Lines file, read as far as it has been written.

    Not thread-safe but for ``read``: one thread at a time advances it.

    Args:
        path: The file. A relative path is taken as it stands.

    Raises:
        OSError: It cannot be opened, or is no regular file.
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
        """Byte up to which lines were delivered."""
        return self._end

    def close(self) -> None:
        """Give the descriptor back; whoever reads again opens the file again."""
        self._file.close()

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the file as it was opened; fewer when it was truncated or replaced.

        Raises:
            OSError: This process has too few descriptors or too little memory.
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
        """Return whether bytes that were read have changed since, as far as its ends tell."""
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
        """Return what became of the file, without reading new lines."""
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
            # A whole object that goes on behind its end was no whole line after all.
            return State.REPLACED
        return State.GREW

    def advance(self) -> Iterator[tuple[int, bytes]]:
        """Yield each new line's byte offset and bytes, without its newline.

        Blank lines are left out. To be exhausted before it is called again.
        """
        for batch in self.batches():
            yield from batch.filled()

    def batches(self) -> Iterator[Batch]:
        """Yield the new lines, as many at once as were read at once.

        To be exhausted before it is called again.

        Raises:
            OSError: ``EFBIG`` when the file has more than ``FILE_LIMIT`` bytes.
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
        """Yield lines with their newlines; at last what has none, in a list of its own.

        Of a line that is longer than ``LINE_LIMIT`` only its length is yielded.
        """
        pending: list[bytes] = []
        length = 0
        """Bytes of the line that has begun; more than those in ``pending`` if it is too long."""
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
    """Return whether an unfinished line is a complete object all the same."""
    line = line[line.rfind(b"\0") + 1 :]
    if not line.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(parse(line), dict)
    except Unreadable:
        return False
