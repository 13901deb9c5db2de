"""How a spine grows: rows are taken in, linked, and given their slots.

Seqs depend on the types of rows and the number of their content blocks alone, and are
given in the order of the file, so nothing that is appended numbers anything anew.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING

from msgspec import UNSET

from hindnote.hosts.claude import kinds
from hindnote.hosts.claude.ids import Ids
from hindnote.hosts.claude.rows import CHAIN_TYPES, times_of
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
    from collections.abc import Sequence

    from hindnote.hosts.claude.rows import Block, Row

_MISSING, _ZERO = array("i", [-1]), array("i", [0])
_CALL_ROW, _RESULT_ROW = SPEAKER | ANSWER | CALLS, SPEAKER | RESULT
_CALL, _RESULT, _TEXT, _NOTHING = kinds.CALL, kinds.RESULT, kinds.ASSISTANT, kinds.NOTHING


class GrowingSpine(Spine):
    """A spine that takes in rows."""

    def __init__(self) -> None:
        super().__init__()
        self.subagent = False
        """Whether the rows of subagents are the conversation."""
        self._settled = 0
        self._waiting: dict[str, list[int]] = {}
        """Rows whose parent has not been read, by the parent's id."""
        self._responses = Ids()
        self._call_places = array("i")
        """By row: where its first call is in ``call_ids``, ``ROOT`` for a row without any."""
        self._callers: dict[str, int] = {}
        """Rows of the latest calls by their ids, worked out up to ``_callers_end``."""
        self._callers_end = 0
        self._tool_names: dict[str, str] = {}

    def take(self, rows: Sequence[Row], offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """Take in the next rows of the file, with the place and size of their lines."""
        taken: list[Row] = []
        places: list[int] = []
        lengths: list[int] = []
        checkpoint, subagent = self.checkpoint, self.subagent
        for row, offset, size in zip(rows, offsets, sizes, strict=True):
            if row.type in CHAIN_TYPES:
                if row.uuid and (subagent or not row.is_sidechain):
                    taken.append(row)
                    places.append(offset)
                    lengths.append(size)
                    checkpoint.binding = False
                    if checkpoint.leaf is None or row.subtype == "compact_boundary":
                        checkpoint.named = False
            elif row.type == "last-prompt":
                if row.leaf_uuid is not UNSET:
                    checkpoint.set(row.leaf_uuid, row.explicit)
            elif row.type == "custom-title":
                self.known.title = row.custom_title or self.known.title
            elif row.type == "summary":
                self.known.summary = row.summary or self.known.summary
            elif row.uuid:
                self._add(taken)
                taken = []
                self._pass_on(row, row.uuid)
        self._add(taken)
        self.offsets.fromlist(places)
        self.sizes.fromlist(lengths)

    def _add(self, rows: list[Row]) -> None:
        """Add rows of the conversation, some of which may repeat others."""
        uuids = [row.uuid or "" for row in rows]
        numbers = self._ids.extend(uuids)
        if numbers is not None:
            self._add_new(rows, numbers)
            return
        fresh: dict[str, Row] = {}
        for row, uuid in zip(rows, uuids, strict=True):
            if uuid in fresh or self._ids.find(uuid) >= 0:
                self._add_fresh(fresh)
                fresh = {}
                self._repeat(row)
            else:
                fresh[uuid] = row
        self._add_fresh(fresh)

    def _add_fresh(self, rows: dict[str, Row]) -> None:
        numbers = self._ids.extend([*rows])
        if numbers:
            self._add_new([*rows.values()], numbers)

    def settle(self) -> None:
        """Begin to watch for what later rows do to the ones that are here."""
        self._ids.settle()
        self._responses.settle()
        self.stirred = len(self.flags)
        self.rewritten = False
        self._settled = self.last_seq

    def _pass_on(self, row: Row, uuid: str) -> None:
        """Take in a row of a type that older versions chained; it only passes links on."""
        above = self.find(row.parent_uuid)
        if above != ROOT and self.find(uuid) == ROOT:
            self._aliases[uuid] = above

    def _repeat(self, row: Row) -> None:
        """Give a row that repeats another its slots."""
        self._ids.skip()
        number = len(self.flags)
        self._allot([row])
        self.flags[number] = REPEATED

    def _allot(self, rows: list[Row]) -> list[int]:
        """Make room for rows and their slots; return the place of each row's first slot."""
        count, held = len(rows), len(self.kinds)
        self.parents.extend(_MISSING * count)
        self.flags += bytes(count)
        self.groups.extend(_MISSING * count)
        self.bases.extend(_MISSING * count)
        self._call_places.extend(_MISSING * count)
        counts = kinds.counts_of(rows)
        places = list(accumulate(counts, initial=held))
        end = places.pop()
        times = times_of(rows)
        if end > held + count:
            times = list(chain.from_iterable(map(repeat, times, counts)))
        self.times.fromlist(times)
        self.firsts.fromlist([place + 1 for place in places[1:]])
        self.firsts.append(end + 1)
        self.kinds += bytes(end - held)
        self.closing += bytes(end - held)
        self.answers.extend(_ZERO * (end - held))
        return places

    def _add_new(self, rows: list[Row], numbers: dict[str, int]) -> None:
        """Add rows that repeat none, with their ids and numbers.

        Calls, their results and notes, one to a row, make up most of a long file. They
        are added right here, without a call for each of their parts: that would cost
        several times what decoding them does. ``_add_any`` can add every row.
        """
        if not rows:
            return
        flags, parents, groups, bases = self.flags, self.parents, self.groups, self.bases
        held, closing, answers, call_places = (
            self.kinds,
            self.closing,
            self.answers,
            self._call_places,
        )
        starts, texts, calling, waiting = self.starts, self.texts, self.calling, self._waiting
        call_ids, tools, names = self.call_ids, self.tools, self._tool_names
        response, group = None, NO_GROUP
        slots = self._allot(rows)
        for row, slot, (uuid, number) in zip(rows, slots, numbers.items(), strict=True):
            parent = numbers.get(row.parent_uuid, number)  # type: ignore[arg-type]
            if parent >= number:
                parent = self._link(row, number)
            parents[number] = parent
            message, type_ = row.message, row.type
            blocks = None if message is None else message.content
            if parent < 0 or waiting:
                self._add_any(row, uuid, number)
            elif message is None or type(blocks) is not list or len(blocks) != 1:
                if type_ != "attachment":
                    self._add_any(row, uuid, number)
                    continue
                flags[number] = NOTE
                base = bases[number] = bases[parent] if flags[parent] & NOTE else parent
                if base >= 0:
                    groups[number] = groups[base]
                held[slot] = kinds.attached(row)
            elif type_ == "user":
                name, place = blocks[0].tool_use_id, call_places[parent]
                if place < 0 or call_ids[place] != name or blocks[0].type != "tool_result":
                    self._add_any(row, uuid, number)
                    continue
                flags[number] = _RESULT_ROW
                held[slot] = _RESULT
                bases[number] = parent
                groups[number] = groups[parent]
                call_ids.append(call_ids[place])
                tools.append(tools[place])
            elif type_ == "assistant" and kinds.is_own(row, message):
                block = blocks[0]
                if not response or message.id != response:
                    response, group = message.id, self._respond(row, uuid, number)
                if block.type == "tool_use" and block.id:
                    flags[number] = _CALL_ROW
                    held[slot] = _CALL
                    calling[group] = 1
                    call_places[number] = len(call_ids)
                    call_ids.append(block.id)
                    tools.append(names.setdefault(block.name or "", block.name or ""))
                elif block.type == "text" and starts[group] == number and kinds.has_text(block):
                    flags[number] = SPEAKER | ANSWER
                    held[slot] = _TEXT
                    texts[group] = slot + 1
                else:
                    self._add_any(row, uuid, number)
                    continue
                groups[number] = group
                answers[slot] = group + 1
                if starts[group] == number:
                    closing[slot] = 1
                if flags[parent] & NOTE:
                    self._lead_on(parent)
            else:
                self._add_any(row, uuid, number)
        self.last = number

    def _add_any(self, row: Row, uuid: str, number: int) -> None:
        """Add what lies in a row; its parent is there already."""
        held = kinds.kinds_of(row)
        first = self.firsts[number]
        self.kinds[first - 1 : first - 1 + len(held)] = held
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
        self.flags[number] = SPEAKER | ANSWER | (CALLS if calls else 0)
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
        if self._call_places[number] == ROOT:
            self._call_places[number] = len(self.call_ids)
        self.call_ids.append(name)
        self.tools.append(self._tool_names.setdefault(tool, tool))

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
            self.flags[number] = SPEAKER | RESULT
            self._add_results(row, number, held)
        elif row.is_meta:
            self.flags[number] = SPEAKER | NOTE | META
            self._hang(number, self.parents[number])
            return
        else:
            self.flags[number] = SPEAKER
            self.closing[self.firsts[number] - 1] = 1
        self._lead_on(self.parents[number])

    def _add_results(self, row: Row, number: int, held: bytes) -> None:
        first = self.firsts[number]
        content = row.message.content if row.message else None
        called = ROOT
        for place, kind in enumerate(held):
            if kind == _RESULT and type(content) is list:
                name = content[place].tool_use_id or ""
                caller = self._caller(name, number)
                if caller == ROOT:
                    self.call_ids.append(name)
                    self.tools.append("")
                else:
                    called = caller
                    found = self.call_ids.index(name, self._call_places[caller])
                    self.call_ids.append(self.call_ids[found])
                    self.tools.append(self.tools[found])
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

    def _caller(self, name: str, number: int) -> int:
        """Return the row of the call that row ``number`` answers, ``ROOT`` for none.

        That is the row above it if that holds such a call, and the latest one otherwise.
        """
        parent = self.parents[number]
        if parent >= 0 and name in self._calls(parent):
            return parent
        for row in range(self._callers_end, number):
            for known in self._calls(row):
                self._callers[known] = row
        self._callers_end = max(self._callers_end, number)
        return self._callers.get(name, ROOT)

    def _calls(self, row: int) -> list[str]:
        """Return the ids of a row's calls."""
        place = self._call_places[row]
        if place == ROOT:
            return []
        count = self.kinds.count(_CALL, self.firsts[row] - 1, self.firsts[row + 1] - 1)
        return self.call_ids[place : place + count]

    def _add_note(self, row: Row, number: int) -> None:
        self.flags[number] = NOTE
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
