"""Build a spine: add rows, link them to their parents, and allocate their slots.

Seqs depend only on the types of rows and the number of their content blocks, and are allocated in
file order, so appended rows never change existing seqs.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING

from msgspec import UNSET

from hindnote.core.history.times import instants
from hindnote.hosts.claude.format import kinds
from hindnote.hosts.claude.format.rows import CHAIN_TYPES, QUEUE
from hindnote.hosts.claude.sessions.row_by_row import Rowwise
from hindnote.hosts.claude.sessions.spine import (
    ANSWER,
    CALLS,
    LEADS_ON,
    NOTE,
    REPEATED,
    RESULT,
    ROOT,
    SPEAKER,
    Spine,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindnote.hosts.claude.format.rows import Row

_MISSING, _ZERO = array("i", [-1]), array("i", [0])
_NOTE_OR_LEADS_ON = NOTE | LEADS_ON
_CALL_ROW, _RESULT_ROW = SPEAKER | ANSWER | CALLS, SPEAKER | RESULT
_CALL, _RESULT, _TEXT, _USER = kinds.CALL, kinds.RESULT, kinds.ASSISTANT, kinds.USER


class Growth:
    """Adds rows to a spine, in batches.

    Args:
        spine: The spine to extend.
    """

    def __init__(self, spine: Spine) -> None:
        self._spine = spine
        self._rowwise = Rowwise(spine)
        self.subagent = False
        """Whether the file is a subagent's, so that its rows are the conversation."""

    def take(self, rows: Sequence[Row], offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """Add the next rows of the file, with the offsets and sizes of their lines."""
        spine = self._spine
        taken: list[Row] = []
        places: list[int] = []
        lengths: list[int] = []
        checkpoint, subagent = spine.checkpoint, self.subagent
        for row, offset, size in zip(rows, offsets, sizes, strict=True):
            if row.type in CHAIN_TYPES:
                if row.uuid and (subagent or not row.is_sidechain):
                    taken.append(row)
                    places.append(offset)
                    lengths.append(size)
                    checkpoint.binding = False
                    if checkpoint.leaf is None or row.subtype == "compact_boundary":
                        checkpoint.named = False
                elif row.uuid:
                    spine.sidechained += 1
                else:
                    spine.unnamed += 1
            elif row.type == "last-prompt":
                if row.leaf_uuid is not UNSET:
                    checkpoint.set(row.leaf_uuid, row.explicit)
            elif row.type == "custom-title":
                spine.known.title = row.custom_title or spine.known.title
            elif row.type == "summary":
                spine.known.summary = row.summary or spine.known.summary
            elif row.type == QUEUE:
                if not subagent and kinds.steering(row):
                    # It has no id and no parent: its place is given by its position in the file.
                    row.uuid, row.parent_uuid = f"{QUEUE}-{offset}", UNSET
                    taken.append(row)
                    places.append(offset)
                    lengths.append(size)
            elif row.uuid:
                self._add(taken)
                taken = []
                self._pass_on(row, row.uuid)
        self._add(taken)
        spine.offsets.fromlist(places)
        spine.sizes.fromlist(lengths)

    def _add(self, rows: list[Row]) -> None:
        """Add rows of the conversation; some may have the ids of earlier rows."""
        if not rows:
            return
        ids = self._spine.ids
        uuids = [row.uuid or "" for row in rows]
        numbers = ids.extend(uuids)
        if numbers is not None:
            self._add_new(rows, numbers)
            return
        fresh: dict[str, Row] = {}
        for row, uuid in zip(rows, uuids, strict=True):
            if uuid in fresh or ids.find(uuid) >= 0:
                self._add_fresh(fresh)
                fresh = {}
                self._repeat(row)
            else:
                fresh[uuid] = row
        self._add_fresh(fresh)

    def _add_fresh(self, rows: dict[str, Row]) -> None:
        numbers = self._spine.ids.extend([*rows])
        if numbers:
            self._add_new([*rows.values()], numbers)

    def guess(self) -> None:
        """After all new rows were added, decide whether to guess the order."""
        self._rowwise.guess()

    def settle(self) -> None:
        """Start to record how later rows affect the current ones."""
        spine = self._spine
        spine.ids.settle()
        spine.stirred = len(spine.flags)
        spine.rewritten = False
        self._rowwise.settled = spine.last_seq

    def _pass_on(self, row: Row, uuid: str) -> None:
        """Add a row of a type that older versions linked into the chain.

        It only passes links on.
        """
        spine = self._spine
        above = spine.find(row.parent_uuid or None)
        if above != ROOT and spine.find(uuid) == ROOT:
            spine.aliases[uuid] = above

    def _repeat(self, row: Row) -> None:
        """Allocate the slots of a row that repeats an earlier one."""
        spine = self._spine
        spine.ids.skip()
        number = len(spine.flags)
        self._allot([row])
        spine.flags[number] = REPEATED

    def _allot(self, rows: list[Row]) -> list[int]:
        """Allocate rows and their slots; return the position of each row's first slot."""
        spine = self._spine
        count, held = len(rows), len(spine.kinds)
        spine.parents.extend(_MISSING * count)
        spine.flags += bytes(count)
        spine.groups.extend(_MISSING * count)
        spine.bases.extend(_MISSING * count)
        self._rowwise.call_places.extend(_MISSING * count)
        counts = kinds.counts_of(rows)
        places = list(accumulate(counts, initial=held))
        end = places.pop()
        times = instants([row.timestamp for row in rows])
        if end > held + count:
            times = list(chain.from_iterable(map(repeat, times, counts)))
        spine.times.fromlist(times)
        spine.firsts.fromlist([place + 1 for place in places[1:]])
        spine.firsts.append(end + 1)
        spine.kinds += bytes(end - held)
        spine.closing += bytes(end - held)
        spine.answers.extend(_ZERO * (end - held))
        return places

    def _add_new(self, rows: list[Row], numbers: dict[str, int]) -> None:
        """Add rows with new ids, given their numbers.

        Calls, their results and notes, one per row, make up most of a long file. They are added
        inline: a function call for each of their parts would take several times as long as
        decoding them. ``Rowwise.add_any`` can add any row.
        """
        spine, rowwise = self._spine, self._rowwise
        flags, parents, groups, bases = spine.flags, spine.parents, spine.groups, spine.bases
        held, closing, answers = spine.kinds, spine.closing, spine.answers
        starts, texts, calling = spine.starts, spine.texts, spine.calling
        waiting, call_ids, call_places = rowwise.waiting, spine.call_ids, rowwise.call_places
        tools, names = spine.tools, rowwise.tool_names
        slots = self._allot(rows)
        for row, slot, (uuid, number) in zip(rows, slots, numbers.items(), strict=True):
            parent = numbers.get(row.parent_uuid, number)  # type: ignore[arg-type]
            if parent >= number:
                parent = rowwise.link(row, number)
            parents[number] = parent
            message, type_ = row.message, row.type
            blocks = None if message is None else message.content
            if parent < 0 or waiting:
                rowwise.add_any(row, uuid, number)
            elif message is None or type(blocks) is not list or len(blocks) != 1:
                if type_ != "attachment":
                    rowwise.add_any(row, uuid, number)
                    continue
                flags[number] = NOTE
                base = bases[number] = bases[parent] if flags[parent] & NOTE else parent
                if base >= 0:
                    groups[number] = groups[base]
                held[slot] = kind = kinds.attached(row)
                if kind == _USER:
                    rowwise.heard(row)
            elif type_ == "user":
                name, place = blocks[0].tool_use_id, call_places[parent]
                if place < 0 or call_ids[place] != name or blocks[0].type != "tool_result":
                    rowwise.add_any(row, uuid, number)
                    continue
                flags[number] = _RESULT_ROW
                held[slot] = _RESULT
                bases[number] = parent
                groups[number] = groups[parent]
                call_ids.append(call_ids[place])
                tools.append(tools[place])
            elif type_ == "assistant" and not (
                row.is_api_error_message or message.model == kinds.SYNTHETIC
            ):
                block = blocks[0]
                group = rowwise.respond(row, uuid, number)
                start = starts[group]
                if block.type == "tool_use" and block.id:
                    flags[number] = _CALL_ROW
                    held[slot] = _CALL
                    calling[group] = 1
                    call_places[number] = len(call_ids)
                    call_ids.append(block.id)
                    tools.append(names.setdefault(block.name or "", block.name or ""))
                elif block.type == "text" and start == number and kinds.has_text(block):
                    flags[number] = SPEAKER | ANSWER
                    held[slot] = _TEXT
                    texts[group] = slot + 1
                else:
                    rowwise.add_any(row, uuid, number)
                    continue
                groups[number] = group
                answers[slot] = group + 1
                if start == number:
                    closing[slot] = 1
                if flags[parent] & _NOTE_OR_LEADS_ON == NOTE:
                    spine.lead_on(parent)
            else:
                rowwise.add_any(row, uuid, number)
        spine.last = number
