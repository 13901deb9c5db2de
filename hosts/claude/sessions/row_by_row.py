"""How single rows of a transcript, of any shape, find their place in its spine."""

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

    It ends at the next row that is neither its own nor one of its results or of the notes
    beside these. Claude Code counts the blocks of a response in ``apiBlockIndex`` (since
    2.1) and names its request in ``requestId``, where the endpoint gave one.
    """

    def __init__(self) -> None:
        self._id = ""
        self._request: str | None = None
        self._block = -1

    def end(self) -> None:
        """End it: the next answer's row begins another one."""
        self._id = ""

    def goes_on(self, id_: str) -> bool:
        """Return whether a row belongs to it; if not, another response begins with the row."""
        if id_ == self._id:
            return True
        self._id, self._request, self._block = id_, None, -1
        return False

    def speaks_anew(self, row: Row) -> bool:
        """Return whether a row of it says that an answer of its own begins with it.

        Behind a relay one id goes on through a whole turn. Claude Code then takes the answers
        for one, also when it resumes, so that all of them stay on a branch that has one.
        """
        request, block = row.request_id, row.api_block_index
        other = bool(request and self._request and request != self._request)
        again = block is not None and block <= self._block
        self._request = request or self._request
        self._block = self._block if block is None else block
        return other or again


class Rowwise:
    """Adds to a spine one row at a time, for which there is room already.

    Args:
        spine: What it adds to.
    """

    def __init__(self, spine: Spine) -> None:
        self._spine = spine
        self.settled = 0
        """The highest seq that readers know already."""
        self.waiting: dict[str, list[int]] = {}
        """Rows whose parent has not been read, by the parent's id."""
        self._response = _Response()
        self._responded = ROOT
        """The last row that was asked for its response; rows are asked for more than once."""
        self.call_places = array("i")
        """By row: where its first call is in ``call_ids``, ``ROOT`` for a row without any."""
        self._callers: dict[str, int] = {}
        """Rows of the latest calls by their ids, worked out up to ``_callers_end``."""
        self._callers_end = 0
        self._latest: tuple[int, dict[str, int]] = (ROOT, {})
        """The row whose calls were asked for last, and these."""
        self.tool_names: dict[str, str] = {}
        self._prompts: set[int] = set()
        """Hashes of the prompts' words."""
        self._steering: dict[int, list[int]] = {}
        """Queue rows that count as prompts, by the hash of their words."""

    def add_any(self, row: Row, uuid: str, number: int) -> None:
        """Add what lies in a row; its parent is there already."""
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
        """Return the parent of a row that does not simply follow the one before it."""
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
        # Itself as its parent is a loop that leads nowhere; anything else may come yet.
        if found != number:
            self.waiting.setdefault(uuid, []).append(number)
        return LOST

    def _follow(self, row: Row, number: int) -> int:
        """Return the row before one that does not say what came before it."""
        before = self._spine.row_before(number)
        if before != ROOT and row.type in CHAIN_TYPES:
            self._spine.followed += 1
        return before

    def guess(self) -> None:
        """Take the order of the file for the conversation's, where no row names another.

        Exports and other writers put null into each row. A rewind to the very beginning
        makes several rows without a parent as well, but then others have one.
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
        """Return the response that an answer's row belongs to.

        The id of a message does not tell one: relays send several responses with the same.
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
        """Add the result of a tool that ran where the model runs: it lies in the answer itself."""
        spine = self._spine
        first = spine.place(spine.firsts[spine.starts[group]])
        calls = spine.call_ids[first:]
        tool = spine.tools[first + calls.index(name)] if name in calls else ""
        spine.call_ids.append(name)
        spine.tools.append(tool)

    def _add_text(self, group: int, seq: int, spoken: bool) -> None:
        """Place a text block: the first of a response speaks for all of them."""
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
                # Beside a result a row may hold what the person said to it.
                spine.closing[first + place - 1] = 1
        parent = spine.parents[number]
        if parent >= 0 and spine.flags[parent] & ANSWER:
            spine.hang(number, parent)
            return
        source = spine.find(row.source_tool_assistant_uuid)
        answered = ROOT < source < number and spine.flags[source] & ANSWER
        spine.hang(number, source if answered else called)

    def _caller(self, name: str, number: int) -> int:
        """Return the row of the call that row ``number`` answers, ``ROOT`` for none.

        That is the row above it if that holds such a call, and the latest one otherwise.
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
        """Return where the calls of a row are in ``call_ids``; the first of each id."""
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
        """Add a queue's row whose words are the person's, unless another row has them."""
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
        """Note the words of a prompt: a queue's row with the same is no event then."""
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
