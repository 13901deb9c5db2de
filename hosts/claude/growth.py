"""How a spine grows: rows are taken in, linked, and given their slots.

Seqs depend on the types of rows and the number of their content blocks alone, and are
given in the order of the file, so nothing that is appended numbers anything anew.
"""

from __future__ import annotations

from array import array
from datetime import datetime
from itertools import repeat
from typing import TYPE_CHECKING

from msgspec import UNSET

from hindnote.hosts.claude import kinds
from hindnote.hosts.claude.ids import Ids
from hindnote.hosts.claude.rows import CHAIN_TYPES
from hindnote.hosts.claude.spine import (
    ANSWER,
    CALLS,
    LEADS_ON,
    LOST,
    META,
    NO_GROUP,
    NOTE,
    REPEATED,
    RESULT,
    ROOT,
    SPEAKER,
    Spine,
)

if TYPE_CHECKING:
    from hindnote.hosts.claude.rows import Block, Row

_BATCH = 64
_NO_ID = "\0"
"""What no row names as its parent."""

_CALL_ROW, _RESULT_ROW = SPEAKER | ANSWER | CALLS, SPEAKER | RESULT
_CALL, _RESULT, _TEXT, _NOTHING = kinds.CALL, kinds.RESULT, kinds.ASSISTANT, kinds.NOTHING


class GrowingSpine(Spine):
    """A spine that takes in rows."""

    def __init__(self) -> None:
        super().__init__()
        self.subagent = False
        """Whether the rows of subagents are the conversation."""
        self._batch: list[Row] = []
        """Rows taken in and not yet added."""
        self._settled = 0
        self._last_id = _NO_ID
        self._waiting: dict[str, list[int]] = {}
        """Rows whose parent has not been read, by the parent's id."""
        self._responses = Ids()
        self._callers: dict[str, int] = {}
        """The latest call with an id, as its place in ``call_ids``."""
        self._caller_rows = array("i")
        """Rows of calls by place in ``call_ids``."""
        self._tool_names: dict[str, str] = {}

    def take(self, row: Row, offset: int, size: int) -> None:
        """Take in the next row of the file; ``flush`` makes what was taken in visible."""
        if row.type in CHAIN_TYPES:
            if row.uuid and (self.subagent or not row.is_sidechain):
                self._batch.append(row)
                self.offsets.append(offset)
                self.sizes.append(size)
                checkpoint = self.checkpoint
                checkpoint.binding = False
                if checkpoint.leaf is None or row.subtype == "compact_boundary":
                    checkpoint.named = False
                if len(self._batch) == _BATCH:
                    self.flush()
        elif row.type == "last-prompt":
            if row.leaf_uuid is not UNSET:
                self.checkpoint.set(row.leaf_uuid, row.explicit)
        elif row.type == "custom-title":
            self.known.title = row.custom_title or self.known.title
        elif row.type == "summary":
            self.known.summary = row.summary or self.known.summary
        elif row.uuid:
            self._pass_on(row, row.uuid)

    def flush(self) -> None:
        """Work off the rows that were taken in."""
        batch, self._batch = self._batch, []
        if not batch:
            return
        uuids = [row.uuid or "" for row in batch]
        if self._ids.extend(uuids):
            self._add_new(batch, uuids)
            return
        for row, uuid in zip(batch, uuids, strict=True):
            if self._ids.find(uuid) >= 0:
                self._repeat(row)
            else:
                self._ids.extend([uuid])
                self._add_new([row], [uuid])

    def settle(self) -> None:
        """Begin to watch for what later rows do to the ones that are here."""
        self._ids.settle()
        self._responses.settle()
        self.stirred = len(self.flags)
        self.rewritten = False
        self._settled = self.last_seq

    def _pass_on(self, row: Row, uuid: str) -> None:
        """Take in a row of a type that older versions chained; it only passes links on."""
        self.flush()
        above = self.find(row.parent_uuid)
        if above != ROOT and self.find(uuid) == ROOT:
            self._aliases[uuid] = above

    def _repeat(self, row: Row) -> None:
        """Give a row that repeats another its slots."""
        self._ids.skip()
        count = len(kinds.kinds_of(row))
        self.kinds.extend(bytes(count))
        self.closing.extend(bytes(count))
        self.times.extend(repeat(row.instant, count))
        self.answers.extend(repeat(0, count))
        self.firsts.append(len(self.kinds) + 1)
        self.parents.append(ROOT)
        self.groups.append(NO_GROUP)
        self.bases.append(ROOT)
        self.flags.append(REPEATED)
        self._last_id = _NO_ID

    def _add_new(self, batch: list[Row], uuids: list[str]) -> None:
        """Add rows that repeat none.

        Calls, their results and notes, one to a row, make up most of a long file. They
        are added right here, without a call for each of their parts: that would cost
        several times what decoding them does. ``_add_any`` can add every row.
        """
        flags, parents, groups, bases = self.flags, self.parents, self.groups, self.bases
        held, firsts, closing, answers = self.kinds, self.firsts, self.closing, self.answers
        times, starts, texts, calling = self.times, self.starts, self.texts, self.calling
        call_ids, tools = self.call_ids, self.tools
        callers, caller_rows, names = self._callers, self._caller_rows, self._tool_names
        waiting, last_id, response, group = self._waiting, self._last_id, None, NO_GROUP
        for row, uuid in zip(batch, uuids, strict=True):
            number = len(flags)
            parent = number - 1 if row.parent_uuid == last_id else self._link(row, number)
            parents.append(parent)
            last_id = uuid
            time, message = row.timestamp, row.message
            if parent < 0 or waiting or type(time) is not datetime:
                self._add_any(row, uuid, number)
                continue
            block = None if message is None else kinds.only_block(message)
            if message is None or block is None:
                if row.type != "attachment":
                    self._add_any(row, uuid, number)
                    continue
                flags.append(NOTE)
                base = bases[parent] if flags[parent] & NOTE else parent
                bases.append(base)
                groups.append(groups[base] if base >= 0 else NO_GROUP)
                held.append(kinds.attached(row))
                answers.append(0)
                closing.append(0)
            elif (block.type == "text" or block.type == "tool_use") and kinds.is_answer(row):
                if message.id != response or response is None:
                    response, group = message.id, self._respond(row, uuid, number)
                if block.type == "text":
                    if texts[group] or starts[group] != number or not kinds.has_text(block):
                        self._add_any(row, uuid, number)
                        continue
                    flags.append(SPEAKER | ANSWER)
                    held.append(_TEXT)
                    texts[group] = len(held)
                elif block.id:
                    flags.append(_CALL_ROW)
                    held.append(_CALL)
                    calling[group] = 1
                    callers[block.id] = len(call_ids)
                    call_ids.append(block.id)
                    tools.append(names.setdefault(block.name or "", block.name or ""))
                    caller_rows.append(number)
                else:
                    self._add_any(row, uuid, number)
                    continue
                groups.append(group)
                bases.append(ROOT)
                answers.append(group + 1)
                closing.append(starts[group] == number)
                if flags[parent] & NOTE:
                    self._lead_on(parent)
            elif block.type == "tool_result" and row.type == "user" and flags[parent] & ANSWER:
                caller = callers.get(block.tool_use_id or "")
                if caller is None:
                    self._add_any(row, uuid, number)
                    continue
                flags.append(_RESULT_ROW)
                groups.append(groups[parent])
                bases.append(parent)
                held.append(_RESULT)
                answers.append(0)
                closing.append(0)
                call_ids.append(call_ids[caller])
                tools.append(tools[caller])
                caller_rows.append(caller_rows[caller])
            else:
                self._add_any(row, uuid, number)
                continue
            times.append(time.timestamp())
            firsts.append(len(held) + 1)
        self._last_id, self.last = last_id, len(flags) - 1

    def _add_any(self, row: Row, uuid: str, number: int) -> None:
        """Add what lies in a row; its parent is there already."""
        held = kinds.kinds_of(row)
        count = len(held)
        self.kinds += held
        self.firsts.append(len(self.kinds) + 1)
        self.times.extend(repeat(row.instant, count))
        self.answers.extend(repeat(0, count))
        self.closing.extend(bytes(count))
        self.groups.append(NO_GROUP)
        self.bases.append(ROOT)
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

    def _link(self, row: Row, number: int) -> int:
        """Return the parent of a row that does not simply follow the one before it."""
        uuid = row.parent_uuid
        if uuid is None:
            return ROOT
        found = self.find(uuid)
        if ROOT < found < number:
            return found
        # Itself as its parent is a loop that leads nowhere; anything else may come yet.
        if found != number:
            self._waiting.setdefault(uuid, []).append(number)
        return LOST

    def _respond(self, row: Row, uuid: str, number: int) -> int:
        """Return the response that an answer's row belongs to."""
        group = self._responses.add((row.message and row.message.id) or uuid)
        if group == len(self.starts):
            self.starts.append(number)
            self.texts.append(0)
            self.calling.append(0)
        elif self.starts[group] < self.stirred:
            self.stirred = self.starts[group]
        return group

    def _add_answer(self, row: Row, uuid: str, number: int, held: bytes) -> None:
        group = self._respond(row, uuid, number)
        first = self.firsts[number]
        if self.starts[group] == number:
            self.closing[first - 1] = 1
            if held[0] == _NOTHING:
                self.answers[first - 1] = group + 1
        self.groups[number] = group
        calls = _CALL in held
        self.flags.append(SPEAKER | ANSWER | (CALLS if calls else 0))
        if row.request_session_id or row.forked_from:
            self.known.note_origin(row)
        content = row.message.content if row.message else None
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
        answered = ROOT < source < number and self.flags[source] & ANSWER
        self._hang(number, source if answered else called)

    def _add_note(self, row: Row, number: int) -> None:
        self.flags.append(NOTE)
        self._hang(number, self.parents[number])
        if row.subtype == "compact_boundary":
            self.boundary = number
            before = self.find(row.logical_parent_uuid)
            if not ROOT < before < number and row.logical_parent_uuid:
                before = self.row_before(number)
            self.compactions[number] = (before, row.compact_metadata)
            self.closing[self.firsts[number] - 1] = 1

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
