"""How single rows of a transcript, of any shape, find their place in its spine."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from hindnote.hosts.claude import kinds
from hindnote.hosts.claude.ids import Ids
from hindnote.hosts.claude.spine import (
    ANSWER,
    CALLS,
    LEADS_ON,
    LOST,
    META,
    NOTE,
    RESULT,
    ROOT,
    SPEAKER,
    Spine,
)

if TYPE_CHECKING:
    from hindnote.hosts.claude.rows import Block, Row

_CALL, _RESULT, _TEXT, _NOTHING = kinds.CALL, kinds.RESULT, kinds.ASSISTANT, kinds.NOTHING


class RowwiseSpine(Spine):
    """A spine that takes in one row at a time, for which there is room already."""

    def __init__(self) -> None:
        super().__init__()
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
        starts = self.starts
        group = self._responses.add((row.message and row.message.id) or uuid)
        if group == len(starts):
            starts.append(number)
            self.texts.append(0)
            self.calling.append(0)
        elif starts[group] < self.stirred:
            self.stirred = starts[group]
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
        flags, parents = self.flags, self.parents
        while note >= 0 and flags[note] & (NOTE | LEADS_ON) == NOTE:
            flags[note] |= LEADS_ON
            if note < self.stirred:  # noqa: PLR1730 - many rows come by here, and min is slow
                self.stirred = note
            note = parents[note]

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
