"""The spine of a transcript: arrays of numbers about every row of the conversation.

Rows are numbered from 0 in file order, seqs from 1; a subagent's rows in a main session's file
have neither. The spine only grows, and contains no branches: ``branch`` computes those from it.
``spine_builder`` builds the spine.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from hindnote.hosts.claude.format import kinds
from hindnote.hosts.claude.sessions.ids import Ids
from hindnote.hosts.claude.sessions.session import Checkpoint, Known

if TYPE_CHECKING:
    from hindnote.hosts.claude.format.rows import Compaction

ROOT = -1
"""Parent of a row without a parent."""

LOST = -2
"""Parent of a row whose recorded parent has not been read."""

NO_GROUP = -1

SPEAKER = 1
"""Flag of a user or assistant row; the host only uses these as leaves."""

ANSWER = 2
RESULT = 4
NOTE = 8
"""Flag of an attachment, a system row or a meta row."""

META = 16
REPEATED = 32
"""Flag of a row that has the id of an earlier one: it takes slots but is otherwise ignored."""

CALLS = 64
"""Flag of an answer's row that contains a call."""

LEADS_ON = 128
"""Flag of a note that has a descendant in the conversation, through notes only."""


_STRIDE = 1024

_INTS = partial(array, "i")
_LONGS = partial(array, "q")


class Spine(Struct, eq=False):
    """Arrays by row, by slot and by response.

    A *response* is what the model sent at once; its rows share a ``message.id``. Results belong to
    the response of their call, and notes to that of the row above them.
    """

    known: Known = field(default_factory=Known)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)

    last: int = ROOT
    """The last row of the conversation."""

    boundary: int = ROOT
    """The newest compact boundary."""

    compactions: dict[int, tuple[int, Compaction | None]] = field(default_factory=dict)
    """For each boundary: the row before it, and what it preserved."""

    preserved: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    """For each boundary whose preserved rows were found: the row above them, and the rows."""

    # by row
    offsets: array[int] = field(default_factory=_LONGS)
    sizes: array[int] = field(default_factory=_LONGS)

    firsts: array[int] = field(default_factory=lambda: array("q", [1]))
    """First seq of each row, followed by the next free seq."""

    parents: array[int] = field(default_factory=_INTS)
    flags: bytearray = field(default_factory=bytearray)

    groups: array[int] = field(default_factory=_INTS)
    """The response to which a row belongs."""

    bases: array[int] = field(default_factory=_INTS)
    """For a result the row of its call; for a note the row above its chain of notes."""

    # by slot; seq 1 is at 0
    kinds: bytearray = field(default_factory=bytearray)
    times: array[float] = field(default_factory=lambda: array("d"))
    closing: bytearray = field(default_factory=bytearray)

    answers: array[int] = field(default_factory=_INTS)
    """Response number + 1, on its text slot and its calls; 0 for other slots."""

    joined: dict[int, list[int]] = field(default_factory=dict)
    """Further text blocks of a response, by the seq of its first one."""

    # by slot of a call or a result
    call_ids: list[str] = field(default_factory=list)

    tools: list[str] = field(default_factory=list)
    """Tool names; empty for a result whose call is unknown."""

    marks: array[int] = field(default_factory=lambda: array("q", [0]))
    """Number of calls and results before every ``_STRIDE``-th slot."""

    # by response
    starts: array[int] = field(default_factory=_INTS)
    """First row of each response."""

    texts: array[int] = field(default_factory=_LONGS)
    """Seq of a response's first text block; 0 without one."""

    calling: bytearray = field(default_factory=bytearray)
    """1 for a response that contains a call."""

    # changes since ``Growth.settle``
    stirred: int = 0
    """Lowest older row that a newer row has affected."""

    rewritten: bool = False
    """Whether an older text has changed."""

    # unusual rows
    roots: list[int] = field(default_factory=list)
    """Rows that record having no parent, except compact boundaries."""

    guessed: list[int] = field(default_factory=list)
    """Those of ``roots`` whose parent was set to the row before them in the file."""

    followed: int = 0
    """Number of rows that record no parent; the row before them is used."""

    unnamed: int = 0
    """Number of conversation rows without an id, which are left out."""

    sidechained: int = 0
    """Number of subagents' rows in a main session's file, which are left out."""

    steering: set[int] = field(default_factory=set)
    """Rows of the prompt queue that take a slot: prompts that joined a running turn."""

    revision: int = 0
    """Increases when a row's parent is read after the row, so parents may come later."""

    # by id
    ids: Ids = field(default_factory=Ids)
    """Row numbers by row id."""

    aliases: dict[str, int] = field(default_factory=dict)
    """Rows by the ids of skipped rows that were their children."""

    @property
    def last_seq(self) -> int:
        """The highest seq allocated."""
        return len(self.kinds)

    def find(self, uuid: str | None) -> int:
        """Return the row with an id; ``ROOT`` for none."""
        if not uuid:
            return ROOT
        found = self.ids.find(uuid)
        return found if found >= 0 else self.aliases.get(uuid, ROOT)

    def row_of(self, seq: int) -> int:
        """Return the row to which a seq belongs."""
        return bisect_right(self.firsts, seq) - 1

    def seqs(self, row: int) -> range:
        """Return the seqs of a row."""
        return range(self.firsts[row], self.firsts[row + 1])

    def place(self, seq: int) -> int:
        """Return the index in ``call_ids`` of the first call or result at or after a seq."""
        end = seq - 1
        known = min(end // _STRIDE, len(self.marks) - 1)
        return self.marks[known] + self._named(known * _STRIDE, end)

    def mark(self) -> None:
        """Count the calls and results among the new slots; must be called before ``place``."""
        while (start := (len(self.marks) - 1) * _STRIDE) + _STRIDE <= len(self.kinds):
            self.marks.append(self.marks[-1] + self._named(start, start + _STRIDE))

    def _named(self, start: int, end: int) -> int:
        count = self.kinds.count
        return count(kinds.CALL, start, end) + count(kinds.RESULT, start, end)

    def parent(self, row: int) -> int:
        """Return a row's parent; if it was not found, the nearest earlier row, or ``ROOT``."""
        found = self.parents[row]
        return self.row_before(row) if found == LOST else found

    def row_before(self, row: int) -> int:
        """Return the nearest earlier row that is not a repetition; ``ROOT`` for the first."""
        row -= 1
        while row >= 0 and self.flags[row] & REPEATED:
            row -= 1
        return row

    def hang(self, number: int, base: int) -> None:
        """Assign a result or a note to the row above it, and to that row's response."""
        if base >= 0 and self.flags[base] & NOTE:
            base = self.bases[base]
        if base >= 0:
            self.bases[number] = base
            self.groups[number] = self.groups[base]

    def lead_on(self, note: int) -> None:
        """Mark the notes through which the conversation continued."""
        flags, parents = self.flags, self.parents
        while note >= 0 and flags[note] & (NOTE | LEADS_ON) == NOTE:
            flags[note] |= LEADS_ON
            if note < self.stirred:  # noqa: PLR1730 - many rows come by here, and min is slow
                self.stirred = note
            note = parents[note]

    def regroup(self) -> None:
        """Assign all results and notes again, after parents were read late."""
        flags, parents = self.flags, self.parents
        for row in range(len(flags)):
            parent = parents[row]
            if flags[row] & RESULT and parent >= 0 and flags[parent] & ANSWER:
                self.hang(row, parent)
        found: dict[int, int] = {}
        for row in range(len(flags)):
            if not flags[row] & NOTE:
                self.lead_on(parents[row])
            elif (base := self._base(row, found)) != ROOT:
                self.bases[row], self.groups[row] = base, self.groups[base]

    def _base(self, note: int, found: dict[int, int]) -> int:
        """Return the row above a chain of notes; ``ROOT`` if there is none.

        Args:
            note: A note of the chain.
            found: Results for notes so far; this call adds to it.
        """
        chain = []
        row = note
        while row >= 0 and self.flags[row] & NOTE and row not in found:
            # The notes of a loop belong to no row.
            found[row] = ROOT
            chain.append(row)
            row = self.parents[row]
        base = found[row] if row in found else max(row, ROOT)
        for one in chain:
            found[one] = base
        return base
