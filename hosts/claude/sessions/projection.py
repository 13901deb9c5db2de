"""Claude Code sessions as projections of their files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import msgspec

from hindnote.core.errors import Refused
from hindnote.core.history.index_cache import FileCache
from hindnote.core.history.jsontext import parse
from hindnote.core.history.lines import LineFile, rewritten_meanwhile
from hindnote.core.history.projection import Branch, Damage, SessionHeader, SlotFacts, SlotKind
from hindnote.core.history.recent import Recent
from hindnote.hosts.claude.format.blocks import result_of
from hindnote.hosts.claude.format.header import find_header, find_task
from hindnote.hosts.claude.format.line import ADDED_WORDS, Line
from hindnote.hosts.claude.format.rows import CHAIN_TYPES, Row, decode, decode_all
from hindnote.hosts.claude.paths import HOST, TOOL_PREFIX
from hindnote.hosts.claude.sessions.branch_arrays import Assembly
from hindnote.hosts.claude.sessions.spine import Spine
from hindnote.hosts.claude.sessions.spine_builder import Growth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hindnote.core.presentation.models import Presentation

_KINDS = {int(kind): kind for kind in SlotKind}
_FEW_SLOTS = 4
"""Number of slots up to which a row's line is decoded again for each slot."""

_AT_ONCE = 512
_NO_SESSION = 100
"""Number of damaged lines without any row after which a file is rejected."""


class ClaudeProjection:
    """One state of a transcript."""

    def __init__(self, transcript: Transcript, branch: Branch, windows: Sequence[int]) -> None:
        self.header = transcript.header()
        self.branch = branch
        self.windows = windows
        self.damaged: Sequence[Damage] = tuple(transcript.damaged)
        self.last_seq = transcript.spine.last_seq
        # Does not refer to the transcript, which refers to its newest projection: such a cycle is
        # freed only by the garbage collector, which never runs in a process for a single call.
        self._lines = transcript.lines
        self._spine = transcript.spine
        self._shared: Recent[int, Line] = Recent()

    def facts(self, seq: int) -> SlotFacts:
        """Return the content of a slot on the active branch, decoded on demand.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        spine = self._spine
        line, ordinal = self._slot(seq)
        kind = _KINDS[spine.kinds[seq - 1]]
        tool = spine.tools[spine.place(seq)] if kind is SlotKind.RESULT else ""
        further = map(self._slot, self._further(seq))
        found = line.facts(kind, ordinal, tool or None, further)
        if self._lines.rewritten():
            self._lines.refuse_rewritten()
        return found

    @property
    def added_words(self) -> tuple[str, ...]:
        """Words that ``facts`` adds to the text of the lines."""
        return ADDED_WORDS

    def raw(self, seq: int) -> Iterator[bytes]:
        """Yield the lines from which ``facts`` builds the texts of a slot.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        row_of = self._spine.row_of
        for row in dict.fromkeys(map(row_of, (seq, *self._further(seq)))):
            yield self._line(row).data if self._is_shared(row) else self._lines.of(row)

    def kind_at(self, seq: int) -> SlotKind | None:
        """Return the kind of the slot at a seq, on any branch."""
        return _KINDS[self._spine.kinds[seq - 1]] if 0 < seq <= self.last_seq else None

    def presentation(self, seq: int, result: int | None) -> Presentation | None:
        """Return the structured form of an event of Claude Code's own tools, for viewers.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        # Imported here, since only viewers need the models.
        from hindnote.hosts.claude.presentation.parse import present

        at = seq if result is None else result
        row = self._spine.row_of(at)
        block, record = result_of(parse(self._lines.of(row)), at - self._spine.firsts[row])
        call = self.facts(seq)
        given = None if call.arguments is None else parse(call.arguments.encode())
        return present(block, record, call.tool, given)

    def _further(self, seq: int) -> list[int]:
        """Return the seqs of the answer's other text blocks, without those of a later state."""
        return [more for more in self._spine.joined.get(seq, ()) if more <= self.last_seq]

    def _slot(self, seq: int) -> tuple[Line, int]:
        row = self._spine.row_of(seq)
        return self._line(row), seq - self._spine.firsts[row]

    def _line(self, row: int) -> Line:
        return self._shared.get(row, self._open) if self._is_shared(row) else self._open(row)

    def _open(self, row: int) -> Line:
        try:
            return Line(self._lines.of(row))
        except msgspec.MsgspecError:
            # The line was valid when it was indexed, so the file has changed.
            self._lines.refuse_rewritten()

    def _is_shared(self, row: int) -> bool:
        """Return whether a row has so many slots that its decoded line is worth caching."""
        return len(self._spine.seqs(row)) > _FEW_SLOTS


class Lines:
    """The lines of a transcript's rows, read again on demand."""

    def __init__(self, file: LineFile, spine: Spine) -> None:
        self._file = file
        self._spine = spine

    def of(self, row: int) -> bytes:
        """Return a row's line.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        size = self._spine.sizes[row]
        data = self._file.read(self._spine.offsets[row], size)
        if len(data) < size:
            self.refuse_rewritten()
        return data

    def rewritten(self) -> bool:
        """Return whether lines that were read have changed since."""
        return self._file.rewritten()

    def refuse_rewritten(self) -> NoReturn:
        """Refuse to read lines that have changed since they were indexed.

        Raises:
            Refused: ``unreadable_session``.
        """
        raise rewritten_meanwhile(self._file.path)


class Transcript:
    """The decoded state of one file, extended while the file grows.

    Args:
        file: The opened file; it is read to its current end.

    Raises:
        Refused: ``unreadable_session`` when it is not a session of Claude Code.
    """

    def __init__(self, file: LineFile) -> None:
        self.spine = Spine()
        self._growth = Growth(self.spine)
        self.damaged: list[Damage] = []
        self._file = file
        self.lines = Lines(file, self.spine)
        self._assembly = Assembly()
        self._aside: list[tuple[Row, int, int]] = []
        """Rows of a subagent, kept until a row of a main session appears."""
        self._opened = False
        """Whether the conversation has begun."""
        self._header = find_header(file.path, file.read, 0)
        if self._header.agent is not None:
            self._growth.subagent = self._opened = True
        self.extend()

    def extend(self) -> None:
        """Decode the lines that were appended to the file, and publish the new state.

        Raises:
            Refused: ``unreadable_session`` when it is not a session of Claude Code.
        """
        for batch in self._file.batches():
            rows = decode_all(batch.lines) if self._opened else None
            if rows is None:
                batch.decoded(decode, self._is_taken, self._growth.take, self._damage)
            else:
                self._growth.take(rows, batch.offsets, batch.sizes)
        if self._aside:
            self._open_subagent()
        if not self._header.is_final:
            self._header = find_header(self._file.path, self._file.read, self._file.end)
        if self._file.end and not self._is_session():
            self._refuse()
        self._growth.guess()
        self._assembly.update(self.spine)
        self._growth.settle()
        self.projection = ClaudeProjection(self, self._assembly.branch, self._assembly.windows)

    def _is_taken(self, row: Row, offset: int, size: int) -> bool:
        return self._opened or not self._set_aside(row, offset, size)

    def _set_aside(self, row: Row, offset: int, size: int) -> bool:
        """Keep a subagent's row until the file's owner is known; return whether it was kept."""
        if row.uuid and row.is_sidechain:
            self._aside.append((row, offset, size))
            return True
        self._opened = bool(row.uuid) and row.type in CHAIN_TYPES
        if self._opened:
            self.spine.sidechained += len(self._aside)
            self._aside.clear()
        return False

    def _open_subagent(self) -> None:
        """Treat a file that only contains a subagent's conversation as that subagent's session."""
        self._growth.subagent = self._opened = True
        for start in range(0, len(self._aside), _AT_ONCE):
            rows, offsets, sizes = zip(*self._aside[start : start + _AT_ONCE], strict=True)
            self._growth.take(rows, offsets, sizes)
        self._aside.clear()

    def _is_session(self) -> bool:
        return bool(self.spine.offsets) or self._header.has_rows

    def _damage(self, damage: Damage) -> None:
        self.damaged.append(damage)
        if len(self.damaged) > _NO_SESSION and not self._is_session() and not self._aside:
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise Refused(
            "unreadable_session",
            f"{self._file.path} is no session of Claude Code: none of its rows names a session",
        )

    def header(self) -> SessionHeader:
        """Return the facts about the session as a whole."""
        found, known = self._header, self.spine.known
        path = self._file.path
        return SessionHeader(
            host=HOST,
            session_id=found.id or path.stem,
            started=found.started,
            cwd=found.cwd,
            parent=found.parent,
            name=find_task(path) if found.agent else known.title or known.summary,
            tool_prefix=TOOL_PREFIX,
            note=self._note(),
        )

    def _note(self) -> str | None:
        """Return a note about rows that are left out, or whose place had to be guessed."""
        spine, notes = self.spine, []
        if guessed := len(spine.guessed) + spine.followed:
            notes.append(
                f"{_rows(guessed)} not say what came before; the order of the file is "
                "taken for the order of the conversation"
            )
        if spine.unnamed:
            notes.append(f"{_rows(spine.unnamed)} not have a uuid and cannot be addressed")
        if spine.sidechained:
            notes.append(
                f"{_rows(spine.sidechained)} not belong to this conversation but to subagents "
                "that an older version recorded in the same file"
            )
        return f"{'; '.join(notes)}" if notes else None

    def line(self, row: int) -> bytes:
        """Return a row's line.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        return self.lines.of(row)


def _rows(count: int) -> str:
    return "1 row of the file does" if count == 1 else f"{count:,} rows of the file do"


def open_transcript(path: Path, *, running: bool = False) -> ClaudeProjection | None:
    """Return the current state of a transcript; None when the file does not exist.

    Args:
        path: The file.
        running: Whether the call belongs to this session.

    Raises:
        Refused: ``unreadable_session`` when it cannot be read, or is not a session.
    """
    transcript = _TRANSCRIPTS.session(path, running=running)
    return None if transcript is None else transcript.projection


_TRANSCRIPTS: FileCache[Transcript] = FileCache(Transcript)
