"""The spine of a transcript: every row of the conversation, as numbers.

Rows are numbered from 0 in file order, seqs from 1; a subagent's rows in a main
session's file have neither. The spine only grows, and says nothing of branches:
those are worked out from it by ``branch``.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field

from msgspec import UNSET

from hindnote.core.history.instants import instant
from hindnote.core.history.projection import SlotKind
from hindnote.hosts.claude.kinds import Slot, has_text, slots
from hindnote.hosts.claude.rows import CHAIN_TYPES, Compaction, Row

ROOT = -1
"""Parent of a row that has none."""

LOST = -2
"""Parent of a row whose recorded parent has not been read."""

NO_GROUP = -1

SPEAKER = 1
"""Flag of a user or assistant row: what the host takes for a leaf."""

ANSWER = 2
RESULT = 4
NOTE = 8
"""Flag of an attachment, a system row or a meta row."""

META = 16
BOUNDARY = 32
CLOSING = 64
"""Flag of a row that shows that the conversation went on."""

REPEATED = 128
"""Flag of a row whose id an earlier one had: it takes its slots and is nothing else."""

CALLS = 256
"""Flag of an answer's row that holds a call."""

LEADS_ON = 512
"""Flag of a note under which, through notes alone, the conversation goes on."""


@dataclass(slots=True)
class Checkpoint:
    """The newest ``last-prompt`` row that still counts."""

    named: bool = False
    leaf: str | None = None
    """None: the person went back to the empty conversation."""

    binding: bool = False

    def set(self, leaf: str | None, explicit: bool) -> None:
        """Take in a ``last-prompt`` row that has a leaf."""
        if leaf is None and not explicit:
            return
        if not explicit and self.named and self.binding and leaf == self.leaf:
            return
        self.named, self.leaf, self.binding = True, leaf, explicit

    def passed(self, boundary: bool) -> None:
        """Take in that a row of the conversation followed."""
        self.binding = False
        if boundary or self.leaf is None:
            self.named = False


@dataclass(slots=True)
class Known:
    """What the rows say of the session as a whole."""

    session_id: str | None = None
    agent_id: str | None = None
    started: str | None = None
    cwd: str | None = None
    origin: str | None = None
    """Id of the session from which rows were copied."""

    title: str | None = None

    def note(self, row: Row) -> None:
        """Take in one row."""
        if self.session_id is None:
            self.session_id = row.session_id
        if self.started is None:
            self.started = row.timestamp
        if self.cwd is None:
            self.cwd = row.cwd
        if self.agent_id is None:
            self.agent_id = row.agent_id
        if row.type == "custom-title":
            self.title = row.custom_title or self.title
        elif row.type == "summary":
            self.title = self.title or row.summary
        if self.origin is None:
            forked = row.forked_from.session_id if row.forked_from else None
            for named in (forked, row.request_session_id, row.session_id):
                if named and named != self.session_id:
                    self.origin = named
                    break


@dataclass(slots=True)
class Spine:
    """Arrays over rows, slots and responses.

    A *response* is what the model sent at once; its rows share a ``message.id``.
    Results belong to their call's response, and so do the notes under either.
    """

    subagent: bool = False
    known: Known = field(default_factory=Known)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)

    # by row
    offsets: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    firsts: array[int] = field(default_factory=lambda: array("q"))
    """First seq of each row."""
    times: array[float] = field(default_factory=lambda: array("d"))
    parents: array[int] = field(default_factory=lambda: array("i"))
    flags: array[int] = field(default_factory=lambda: array("H"))
    groups: array[int] = field(default_factory=lambda: array("i"))
    bases: array[int] = field(default_factory=lambda: array("i"))
    """Of a result the row of its call, of a note the row under which its chain hangs."""

    # by slot; seq 1 is at 0
    kinds: bytearray = field(default_factory=bytearray)
    calls: dict[int, str] = field(default_factory=dict)
    """Call ids of calls and results, by seq."""
    tools: dict[int, str] = field(default_factory=dict)
    """Tool names of calls, and of results whose call is known, by seq."""
    joined: dict[int, list[int]] = field(default_factory=dict)
    """Further text blocks of a response, by the seq of its first."""

    # by response
    starts: array[int] = field(default_factory=lambda: array("i"))
    """Lowest row of each response."""
    texts: array[int] = field(default_factory=lambda: array("q"))
    """Seq of a response's first text block, 0 without any."""
    calling: bytearray = field(default_factory=bytearray)
    """1 for a response that holds a call."""

    # by id
    rows: dict[str, int] = field(default_factory=dict)
    responses: dict[str, int] = field(default_factory=dict)
    callers: dict[str, int] = field(default_factory=dict)
    """Seq of the latest call with an id."""
    waiting: dict[str, list[int]] = field(default_factory=dict)
    """Rows whose parent has not been read, by the parent's id."""

    compactions: dict[int, tuple[str | None, Compaction | None]] = field(default_factory=dict)
    """Of each boundary: the id of the row before it, and what it preserved."""
    last: int = ROOT
    """The last row of the conversation."""
    boundary: int = ROOT
    """The newest compact boundary."""
    revision: int = 0
    """Grows when a row found its parent late, so that older rows moved."""
    stirred: int = 0
    """Lowest older row to which something new happened since ``settle``."""
    rewritten: bool = False
    """Whether an older text grew since ``settle``."""
    settled: int = 0
    """The highest seq at ``settle``."""

    @property
    def last_seq(self) -> int:
        """The highest seq allocated."""
        return len(self.kinds)

    def row_of(self, seq: int) -> int:
        """Return the row in which a seq lies."""
        return bisect_right(self.firsts, seq) - 1

    def seqs(self, row: int) -> range:
        """Return the seqs of a row."""
        after = row + 1
        end = self.firsts[after] if after < len(self.firsts) else self.last_seq + 1
        return range(self.firsts[row], end)

    def parent(self, row: int) -> int:
        """Return a row's parent; for a lost one the nearest earlier row, or ``ROOT``."""
        found = self.parents[row]
        return self.row_before(row) if found == LOST else found

    def row_before(self, row: int) -> int:
        """Return the nearest earlier row that repeats no other, ``ROOT`` for the first."""
        row -= 1
        while row >= 0 and self.flags[row] & REPEATED:
            row -= 1
        return row

    def settle(self) -> None:
        """Begin to watch for what later rows do to the ones that are here."""
        self.stirred = len(self.flags)
        self.settled = self.last_seq
        self.rewritten = False

    def add(self, row: Row, offset: int, size: int) -> None:
        """Take in the next row of the file."""
        self.known.note(row)
        if row.type == "last-prompt":
            if row.leaf_uuid is not UNSET:
                self.checkpoint.set(row.leaf_uuid, row.explicit)
        elif not row.uuid or (row.is_sidechain and not self.subagent):
            return
        elif row.type in CHAIN_TYPES:
            self._add(row, row.uuid, offset, size)
        elif row.uuid not in self.rows and row.parent_uuid in self.rows:
            # Older versions chained rows of further types; they only pass links on.
            self.rows[row.uuid] = self.rows[row.parent_uuid]

    def _add(self, row: Row, uuid: str, offset: int, size: int) -> None:
        number = len(self.flags)
        found = slots(row)
        self.offsets.append(offset)
        self.sizes.append(size)
        self.firsts.append(self.last_seq + 1)
        self.times.append(instant(row.timestamp))
        self.checkpoint.passed(boundary=row.subtype == "compact_boundary")
        if uuid in self.rows:
            self._append(ROOT, REPEATED)
            self.kinds.extend(bytes(len(found)))
            return
        flags = _flags(row, found)
        self._append(self._parent(row.parent_uuid, number), flags)
        self.last = self.rows[uuid] = number
        if flags & BOUNDARY:
            self.boundary = number
            self.compactions[number] = (row.logical_parent_uuid, row.compact_metadata)
        if flags & ANSWER:
            self._join_response(number, (row.message and row.message.id) or uuid)
        self._add_slots(number, found)
        if flags & (RESULT | NOTE):
            self._attach(number, row.source_tool_assistant_uuid)
        if not flags & NOTE:
            self._lead_on(self.parents[number])
        for child in self.waiting.pop(uuid, ()):
            self.parents[child] = number
            self.revision += 1

    def _append(self, parent: int, flags: int) -> None:
        self.parents.append(parent)
        self.flags.append(flags)
        self.groups.append(NO_GROUP)
        self.bases.append(ROOT)

    def _parent(self, uuid: str | None, number: int) -> int:
        if uuid is None:
            return ROOT
        found = self.rows.get(uuid)
        if found is None:
            self.waiting.setdefault(uuid, []).append(number)
            return LOST
        return found

    def _join_response(self, number: int, name: str) -> None:
        group = self.responses.setdefault(name, len(self.starts))
        if group == len(self.starts):
            self.starts.append(number)
            self.texts.append(0)
            self.calling.append(0)
        self.groups[number] = group
        if self.flags[number] & CALLS:
            self.calling[group] = 1
        self.stirred = min(self.stirred, self.starts[group])

    def _add_slots(self, number: int, found: list[Slot]) -> None:
        group = self.groups[number]
        for kind, block in found:
            seq = self.last_seq + 1
            self.kinds.append(kind)
            if kind == SlotKind.ASSISTANT:
                self._add_text(group, seq, block is None or has_text(block))
            elif kind == SlotKind.CALL and block is not None and block.id is not None:
                self.calls[seq] = sys.intern(block.id)
                self.tools[seq] = sys.intern(block.name or "")
                self.callers[self.calls[seq]] = seq
            elif kind == SlotKind.RESULT and block is not None and block.tool_use_id is not None:
                self.calls[seq] = sys.intern(block.tool_use_id)
                called = self.callers.get(self.calls[seq])
                if called is not None:
                    self.tools[seq] = self.tools[called]

    def _add_text(self, group: int, seq: int, has_text: bool) -> None:
        """Place a text block: the first of a response speaks for all of them."""
        first = self.texts[group]
        if first == 0:
            self.texts[group] = seq
            first = seq
        else:
            self.joined.setdefault(first, []).append(seq)
            self.rewritten = self.rewritten or first <= self.settled
        self.kinds[seq - 1] = SlotKind.NOTHING
        if has_text:
            self.kinds[first - 1] = SlotKind.ASSISTANT

    def _attach(self, number: int, source: str | None) -> None:
        """Find the response to which a result or a note belongs."""
        base = self._caller(number, source) if self.flags[number] & RESULT else ROOT
        if base == ROOT:
            base = self.parents[number]
            if base >= 0 and self.flags[base] & NOTE:
                base = self.bases[base]
        if base >= 0:
            self.bases[number] = base
            self.groups[number] = self.groups[base]

    def _lead_on(self, note: int) -> None:
        """Mark the notes through which the conversation went on."""
        while note >= 0 and self.flags[note] & NOTE and not self.flags[note] & LEADS_ON:
            self.flags[note] |= LEADS_ON
            self.stirred = min(self.stirred, note)
            note = self.parents[note]

    def _caller(self, number: int, source: str | None) -> int:
        """Return the row of the call that a result answers: as named, above it, or by id."""
        for row in (self.rows.get(source or "", ROOT), self.parents[number]):
            if row >= 0 and self.flags[row] & ANSWER:
                return row
        for seq in self.seqs(number):
            called = self.callers.get(self.calls.get(seq, ""))
            if called is not None:
                return self.row_of(called)
        return ROOT


def _flags(row: Row, found: list[Slot]) -> int:
    """Return the flags of a row that is no repetition."""
    kinds = [kind for kind, _ in found]
    if row.type == "assistant":
        return SPEAKER | ANSWER | (CALLS if SlotKind.CALL in kinds else 0)
    if row.type == "user":
        if SlotKind.RESULT in kinds:
            return SPEAKER | RESULT
        return SPEAKER | NOTE | META if row.is_meta else SPEAKER | CLOSING
    return NOTE | BOUNDARY | CLOSING if row.subtype == "compact_boundary" else NOTE
