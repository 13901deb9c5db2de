"""The spine of a transcript: every row of the conversation, as numbers.

Rows are numbered from 0 in file order, seqs from 1; a subagent's rows in a main
session's file have neither. The spine only grows, and says nothing of branches:
those are worked out from it by ``branch``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import TYPE_CHECKING

from msgspec import UNSET

from hindnote.hosts.claude import kinds
from hindnote.hosts.claude.ids import Ids
from hindnote.hosts.claude.rows import CHAIN_TYPES

if TYPE_CHECKING:
    from hindnote.hosts.claude.rows import About, Block, Compaction, Row

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

_CALL, _RESULT, _TEXT, _NOTHING = kinds.CALL, kinds.RESULT, kinds.ASSISTANT, kinds.NOTHING


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
    summary: str | None = None

    @property
    def complete(self) -> bool:
        """Whether ``note`` has nothing more to learn."""
        return None not in (self.session_id, self.started, self.cwd)

    def note(self, about: About) -> None:
        """Take in what one row says, where no earlier one said it."""
        for name, value in (
            ("session_id", about.session_id),
            ("agent_id", about.agent_id),
            ("started", about.timestamp),
            ("cwd", about.cwd),
        ):
            if getattr(self, name) is None and isinstance(value, str) and value:
                setattr(self, name, value)

    def note_origin(self, row: Row) -> None:
        """Take in where a row was copied from."""
        forked = row.forked_from.session_id if row.forked_from else None
        for named in (forked, row.request_session_id):
            if named and named != self.session_id and self.origin is None:
                self.origin = named


class Spine:
    """Arrays over rows, slots and responses.

    A *response* is what the model sent at once; its rows share a ``message.id``.
    Results belong to their call's response, and so do the notes under either.

    Args:
        subagent: The rows of subagents are the conversation.
    """

    def __init__(self, *, subagent: bool = False) -> None:
        self.subagent = subagent
        self.known = Known()
        self.checkpoint = Checkpoint()
        self.last = ROOT
        """The last row of the conversation."""
        self.boundary = ROOT
        """The newest compact boundary."""
        self.compactions: dict[int, tuple[int, Compaction | None]] = {}
        """Of each boundary: the row before it, and what it preserved."""

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
        self._settled = 0

        # by id
        self._ids = Ids()
        self._last_id: str | None = None
        self._aliases: dict[str, int] = {}
        self._waiting: dict[str, list[int]] = {}
        """Rows whose parent has not been read, by the parent's id."""
        self._responses = Ids()
        self._callers: dict[str, int] = {}
        """The latest call with an id, as its place in ``call_ids``."""
        self._caller_rows = array("i")
        """Rows of calls by place in ``call_ids``."""
        self._tool_names: dict[str, str] = {}

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
        return self.kinds.count(_CALL, 0, seq - 1) + self.kinds.count(_RESULT, 0, seq - 1)

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
        self.rewritten = False
        self._settled = self.last_seq

    def regroup(self) -> None:
        """Work out anew what hangs where, after rows found their parents late."""
        flags, parents = self.flags, self.parents
        for row in range(len(flags)):
            parent = parents[row]
            if flags[row] & RESULT and parent >= 0 and flags[parent] & ANSWER:
                self._hang(row, parent)
        for row in range(len(flags)):
            base, seen = parents[row], {row}
            while base >= 0 and flags[base] & NOTE and base not in seen:
                seen.add(base)
                base = parents[base]
            if not flags[row] & NOTE:
                self._lead_on(parents[row])
            elif base >= 0 and base not in seen:
                self.bases[row], self.groups[row] = base, self.groups[base]

    # -- growth ----------------------------------------------------------------

    def add(self, row: Row, offset: int, size: int) -> None:
        """Take in the next row of the file."""
        if row.type in CHAIN_TYPES:
            if row.uuid and (self.subagent or not row.is_sidechain):
                self._add(row, row.uuid, offset, size)
        elif row.type == "last-prompt":
            if row.leaf_uuid is not UNSET:
                self.checkpoint.set(row.leaf_uuid, row.explicit)
        elif row.type == "custom-title":
            self.known.title = row.custom_title or self.known.title
        elif row.type == "summary":
            self.known.summary = row.summary or self.known.summary
        elif row.uuid and self.find(row.uuid) == ROOT:
            # Older versions chained rows of further types; they only pass links on.
            above = self.find(row.parent_uuid)
            if above != ROOT:
                self._aliases[row.uuid] = above

    def _add(self, row: Row, uuid: str, offset: int, size: int) -> None:
        number = len(self.flags)
        held = kinds.kinds_of(row)
        time = row.timestamp
        moment = time.timestamp() if type(time) is datetime else row.instant
        self.offsets.append(offset)
        self.sizes.append(size)
        if len(held) == 1:
            self.times.append(moment)
            self.answers.append(0)
            self.closing.append(0)
        else:
            self.times.extend(repeat(moment, len(held)))
            self.answers.extend(repeat(0, len(held)))
            self.closing.extend(bytes(len(held)))
        self.groups.append(NO_GROUP)
        self.bases.append(ROOT)
        checkpoint = self.checkpoint
        checkpoint.binding = False
        if checkpoint.leaf is None:
            checkpoint.named = False
        if self._ids.add(uuid) != number:
            self._repeat(row, held)
            return
        self.kinds += held
        self.firsts.append(len(self.kinds) + 1)
        self._link(row, number)
        self.last, self._last_id = number, uuid
        if row.type == "assistant":
            self._add_answer(row, uuid, number, held)
        elif row.type == "user":
            self._add_user(row, number, held)
        else:
            self._add_note(row, number)
        if self._waiting and uuid in self._waiting:
            for child in self._waiting.pop(uuid):
                self.parents[child] = number
            self.revision += 1

    def _repeat(self, row: Row, held: bytes) -> None:
        """Give a row that repeats another its slots."""
        self._ids.skip()
        self.kinds.extend(bytes(len(held)))
        self.firsts.append(len(self.kinds) + 1)
        self.parents.append(ROOT)
        self.flags.append(REPEATED)
        self._last_id = None

    def _link(self, row: Row, number: int) -> None:
        uuid = row.parent_uuid
        if uuid is None:
            self.parents.append(ROOT)
        elif uuid == self._last_id:
            self.parents.append(number - 1)
        else:
            found = self._ids.find(uuid)
            if found < 0:
                found = self._aliases.get(uuid, LOST)
            elif found == number:
                # Its own parent: a loop that leads nowhere.
                found = LOST
            if found == LOST and uuid != row.uuid:
                self._waiting.setdefault(uuid, []).append(number)
            self.parents.append(found)

    def _add_answer(self, row: Row, uuid: str, number: int, held: bytes) -> None:
        message = row.message
        group = self._responses.add((message and message.id) or uuid)
        first = self.firsts[number]
        if group == len(self.starts):
            self.starts.append(number)
            self.texts.append(0)
            self.calling.append(0)
            self.closing[first - 1] = 1
            if held[0] == _NOTHING:
                self.answers[first - 1] = group + 1
        elif self.starts[group] < self.stirred:
            self.stirred = self.starts[group]
        self.groups[number] = group
        calls = _CALL in held
        self.flags.append(SPEAKER | ANSWER | (CALLS if calls else 0))
        if row.request_session_id or row.forked_from:
            self.known.note_origin(row)
        content = message.content if message else None
        for place, kind in enumerate(held):
            if kind == _CALL and type(content) is list:
                self.answers[first + place - 1] = group + 1
                self._add_call(content[place], number)
            elif kind == _TEXT:
                spoken = type(content) is not list or kinds.has_text(content[place])
                self._add_text(group, first + place, spoken)
        if calls:
            self.calling[group] = 1
        self._lead_on(self.parents[number])

    def _add_call(self, block: Block, number: int) -> None:
        name, tool = block.id or "", block.name or ""
        self._callers[name] = len(self.call_ids)
        self.call_ids.append(name)
        self.tools.append(self._tool_names.setdefault(tool, tool))
        self._caller_rows.append(number)

    def _add_text(self, group: int, seq: int, spoken: bool) -> None:
        """Place a text block: the first of a response speaks for all of them."""
        first = self.texts[group]
        if first == 0:
            first = self.texts[group] = seq
            begin = self.firsts[self.starts[group]]
            if self.kinds[begin - 1] == _NOTHING:
                self.answers[begin - 1] = 0
            self.answers[seq - 1] = group + 1
        else:
            self.joined.setdefault(first, []).append(seq)
            self.rewritten = self.rewritten or first <= self._settled
        self.kinds[seq - 1] = _NOTHING
        if spoken:
            self.kinds[first - 1] = _TEXT

    def _add_user(self, row: Row, number: int, held: bytes) -> None:
        if _RESULT in held:
            self.flags.append(SPEAKER | RESULT)
            self._add_results(row, number, held)
        elif row.is_meta:
            self.flags.append(SPEAKER | NOTE | META)
            self._hang(number, self.parents[number])
            return
        else:
            self.flags.append(SPEAKER)
            self.closing[self.firsts[number] - 1] = 1
        self._lead_on(self.parents[number])

    def _add_results(self, row: Row, number: int, held: bytes) -> None:
        first = self.firsts[number]
        content = row.message.content if row.message else None
        called = ROOT
        for place, kind in enumerate(held):
            if kind == _RESULT and type(content) is list:
                name = content[place].tool_use_id or ""
                caller = self._callers.get(name)
                if caller is None:
                    self.call_ids.append(name)
                    self.tools.append("")
                    self._caller_rows.append(ROOT)
                else:
                    called = self._caller_rows[caller]
                    self.call_ids.append(self.call_ids[caller])
                    self.tools.append(self.tools[caller])
                    self._caller_rows.append(called)
            elif kind != _NOTHING:
                # Beside a result a row may hold what the person said to it.
                self.closing[first + place - 1] = 1
        parent = self.parents[number]
        if parent >= 0 and self.flags[parent] & ANSWER:
            self._hang(number, parent)
            return
        source = self.find(row.source_tool_assistant_uuid)
        answered = source != ROOT and self.flags[source] & ANSWER
        self._hang(number, source if answered else called)

    def _add_note(self, row: Row, number: int) -> None:
        self.flags.append(NOTE)
        self._hang(number, self.parents[number])
        if row.subtype == "compact_boundary":
            self.boundary = number
            before = self.find(row.logical_parent_uuid)
            if before in (ROOT, number) and row.logical_parent_uuid:
                before = self.row_before(number)
            self.compactions[number] = (before, row.compact_metadata)
            self.closing[self.firsts[number] - 1] = 1
            self.checkpoint.named = False

    def _hang(self, number: int, base: int) -> None:
        """Let a result or a note belong to where it hangs."""
        if base >= 0 and self.flags[base] & NOTE:
            base = self.bases[base]
        if base >= 0:
            self.bases[number] = base
            self.groups[number] = self.groups[base]

    def _lead_on(self, note: int) -> None:
        """Mark the notes through which the conversation went on."""
        flags = self.flags
        while note >= 0 and flags[note] & NOTE and not flags[note] & LEADS_ON:
            flags[note] |= LEADS_ON
            self.stirred = min(self.stirred, note)
            note = self.parents[note]
