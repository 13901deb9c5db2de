"""The spine of a transcript: every row of the conversation, as numbers.

Rows are numbered from 0 in file order, seqs from 1; a subagent's rows in a main
session's file have neither. The spine only grows, and says nothing of branches:
those are worked out from it by ``branch``, and it is put together by ``growth``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

from hindnote.hosts.claude import kinds
from hindnote.hosts.claude.ids import Ids
from hindnote.hosts.claude.session import Checkpoint, Known

if TYPE_CHECKING:
    from hindnote.hosts.claude.rows import Compaction

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
REPEATED = 32
"""Flag of a row whose id an earlier one had: it takes its slots and is nothing else."""

CALLS = 64
"""Flag of an answer's row that holds a call."""

LEADS_ON = 128
"""Flag of a note under which, through notes alone, the conversation goes on."""


class Spine:
    """Arrays over rows, slots and responses.

    A *response* is what the model sent at once; its rows share a ``message.id``.
    Results belong to their call's response, and so do the notes under either.
    """

    def __init__(self) -> None:
        self.known = Known()
        self.checkpoint = Checkpoint()
        self.last = ROOT
        """The last row of the conversation."""
        self.boundary = ROOT
        """The newest compact boundary."""
        self.compactions: dict[int, tuple[int, Compaction | None]] = {}
        """Of each boundary: the row before it, and what it preserved."""
        self.preserved: dict[int, tuple[int, list[int]]] = {}
        """Of each boundary whose rows were found: the row above them, and they."""

        # by row
        self.offsets = array("q")
        self.sizes = array("q")
        self.firsts = array("q", [1])
        """First seq of each row; one more, the next free seq."""
        self.parents = array("i")
        self.flags = bytearray()
        self.groups = array("i")
        """The response to which a row belongs."""
        self.bases = array("i")
        """Of a result the row of its call, of a note the row under which its chain hangs."""

        # by slot; seq 1 is at 0
        self.kinds = bytearray()
        self.times = array("d")
        self.closing = bytearray()
        self.answers = array("i")
        """One more than the response, on its text slot and its calls; 0 elsewhere."""
        self.joined: dict[int, list[int]] = {}
        """Further text blocks of a response, by the seq of its first."""

        # by slot of a call or a result
        self.call_ids: list[str] = []
        self.tools: list[str] = []
        """Names; empty for a result whose call is not known."""

        # by response
        self.starts = array("i")
        """Lowest row of each response."""
        self.texts = array("q")
        """Seq of a response's first text block, 0 without any."""
        self.calling = bytearray()
        """1 for a response that holds a call."""

        # what happened since ``settle``
        self.stirred = 0
        """Lowest older row to which something new happened."""
        self.rewritten = False
        """Whether an older text grew."""
        self.revision = 0
        """Grows when a row finds its parent late: then rows may stand before their parents."""

        # by id
        self._ids = Ids()
        self._aliases: dict[str, int] = {}

    @property
    def last_seq(self) -> int:
        """The highest seq allocated."""
        return len(self.kinds)

    def find(self, uuid: str | None) -> int:
        """Return the row with an id, ``ROOT`` for none."""
        if not uuid:
            return ROOT
        found = self._ids.find(uuid)
        return found if found >= 0 else self._aliases.get(uuid, ROOT)

    def row_of(self, seq: int) -> int:
        """Return the row in which a seq lies."""
        return bisect_right(self.firsts, seq) - 1

    def seqs(self, row: int) -> range:
        """Return the seqs of a row."""
        return range(self.firsts[row], self.firsts[row + 1])

    def place(self, seq: int) -> int:
        """Return where a call or result, or the next one behind a seq, is in ``call_ids``."""
        return self.kinds.count(kinds.CALL, 0, seq - 1) + self.kinds.count(kinds.RESULT, 0, seq - 1)

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
