"""The spine of one Pi session: seqs, tree and call ids in arrays that are extended in place.

Only new lines are read. The arrays only grow, so readers may continue while another thread extends
the index, as long as they stay within a ``State``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, NoReturn, Protocol

from msgspec import UNSET, Struct

from hindnote.core.errors import Refused
from hindnote.core.history.lines import rewritten_meanwhile
from hindnote.core.history.projection import Damage, SlotKind
from hindnote.hosts.pi.format.entries import (
    ABORTED,
    CONTEXT_TYPES,
    KNOWN_TYPES,
    Assistant,
    Command,
    Custom,
    Entry,
    ToolResult,
    User,
    read_row,
    read_rows,
    row_times,
)
from hindnote.hosts.pi.format.header import HEADER_WITHIN, Header
from hindnote.hosts.pi.sessions.ids import Ids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hindnote.core.history.lines import Batch

_ROOT = -1
_NO_SESSION = 100
"""Number of damaged lines without any entry after which a file is rejected."""

_SILENT = frozenset({"text", "thinking", ""})
"""Types of an answer's blocks that show nothing unless they contain a text."""

# Plain integers, since looking up a member of an IntEnum takes time.
_NOTHING = int(SlotKind.NOTHING)
_ASSISTANT = int(SlotKind.ASSISTANT)
_CALL = int(SlotKind.CALL)
_RESULT = int(SlotKind.RESULT)
_CONTEXT = int(SlotKind.CONTEXT)
_KINDS: dict[type, int] = {
    User: int(SlotKind.USER),
    Command: int(SlotKind.COMMAND),
    Custom: _CONTEXT,
}


class Source(Protocol):
    """The source of a session's lines: its file, or the running host."""

    def batches(self) -> Iterator[Batch]:
        """Yield the new lines, with positions as offsets."""
        ...

    def read(self, offset: int, size: int) -> bytes:
        """Return a line again, by the position and size with which it was delivered."""
        ...

    def rewritten(self) -> bool:
        """Return whether lines that were delivered have changed since."""
        ...


class State(Struct, frozen=True):
    """How far a session was read; everything within it is final."""

    entries: int = 0
    last_seq: int = 0
    header: Header | None = None
    name: str | None = None
    damaged: tuple[Damage, ...] = ()


class Index:
    """The index of a session, without its texts.

    Args:
        source: The session's lines; read to their current end.
        label: The session's file or id, for messages.

    Raises:
        Refused: ``unreadable_session`` when the lines are not a Pi session.
    """

    def __init__(self, source: Source, label: str) -> None:
        self.source = source
        self.label = label
        self.state = State()
        # One item per entry; ``firsts`` has one more, the next free seq.
        self.offsets = array("q")
        self.sizes = array("q")
        self.firsts = array("q", [1])
        # A run is an unbroken chain of entries, each the parent of the next.
        self.run_starts: list[int] = []
        self.run_parents: list[int] = []
        # One item per seq.
        self.kinds = bytearray()
        self.times = array("d")
        # One item per slot of a call or result, and per slot of a call, in order of seq.
        self.call_ids: list[str] = []
        self.tools: list[str] = []
        self.aborted: list[int] = []
        self.compactions: list[int] = []
        self._ids = Ids()
        self._last_id = ""
        self._open_calls: dict[str, str] = {}
        self._tool_names: dict[str, str] = {}
        self._header: Header | None = None
        self._name: str | None = None
        self._damaged: list[Damage] = []
        self._known = False
        self._strange = False
        self.extend()

    def extend(self) -> None:
        """Read every new line and publish the new state.

        Raises:
            Refused: ``unreadable_session`` when the lines are not a Pi session.
        """
        for batch in self.source.batches():
            opening = self._header is None and batch.offsets[0] < HEADER_WITHIN
            rows = None if opening else read_rows(batch.lines)
            if rows is None:
                batch.decoded(read_row, self._is_entry, self._add, self._damage)
            else:
                self._add(rows, batch.offsets, batch.sizes)
        self._ids.settle()
        if not self._is_session() and (self._damaged or self.offsets or self._strange):
            self._refuse()
        self._publish()

    def _is_entry(self, row: Entry | Header | None, offset: int, size: int) -> bool:
        """Return whether a row is an entry; keeps the first header, and records unknown rows."""
        if type(row) is Entry:
            return True
        if type(row) is Header and self._header is None and offset + size <= HEADER_WITHIN:
            self._header = row
        else:
            self._strange = True
        return False

    def find(self, entry_id: str) -> int | None:
        """Return the latest entry with an id; None when there is none."""
        return self._ids.find(entry_id)

    def entry_of(self, seq: int) -> int:
        """Return the entry to which a seq belongs; the seq must be within the state."""
        return bisect_right(self.firsts, seq) - 1

    def line(self, entry: int) -> bytes:
        """Return an entry's line.

        Raises:
            Refused: ``unreadable_session`` when the file was truncated meanwhile.
        """
        size = self.sizes[entry]
        data = self.source.read(self.offsets[entry], size)
        if len(data) < size:
            self.refuse_rewritten()
        return data

    def refuse_rewritten(self) -> NoReturn:
        """Refuse to read lines that have changed since they were indexed.

        Raises:
            Refused: ``unreadable_session``.
        """
        raise rewritten_meanwhile(self.label)

    def _publish(self) -> None:
        old = self.state.damaged
        same = len(old) == len(self._damaged)
        self.state = State(
            entries=len(self.offsets),
            last_seq=len(self.kinds),
            header=self._header,
            name=self._name,
            damaged=old if same else tuple(self._damaged),
        )

    def _damage(self, damage: Damage) -> None:
        self._damaged.append(damage)
        if len(self._damaged) > _NO_SESSION and not self._is_session():
            self._refuse()

    def _is_session(self) -> bool:
        return self._header is not None or self._known or bool(self.kinds)

    def _refuse(self) -> None:
        raise Refused(
            "unreadable_session",
            f"{self.label} is no Pi session: it has neither a session header nor entries of Pi",
        )

    def _add(self, rows: list[Entry], offsets: list[int], sizes: list[int]) -> None:
        """Add a batch of entries; adding them one by one would take twice as long."""
        self.offsets.fromlist(offsets)
        self.sizes.fromlist(sizes)
        ids = [row.id for row in rows]
        befores = [self._last_id, *ids]
        self._last_id = befores.pop()
        if [row.parentId for row in rows] != befores or "" in befores:
            for place, (row, before) in enumerate(zip(rows, befores, strict=True)):
                if row.parentId != before or not before:
                    self._start_run(self._ids.count + place, row, ids[:place])
        self._ids.append(ids)
        self._allot(rows)

    def _start_run(self, entry: int, row: Entry, fresh: list[str]) -> None:
        """Find the parent of an entry that does not name the one before it."""
        # Session version 1 has no ids, and the line of a parent may be damaged.
        parent = entry - 1
        if row.parentId is None:
            parent = _ROOT
        elif row.parentId is not UNSET:
            found = self._ids.find(row.parentId, fresh)
            parent = entry - 1 if found is None else found
        if parent != entry - 1 or not entry:
            self.run_starts.append(entry)
            self.run_parents.append(parent)

    def _allot(self, rows: list[Entry]) -> None:
        """Allocate the seqs of entries, by kind and role only.

        A single loop over local lists, since building an index takes most of its time here.
        """
        known = len(self.kinds)
        kinds: list[int] = []
        times: list[float] = []
        firsts: list[int] = []
        pairs, tools, names, calls = self.call_ids, self.tools, self._tool_names, self._open_calls
        for row, time in zip(rows, row_times(rows), strict=True):
            # Other types may have a message too, but their meaning is unknown.
            message = row.message if row.type == "message" else None
            if type(message) is ToolResult:
                # A result repeats its call's id; both refer to one string object.
                call_id = message.toolCallId or _nameless(known + len(kinds) + 1)
                pairs.append(calls.pop(call_id, call_id))
                kinds.append(_RESULT)
                times.append(time)
            elif type(message) is Assistant:
                text = len(kinds)
                kinds.append(_NOTHING)
                times.append(time)
                for block in message.content:
                    if block.type == "toolCall":
                        call_id = block.id or _nameless(known + len(kinds) + 1)
                        calls[call_id] = call_id
                        pairs.append(call_id)
                        tools.append(names.setdefault(block.name, block.name))
                        kinds.append(_CALL)
                        times.append(time)
                    elif block.text or block.type not in _SILENT:
                        kinds[text] = _ASSISTANT
                if message.stopReason in ABORTED:
                    self.aborted.extend(range(known + text + 2, known + len(kinds) + 1))
            elif (kind := self._other_slot(row, known + len(kinds) + 1)) is not None:
                kinds.append(kind)
                times.append(time)
            firsts.append(known + len(kinds) + 1)
        self.kinds += bytes(kinds)
        self.times.fromlist(times)
        self.firsts.fromlist(firsts)

    def _other_slot(self, row: Entry, seq: int) -> int | None:
        """Return the kind of slot of an entry that is neither an answer nor a result.

        None for no slot.
        """
        type_ = row.type
        self._known = self._known or type_ in KNOWN_TYPES
        if type_ == "compaction":
            self.compactions.append(seq)
        elif type_ == "session_info":
            self._name = (row.name or "").strip() or None
        if type_ == "message":
            return _KINDS.get(type(row.message))
        return _CONTEXT if type_ in CONTEXT_TYPES else None


def _nameless(seq: int) -> str:
    """Return a unique id for a call or result without one, so that it is never paired."""
    return f"?{seq}"
