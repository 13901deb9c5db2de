"""How a spine grows: rows are taken in, linked, and given their slots.

Seqs depend on the types of rows and the number of their content blocks alone, and are
given in the order of the file, so nothing that is appended numbers anything anew.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING

from msgspec import UNSET

from hindnote.hosts.claude.format import kinds
from hindnote.hosts.claude.format.rows import CHAIN_TYPES, QUEUE, times_of
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
    """Adds rows to a spine, many at a time.

    Args:
        spine: What it adds to.
    """

    def __init__(self, spine: Spine) -> None:
        self._spine = spine
        self._rowwise = Rowwise(spine)
        self.subagent = False
        """Whether the rows of subagents are the conversation."""

    def take(self, rows: Sequence[Row], offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """Take in the next rows of the file, with the place and size of their lines."""
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
                    # It has no id and no parent: it belongs where it stands in the file.
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
        """Add rows of the conversation, some of which may repeat others."""
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
        """Decide, after all new rows were taken in, whether the order has to be guessed."""
        self._rowwise.guess()

    def settle(self) -> None:
        """Begin to watch for what later rows do to the ones that are here."""
        spine = self._spine
        spine.ids.settle()
        spine.stirred = len(spine.flags)
        spine.rewritten = False
        self._rowwise.settled = spine.last_seq

    def _pass_on(self, row: Row, uuid: str) -> None:
        """Take in a row of a type that older versions chained; it only passes links on."""
        spine = self._spine
        above = spine.find(row.parent_uuid or None)
        if above != ROOT and spine.find(uuid) == ROOT:
            spine.aliases[uuid] = above

    def _repeat(self, row: Row) -> None:
        """Give a row that repeats another its slots."""
        spine = self._spine
        spine.ids.skip()
        number = len(spine.flags)
        self._allot([row])
        spine.flags[number] = REPEATED

    def _allot(self, rows: list[Row]) -> list[int]:
        """Make room for rows and their slots; return the place of each row's first slot."""
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
        times = times_of(rows)
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
        """Add rows that repeat none, with their ids and numbers.

        Calls, their results and notes, one to a row, make up most of a long file. They
        are added right here, without a call for each of their parts: that would cost
        several times what decoding them does. ``Rowwise.add_any`` can add every row.
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
