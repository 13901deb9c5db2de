"""One session of Codex, read from its files and extended while the last of them grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct

from hindnote.hosting import Batch, Branch, Damage, LineFile, Refused, rewritten_meanwhile
from hindnote.hosts.codex.format.header import Head, find_head
from hindnote.hosts.codex.format.packed import unpack
from hindnote.hosts.codex.format.rows import Row, read_row, read_rows
from hindnote.hosts.codex.paths import PACKED
from hindnote.hosts.codex.sessions.lineage import Step, lineage_of
from hindnote.hosts.codex.sessions.spine import Spine

_NO_SESSION = 100
"""Number of damaged lines without any row of Codex after which a file is not a session."""

_FILES = 255


class State(Struct, frozen=True):
    """How much of a session was read. What is within it never changes again."""

    head: Head | None
    last_seq: int
    branch: Branch
    windows: tuple[int, ...]
    damaged: tuple[Damage, ...]
    missing: str | None = None


class Rollout:
    """The decoded files of one session.

    Args:
        file: The session's own file, just opened.

    Raises:
        Refused: ``unreadable_session`` when the file is not a rollout, or cannot be unpacked.
    """

    def __init__(self, file: LineFile) -> None:
        self._start(file)

    def _start(self, file: LineFile) -> None:
        """Read the session from its first row."""
        self.path = file.path
        self.spine = Spine()
        self._temporary: list[Any] = []
        self._damaged: list[Damage] = []
        self._own = self._lines(file.path, file)
        self._head = find_head(self._own.read, _size(self._own.path))
        self._lineage = lineage_of(file.path, self._head)
        self.files = self._inherit(self._lineage.steps)
        self.files.append(self._own)
        self._read_on()

    def _lines(self, path: Path, opened: LineFile | None = None) -> LineFile:
        """Return the lines of a rollout, which is unpacked if it is compressed."""
        if not path.name.endswith(PACKED):
            return opened or LineFile(path)
        temporary = unpack(path)
        self._temporary.append(temporary)
        return LineFile(Path(temporary.name))

    def _inherit(self, steps: Sequence[Step]) -> list[LineFile]:
        """Read the files before the session's own."""
        files: list[LineFile] = []
        numbers: dict[str, int] = {}
        for step in steps[-_FILES:]:
            if files:
                self._go_on(step.base, numbers)
            file = self._lines(step.file)
            numbers[step.rollout] = len(files)
            files.append(file)
            for batch in file.batches():
                if step.end is not None and batch.offsets[-1] >= step.end:
                    kept = [at for at, offset in enumerate(batch.offsets) if offset < step.end]
                    lines = [batch.lines[at] for at in kept]
                    self._take(lines, batch.offsets[: len(kept)], batch.sizes[: len(kept)])
                    break
                self._take(batch.lines, batch.offsets, batch.sizes)
            file.close()
        if files:
            self._go_on(self._head.base if self._head is not None else None, numbers)
            # Only damage in the session's own file is counted.
            self._damaged.clear()
        return files

    def _go_on(self, base: Any, numbers: dict[str, int]) -> None:
        number = numbers.get(base.rollout) if base is not None else None
        self.spine.begin_next(number, base.end if base is not None else 0)

    def extend(self) -> None:
        """Read the new lines of the session, and publish the new state.

        Raises:
            Refused: ``unreadable_session`` when the file is no rollout.
        """
        if self._temporary:
            # A compressed file does not grow by lines, so it is unpacked again.
            self._start(LineFile(self.path))
        else:
            self._read_on()

    def _read_on(self) -> None:
        for batch in self._own.batches():
            self._take(batch.lines, batch.offsets, batch.sizes)
        if self._head is None:
            self._head = find_head(self._own.read, self._own.end)
        if self._head is None and not self.spine.known and self._own.end:
            self._refuse()
        branch, windows = self.spine.published()
        self.state = State(
            self._head,
            len(self.spine.offsets),
            branch,
            windows,
            tuple(self._damaged),
            self._lineage.missing,
        )

    def _take(self, lines: list[bytes], offsets: list[int], sizes: list[int]) -> None:
        if not lines:
            return
        rows = read_rows(lines)
        if rows is not None:
            self.spine.add(rows, offsets, sizes)
            return

        def keep(row: Row, offset: int, size: int) -> bool:
            return True

        Batch(offsets, sizes, lines).decoded(read_row, keep, self.spine.add, self._damage)

    def _damage(self, damage: Damage) -> None:
        self._damaged.append(damage)
        if len(self._damaged) > _NO_SESSION and self._head is None and not self.spine.known:
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise Refused(
            "unreadable_session", f"{self.path} is no rollout of Codex: it has no session_meta row"
        )

    def line(self, seq: int) -> bytes:
        """Return the line of a slot.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        at = seq - 1
        return self._read(self.spine.files[at], self.spine.offsets[at], self.spine.sizes[at])

    def failed(self, seq: int) -> bool | None:
        """Return whether a call failed, by the outcome of its result; None without an outcome."""
        return self.spine.failed.get(seq)

    def _read(self, number: int, offset: int, size: int) -> bytes:
        file = self.files[number]
        data = file.read(offset, size)
        if len(data) < size or file.rewritten():
            self.refuse_rewritten()
        return data

    def refuse_rewritten(self) -> NoReturn:
        """Refuse to read lines that have changed since they were indexed.

        Raises:
            Refused: ``unreadable_session``.
        """
        raise rewritten_meanwhile(self.path)


def _size(path: Path) -> int:
    return path.stat().st_size
