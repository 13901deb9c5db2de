"""Add single rows of any kind to the spine of a transcript."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from msgspec import UNSET

from hindnote.hosts.claude.format import kinds
from hindnote.hosts.claude.format.rows import CHAIN_TYPES, QUEUE
from hindnote.hosts.claude.sessions.spine import (
    ANSWER,
    CALLS,
    LOST,
    META,
    NOTE,
    RESULT,
    ROOT,
    SPEAKER,
    Spine,
)

if TYPE_CHECKING:
    from hindnote.hosts.claude.format.rows import Block, Row

_CALL, _RESULT, _TEXT, _NOTHING = kinds.CALL, kinds.RESULT, kinds.ASSISTANT, kinds.NOTHING
_USER = kinds.USER


class _Response:
    """The response whose rows are being read.

    It ends at the next row that is not its own, one of its results, or a note below these. Claude
    Code numbers the blocks of a response in ``apiBlockIndex`` (since 2.1) and records its request
    in ``requestId``, if the endpoint returned one.
    """

    def __init__(self) -> None:
        self._id = ""
        self._request: str | None = None
        self._block = -1

    def end(self) -> None:
        """End the response: the next answer's row begins another one."""
        self._id = ""

    def goes_on(self, id_: str) -> bool:
        """Return whether a row belongs to this response; if not, it begins another one."""
        if id_ == self._id:
            return True
        self._id, self._request, self._block = id_, None, -1
        return False

    def speaks_anew(self, row: Row) -> bool:
        """Return whether a row begins another answer within this response.

        With some relays one message id is used for a whole turn. Claude Code then treats the
        answers as one, also when it resumes, so they all stay on a branch that contains one of
        them.
        """
        request, block = row.request_id, row.api_block_index
        other = bool(request and self._request and request != self._request)
        again = block is not None and block <= self._block
        self._request = request or self._request
        self._block = self._block if block is None else block
        return other or again


class Rowwise:
    """Adds one row at a time to a spine, which already has the space for it.

    Args:
        spine: The spine to extend.
    """

    def __init__(self, spine: Spine) -> None:
        self._spine = spine
        self.settled = 0
        """The highest seq that readers may have seen."""
        self.waiting: dict[str, list[int]] = {}
        """Rows whose parent has not been read yet, by the parent's id."""
        self._response = _Response()
        self._responded = ROOT
        """The last row passed to ``respond``, which may be called more than once per row."""
        self.call_places = array("i")
        """By row: index of its first call in ``call_ids``; ``ROOT`` for a row without calls."""
        self._callers: dict[str, int] = {}
        """Rows of the latest calls by call id, for rows before ``_callers_end``."""
        self._callers_end = 0
        self._latest: tuple[int, dict[str, int]] = (ROOT, {})
        """The row whose calls were looked up last, and these calls."""
        self.tool_names: dict[str, str] = {}
        self._prompts: set[int] = set()
        """Hashes of the prompts' texts."""
        self._steering: dict[int, list[int]] = {}
        """Queue rows that count as prompts, by the hash of their text."""

    def add_any(self, row: Row, uuid: str, number: int) -> None:
        """Add the content of a row whose parent is set already."""
        spine = self._spine
        held = kinds.kinds_of(row)
        first = spine.firsts[number]
        spine.kinds[first - 1 : first - 1 + len(held)] = held
        if row.type == "assistant":
            self._add_answer(row, uuid, number, held)
        elif row.type == "user":
            self._add_user(row, number, held)
            if _USER in held:
                self.heard(row)
        elif row.type == QUEUE:
            self._add_steering(row, number)
        else:
            if _USER in held:
                self.heard(row)
            self._add_note(row, number)
        if self.waiting and uuid in self.waiting:
            for child in self.waiting.pop(uuid):
                spine.parents[child] = number
            spine.revision += 1

    def link(self, row: Row, number: int) -> int:
        """Return the parent of a row that does not simply follow the previous one."""
        uuid = row.parent_uuid
        if uuid is UNSET:
            return self._follow(row, number)
        if uuid is None:
            if row.subtype != "compact_boundary":
                self._spine.roots.append(number)
            return ROOT
        found = self._spine.find(uuid)
        if ROOT < found < number:
            return found
        # A row that names itself is a loop; any other parent may still be read later.
        if found != number:
            self.waiting.setdefault(uuid, []).append(number)
        return LOST

    def _follow(self, row: Row, number: int) -> int:
        """Return the previous row as the parent of a row that names none."""
        before = self._spine.row_before(number)
        if before != ROOT and row.type in CHAIN_TYPES:
            self._spine.followed += 1
        return before

    def guess(self) -> None:
        """Use the order of the file as that of the conversation, if no row names a parent.

        Exports and other writers put null into each row. A rewind to the very beginning also
        creates several rows without a parent, but then other rows have one.
        """
        spine = self._spine
        roots = spine.roots
        if len(roots) < 2:
            return
        linked = len(spine.parents) - spine.parents.count(ROOT)
        named = linked - len(spine.guessed) - spine.followed
        if not named and len(spine.guessed) < len(roots) - 1:
            for row in roots[1:]:
                spine.parents[row] = spine.row_before(row)
            spine.guessed = roots[1:]
            spine.revision += 1
        elif named and spine.guessed:
            for row in spine.guessed:
                spine.parents[row] = ROOT
            spine.guessed = []
            spine.revision += 1

    def respond(self, row: Row, uuid: str, number: int) -> int:
        """Return the response to which an answer's row belongs.

        The message id alone does not identify it: relays send several responses with the same id.
        """
        spine = self._spine
        starts = spine.starts
        group = len(starts) - 1
        if number == self._responded:
            return group
        self._responded = number
        if not self._response.goes_on((row.message and row.message.id) or uuid):
            group += 1
            starts.append(number)
            spine.texts.append(0)
            spine.calling.append(0)
        elif starts[group] < spine.stirred:
            spine.stirred = starts[group]
        if self._response.speaks_anew(row):
            spine.texts[group] = 0
        return group

    def _add_answer(self, row: Row, uuid: str, number: int, held: bytes) -> None:
        spine = self._spine
        group = self.respond(row, uuid, number)
        first = spine.firsts[number]
        if spine.starts[group] == number:
            spine.closing[first - 1] = 1
            if held[0] == _NOTHING:
                spine.answers[first - 1] = group + 1
        spine.groups[number] = group
        calls = _CALL in held
        spine.flags[number] = SPEAKER | ANSWER | (CALLS if calls else 0)
        content = row.message.content if row.message else None
        for place, kind in enumerate(held):
            if kind == _CALL and type(content) is list:
                spine.answers[first + place - 1] = group + 1
                self._add_call(content[place], number)
            elif kind == _RESULT and type(content) is list:
                self._add_own_result(content[place].tool_use_id or "", group)
            elif kind == _TEXT:
                spoken = type(content) is not list or kinds.speaks(content[place])
                self._add_text(group, first + place, spoken)
        if calls:
            spine.calling[group] = 1
        spine.lead_on(spine.parents[number])

    def _add_call(self, block: Block, number: int) -> None:
        spine = self._spine
        name, tool = block.id or "", block.name or ""
        if self.call_places[number] == ROOT:
            self.call_places[number] = len(spine.call_ids)
        spine.call_ids.append(name)
        spine.tools.append(self.tool_names.setdefault(tool, tool))

    def _add_own_result(self, name: str, group: int) -> None:
        """Add the result of a tool on the API's side, which is part of the answer itself."""
        spine = self._spine
        first = spine.place(spine.firsts[spine.starts[group]])
        calls = spine.call_ids[first:]
        tool = spine.tools[first + calls.index(name)] if name in calls else ""
        spine.call_ids.append(name)
        spine.tools.append(tool)

    def _add_text(self, group: int, seq: int, spoken: bool) -> None:
        """Add a text block: the first one of a response represents all of them."""
        spine = self._spine
        first = spine.texts[group]
        if first == 0:
            first = spine.texts[group] = seq
            begin = spine.firsts[spine.starts[group]]
            if spine.kinds[begin - 1] == _NOTHING:
                spine.answers[begin - 1] = 0
            spine.answers[seq - 1] = group + 1
        else:
            spine.joined.setdefault(first, []).append(seq)
            spine.rewritten = spine.rewritten or first <= self.settled
        spine.kinds[seq - 1] = _NOTHING
        if spoken:
            spine.kinds[first - 1] = _TEXT

    def _add_user(self, row: Row, number: int, held: bytes) -> None:
        spine = self._spine
        if _RESULT in held:
            spine.flags[number] = SPEAKER | RESULT
            self._add_results(row, number, held)
        elif row.is_meta:
            spine.flags[number] = SPEAKER | NOTE | META
            spine.hang(number, spine.parents[number])
            return
        else:
            self._response.end()
            spine.flags[number] = SPEAKER
            spine.closing[spine.firsts[number] - 1] = 1
        spine.lead_on(spine.parents[number])

    def _add_results(self, row: Row, number: int, held: bytes) -> None:
        spine = self._spine
        first = spine.firsts[number]
        content = row.message.content if row.message else None
        called = ROOT
        for place, kind in enumerate(held):
            if kind == _RESULT and type(content) is list:
                name = content[place].tool_use_id or ""
                caller = self._caller(name, number)
                if caller == ROOT:
                    spine.call_ids.append(name)
                    spine.tools.append("")
                else:
                    called = caller
                    found = self._named(caller)[name]
                    spine.call_ids.append(spine.call_ids[found])
                    spine.tools.append(spine.tools[found])
            elif kind != _NOTHING:
                # Next to a result, a row may contain what the person said about it.
                spine.closing[first + place - 1] = 1
        parent = spine.parents[number]
        if parent >= 0 and spine.flags[parent] & ANSWER:
            spine.hang(number, parent)
            return
        source = spine.find(row.source_tool_assistant_uuid)
        answered = ROOT < source < number and spine.flags[source] & ANSWER
        spine.hang(number, source if answered else called)

    def _caller(self, name: str, number: int) -> int:
        """Return the row of the call that row ``number`` answers; ``ROOT`` for none.

        This is the parent row if it contains such a call, and the latest such row otherwise.
        """
        parent = self._spine.parents[number]
        if parent >= 0 and name in self._named(parent):
            return parent
        for row in range(self._callers_end, number):
            for known in self._calls(row):
                self._callers[known] = row
        self._callers_end = max(self._callers_end, number)
        return self._callers.get(name, ROOT)

    def _named(self, row: int) -> dict[str, int]:
        """Return the index in ``call_ids`` of each of a row's calls, the first one for each id."""
        place = self.call_places[row]
        if place == ROOT:
            return {}
        if self._latest[0] != row:
            calls = self._calls(row)
            numbers = range(place + len(calls) - 1, place - 1, -1)
            self._latest = (row, dict(zip(reversed(calls), numbers, strict=True)))
        return self._latest[1]

    def _calls(self, row: int) -> list[str]:
        """Return the ids of a row's calls."""
        spine = self._spine
        place = self.call_places[row]
        if place == ROOT:
            return []
        count = spine.kinds.count(_CALL, spine.firsts[row] - 1, spine.firsts[row + 1] - 1)
        return spine.call_ids[place : place + count]

    def _add_steering(self, row: Row, number: int) -> None:
        """Add a queue row with a person's prompt, unless another row records the same prompt."""
        spine = self._spine
        spine.flags[number] = NOTE
        spine.steering.add(number)
        spine.hang(number, spine.parents[number])
        words = hash(kinds.steering(row))
        if words in self._prompts:
            spine.kinds[spine.firsts[number] - 1] = _NOTHING
        else:
            self._steering.setdefault(words, []).append(number)

    def heard(self, row: Row) -> None:
        """Store the text of a prompt; a queue row with the same text is then not an event."""
        text = kinds.prompted(row)
        if not text:
            return
        spine, words = self._spine, hash(text)
        self._prompts.add(words)
        for number in self._steering.pop(words, ()):
            slot = spine.firsts[number]
            spine.kinds[slot - 1] = _NOTHING
            spine.rewritten = spine.rewritten or slot <= self.settled
            spine.stirred = min(spine.stirred, number)

    def _add_note(self, row: Row, number: int) -> None:
        spine = self._spine
        spine.flags[number] = NOTE
        spine.hang(number, spine.parents[number])
        if row.subtype == "compact_boundary":
            self._response.end()
            spine.boundary = number
            before = spine.find(row.logical_parent_uuid)
            if not ROOT < before < number and row.logical_parent_uuid:
                before = spine.row_before(number)
            spine.compactions[number] = (before, row.compact_metadata)
            spine.closing[spine.firsts[number] - 1] = 1
