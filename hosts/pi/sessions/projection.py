"""Pi sessions as projections: of their file, or of the running host's entries without one."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from hindnote.core.history.index_cache import FileCache
from hindnote.core.history.jsontext import parse
from hindnote.core.history.lines import Batch
from hindnote.core.history.projection import SessionHeader, SlotKind
from hindnote.core.history.recent import Recent
from hindnote.core.text.messages import quote
from hindnote.hosts.pi.format.header import VERSIONS, id_in_name, parent_id
from hindnote.hosts.pi.format.line import ADDED_WORDS, Line
from hindnote.hosts.pi.sessions.branch import branch_behind, branch_to, windows
from hindnote.hosts.pi.sessions.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hindnote.core.history.projection import Branch, Damage, SlotFacts
    from hindnote.core.plugins.models import LiveEntries
    from hindnote.core.presentation.models import Presentation
    from hindnote.hosts.pi.sessions.index import State

HOST = "pi"
_LEAVES_KEPT = 4
_FEW_SLOTS = 4
"""Number of slots up to which an entry's line is decoded again for each slot."""

_KINDS = {int(kind): kind for kind in SlotKind}


class PiProjection:
    """One state of a Pi session, for one leaf.

    Args:
        index: The session.
        state: How far it was read.
        branch: The branch from the root to the leaf.
        missing: The requested leaf, if the session does not contain it.
    """

    def __init__(
        self, index: Index, state: State, branch: Branch, missing: str | None = None
    ) -> None:
        self._index = index
        self._state = state
        self._branch = branch
        self._missing = missing
        self._windows = windows(index, branch)
        self._shared: Recent[int, Line] = Recent()

    @cached_property
    def header(self) -> SessionHeader:
        """The facts about the session as a whole."""
        header = _header(self._state, self._index.label)
        if self._missing is None:
            return header
        lacks = f"{self._index.label} has no entry {quote(self._missing)}"
        note = f"{lacks} to stand at; this is the branch of its last entry"
        return replace(header, note=f"{header.note}; {note}" if header.note else note)

    @property
    def last_seq(self) -> int:
        """The highest seq allocated on any branch."""
        return self._state.last_seq

    @property
    def branch(self) -> Branch:
        """The active branch."""
        return self._branch

    @property
    def damaged(self) -> Sequence[Damage]:
        """Lines that were skipped."""
        return self._state.damaged

    @property
    def windows(self) -> Sequence[int]:
        """First seq of each window; a compaction's summary begins a new window."""
        return self._windows

    def facts(self, seq: int) -> SlotFacts:
        """Return the content of a slot.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        entry = self._index.entry_of(seq)
        kind = _KINDS[self._index.kinds[seq - 1]]
        found = self._line(entry).facts(kind, seq - self._index.firsts[entry])
        if self._index.source.rewritten():
            self._index.refuse_rewritten()
        return found

    @property
    def added_words(self) -> tuple[str, ...]:
        """Words that ``facts`` adds to the text of the lines."""
        return ADDED_WORDS

    def raw(self, seq: int) -> tuple[bytes]:
        """Return the line from which ``facts`` builds the texts of a slot.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        entry = self._index.entry_of(seq)
        return (self._line(entry).data if self._is_shared(entry) else self._index.line(entry),)

    def kind_at(self, seq: int) -> SlotKind | None:
        """Return the kind of the slot at a seq, on any branch."""
        return _KINDS[self._index.kinds[seq - 1]] if 0 < seq <= self.last_seq else None

    def presentation(self, seq: int, result: int | None) -> Presentation | None:
        """Return the structured form of an event of Pi's own tools, for viewers.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        # Imported here, since only viewers need the models.
        from hindnote.hosts.pi.presentation.parse import present, present_command

        message = self.entry(seq if result is None else result)["message"]
        if self._index.kinds[seq - 1] == SlotKind.COMMAND:
            return present_command(message)
        arguments = None if result is None else self.facts(seq).arguments
        return present(message, None if arguments is None else parse(arguments.encode()))

    def _line(self, entry: int) -> Line:
        if self._is_shared(entry):
            return self._shared.get(entry, self._open)
        return self._open(entry)

    def _open(self, entry: int) -> Line:
        try:
            return Line(self._index.line(entry))
        except msgspec.MsgspecError:
            # The line was valid when it was indexed, so the file has changed.
            self._index.refuse_rewritten()

    def _is_shared(self, entry: int) -> bool:
        """Return whether an entry has so many slots that its decoded line is worth caching."""
        firsts = self._index.firsts
        return firsts[entry + 1] - firsts[entry] > _FEW_SLOTS

    def entry(self, seq: int) -> dict[str, Any]:
        """Return the native entry to which a seq belongs, as plain data.

        Raises:
            Refused: ``unreadable_session`` when the file was rewritten meanwhile.
        """
        value: dict[str, Any] = parse(self._index.line(self._index.entry_of(seq)))
        return value


class Session:
    """One session while it grows: its projections, each built once. Thread-safe.

    Args:
        index: The session's index; nothing else may extend it.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._lock = Lock()
        self._made: OrderedDict[int, tuple[State, PiProjection]] = OrderedDict()
        """By leaf entry, least recently used first."""

    def extend(self) -> None:
        """Read the lines that were appended to the session."""
        with self._lock:
            self._index.extend()

    def projection(self, leaf_id: str | None) -> PiProjection:
        """Return the current state of the session, for a leaf.

        Args:
            leaf_id: The current entry of the live session. For None the last entry is used; also
                when the session does not contain it (yet), which the header's note then says.
        """
        with self._lock:
            state = self._index.state
            last = state.entries - 1
            leaf = self._index.find(leaf_id) if leaf_id else last
            if leaf is not None and leaf <= last:
                return self._seen_from(leaf, state)
            branch = self._seen_from(last, state).branch
            return PiProjection(self._index, state, branch, leaf_id)

    def _seen_from(self, leaf: int, state: State) -> PiProjection:
        held = self._made.get(leaf)
        if held is not None and held[0] is state:
            self._made.move_to_end(leaf)
            return held[1]
        projection = PiProjection(self._index, state, self._branch(leaf))
        self._made[leaf] = (state, projection)
        self._made.move_to_end(leaf)
        while len(self._made) > _LEAVES_KEPT:
            self._made.popitem(last=False)
        return projection

    def _branch(self, leaf: int) -> Branch:
        if leaf in self._made:
            return self._made[leaf][1].branch
        for old_leaf in sorted((old for old in self._made if old < leaf), reverse=True):
            old = self._made[old_leaf][1].branch
            branch = branch_behind(self._index, old, old_leaf, leaf)
            if branch is not None:
                # A lineage continues in only one branch, so the older one must not be extended
                # again.
                del self._made[old_leaf]
                return branch
        return branch_to(self._index, leaf)


class LiveLines:
    """The entries of a session without a file, as the running host sent them.

    Args:
        entries: The entries that the host's shim sent; valid for one generation.
    """

    def __init__(self, entries: LiveEntries) -> None:
        self.entries = entries
        self.generation = entries.generation
        self._lines: list[bytes] = []

    def batches(self) -> Iterator[Batch]:
        """Yield the new entries, with their numbers as offsets."""
        known = len(self._lines)
        lines = self.entries.lines[known:]
        self._lines += lines
        if lines:
            yield Batch([*range(known, known + len(lines))], [*map(len, lines)], lines)

    def read(self, offset: int, size: int) -> bytes:
        """Return an entry again, by its number."""
        return self._lines[offset][:size]

    def rewritten(self) -> bool:
        """Return False, since sent entries never change."""
        return False


class Sessions:
    """The sessions of this process, decoded once and extended while they grow."""

    def __init__(self) -> None:
        self._files = FileCache(lambda file: Session(Index(file, str(file.path))))
        self._lock = Lock()
        self._live: tuple[LiveLines, Session] | None = None

    def of_file(
        self, path: Path, leaf_id: str | None = None, *, running: bool = False
    ) -> PiProjection | None:
        """Return the session in a file; None when the file does not exist.

        Args:
            path: The file.
            leaf_id: The current entry of the live session; None: its last one.
            running: Whether the call belongs to this session.

        Raises:
            Refused: ``unreadable_session``, with the reason.
        """
        session = self._files.session(path, running=running)
        return None if session is None else session.projection(leaf_id)

    def of_live(
        self, entries: LiveEntries, session_id: str, leaf_id: str | None = None
    ) -> PiProjection:
        """Return the session that the running host has in memory.

        Raises:
            Refused: ``unreadable_session``, when the entries are not Pi's.
        """
        with self._lock:
            held = self._live
            if held and held[0].entries is entries and held[0].generation == entries.generation:
                session = held[1]
                session.extend()
            else:
                lines = LiveLines(entries)
                session = Session(Index(lines, session_id))
                self._live = (lines, session)
        return session.projection(leaf_id)


def _header(state: State, label: str) -> SessionHeader:
    header = state.header
    if header is None:
        note = f"{label} has no readable header; its id is taken from the file's name"
        return SessionHeader(
            HOST, id_in_name(label), name=state.name, note=note if state.entries else None
        )
    known = header.version in VERSIONS
    note = f"Pi session version {header.version} is unknown; read like version {VERSIONS[-1]}"
    return SessionHeader(
        HOST,
        header.id,
        started=header.timestamp,
        cwd=header.cwd,
        parent=parent_id(header.parent, Path(label)) if header.parent else None,
        name=state.name,
        note=None if known else note,
    )
