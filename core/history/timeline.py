"""The events of one session: which slots of the active branch are events, and how they pair.

A call and its result are one event, at the call's seq. Providers reuse call ids, so a result is
paired with the first unpaired call of its id in the nearest answer before it that contains such a
call.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Literal
from weakref import ReferenceType, ref

from msgspec import Struct, field

from hindnote.core.errors import HostFailure, Malformed, Refused
from hindnote.core.history.document import Event, ToolStatus, event_of
from hindnote.core.history.projection import SlotKind, check_slots
from hindnote.core.history.times import instant
from hindnote.core.text.messages import quote

if TYPE_CHECKING:
    from hindnote.core.history.projection import (
        Branch,
        Projection,
        Scannable,
        SessionHeader,
        SlotFacts,
    )

Role = Literal["user", "assistant", "tool", "context"]

ROLES: tuple[Role, ...] = ("user", "assistant", "tool", "context")

ROLE_OF: dict[int, Role] = {
    SlotKind.USER: "user",
    SlotKind.ASSISTANT: "assistant",
    SlotKind.CALL: "tool",
    SlotKind.RESULT: "tool",
    SlotKind.COMMAND: "tool",
    SlotKind.CONTEXT: "context",
}

EVENT_KINDS = frozenset(ROLE_OF)

_ALONE = -1
_CALL, _NOTHING = int(SlotKind.CALL), int(SlotKind.NOTHING)
"""Plain integers, which compare faster than members of an enumeration."""

_PAIRINGS_KEPT = 8
_KINDS = {int(kind): kind for kind in SlotKind}


class _Pairing(Struct):
    """Partners of calls and results, computed for the first ``len(partners)`` slots."""

    lineage: object
    seqs: array[int] = field(default_factory=lambda: array("q"))
    """Seqs of the slots examined. A branch that begins differently has another lineage, even if
    its plugin claims the same one."""

    partners: array[int] = field(default_factory=lambda: array("i"))
    """Position of each slot's partner; ``_ALONE`` for none. Parallel to the branch."""

    kinds: bytearray = field(default_factory=bytearray)
    """The branch's kinds, but ``NOTHING`` for a result that has a call, since it is not an
    event."""

    waiting: dict[str, int | deque[int]] = field(default_factory=dict)
    """By call id: the unpaired calls of the nearest answer with such calls."""

    seen: ReferenceType[Branch] | None = None
    """The branch that was examined last."""

    def holds_for(self, branch: Branch) -> bool:
        """Return whether this pairing is valid for a branch (which may be shorter or longer)."""
        if self.seen is not None and self.seen() is branch:
            return True
        common = min(len(self.seqs), len(branch.seqs))
        return self.seqs[:common] == branch.seqs[:common]

    def extend(self, branch: Branch) -> None:
        """Add the slots of a branch that are not in the pairing yet.

        Raises:
            Malformed: They break the contract.
        """
        start, stop = len(self.partners), len(branch.seqs)
        self.seen = ref(branch)
        if start >= stop:
            return
        check_slots(branch, start, stop)
        self.seqs.extend(branch.seqs[start:stop])
        self.partners.extend(array("i", [_ALONE]) * (stop - start))
        self.kinds.extend(branch.kinds[start:stop])
        call_ids, kinds, waiting = branch.call_ids, branch.kinds, self.waiting
        positions: Sequence[int] = range(start, stop)
        if not start:
            # A newer state of the session may share this dict and have added to it.
            known = sorted(call_ids)
            positions = known[bisect_left(known, 0) : bisect_left(known, stop)]
        for position in positions:
            call_id = call_ids.get(position)
            if call_id is None:
                continue
            if kinds[position] == _CALL:
                if call_id in waiting:
                    self._call_again(call_id, position, branch.answers)
                else:
                    waiting[call_id] = position
            elif (call := waiting.pop(call_id, None)) is not None:
                self._pair(call_id, call, position)

    def _call_again(self, call_id: str, position: int, answers: array[int]) -> None:
        calls = self.waiting[call_id]
        if isinstance(calls, int):
            calls = self.waiting[call_id] = deque((calls,))
        if answers[calls[-1]] != answers[position]:
            calls.clear()
        calls.append(position)

    def _pair(self, call_id: str, call: int | deque[int], result: int) -> None:
        if not isinstance(call, int):
            calls, call = call, call.popleft()
            if calls:
                self.waiting[call_id] = calls
        self.partners[call], self.partners[result] = result, call
        self.kinds[result] = _NOTHING


_Key = tuple[str, str, int]

_pairings: OrderedDict[_Key, _Pairing] = OrderedDict()
"""By host, session and id of the lineage. A pairing refers to its lineage, so that the id is not
reused."""

_pairings_lock = threading.Lock()


def _paired(header: SessionHeader, branch: Branch, passing: bool) -> _Pairing:
    """Return the pairing of a branch, extending the cached one of its lineage."""
    key = (header.host, header.session_id, id(branch.lineage))
    with _pairings_lock:
        pairing = _pairings.get(key)
        if pairing is not None and not pairing.holds_for(branch):
            del _pairings[key]
            pairing = None
        known = pairing is not None
        pairing = pairing or _Pairing(branch.lineage)
        try:
            pairing.extend(branch)
        except BaseException:
            # An interrupted update would give wrong results later.
            _pairings.pop(key, None)
            raise
        if passing and not known:
            return pairing
        _pairings[key] = pairing
        _pairings.move_to_end(key)
        while len(_pairings) > _PAIRINGS_KEPT:
            _pairings.popitem(last=False)
        return pairing


class Timeline:
    """The events of one state of a session. A *position* indexes the branch's arrays.

    Args:
        projection: The session.
        passing: Whether it is one of many sessions in a search; then its pairing is not cached.
    """

    def __init__(self, projection: Projection, *, passing: bool = False) -> None:
        self.projection = projection
        self.branch = projection.branch
        self.size = len(self.branch.seqs)
        # May be longer than this branch, since a newer state of the session shares it.
        try:
            pairing = _paired(projection.header, self.branch, passing)
        except Malformed as error:
            raise self._failure("branch", f"answered with {error}") from error
        self._partners, self._events = pairing.partners, pairing.kinds

    def seq(self, position: int) -> int:
        """Return the seq at a position."""
        return self.branch.seqs[position]

    def role(self, position: int) -> Role:
        """Return the role of the event at a position."""
        return ROLE_OF[self.branch.kinds[position]]

    def before(self, seq: int) -> int:
        """Return the number of slots before ``seq``."""
        return bisect_left(self.branch.seqs, seq)

    def after(self, seq: int) -> int:
        """Return the position of the first slot after ``seq``."""
        return bisect_right(self.branch.seqs, seq)

    def partner(self, position: int) -> int | None:
        """Return the position of the result of a call, or the call of a result.

        None without one.
        """
        other = self._partners[position]
        return other if _ALONE < other < self.size else None

    def is_event(self, position: int) -> bool:
        """Return whether the slot at a position is an event by itself."""
        return self._events[position] != SlotKind.NOTHING

    def events(self, positions: range, kinds: frozenset[int] = EVENT_KINDS) -> Iterator[int]:
        """Yield the positions of events of some kinds, in the order of ``positions``.

        Args:
            positions: A range with step 1 or -1.
            kinds: Slot kinds.
        """
        low, high = sorted((positions.start, positions.stop))
        ascending = positions.step > 0
        stretch = self._events[low:high] if ascending else self._events[low + 1 : high + 1]
        wanted = stretch.translate(bytes(kind in kinds for kind in range(256)))
        return compress(positions, wanted if ascending else reversed(wanted))

    def tools(self, positions: Iterable[int]) -> Counter[str]:
        """Return the number of events of each tool, where the name was recorded."""
        positions = list(positions)
        found = Counter(map(self.branch.tools.get, positions))
        if found.pop(None, 0):
            for position in positions:
                if position not in self.branch.tools and self.role(position) == "tool":
                    found[self.event(position).tool] += 1
        return Counter({name: count for name, count in found.items() if name is not None})

    def instant(self, position: int) -> float:
        """Return the time of the event at a position; NaN when unknown."""
        if self.branch.times:
            return self.branch.times[position]
        return instant(self._facts(position).created_at)

    def event(self, position: int) -> Event:
        """Return the event at a position."""
        facts = self._facts(position)
        other = self.partner(position)
        result = None if other is None else self._facts(other)
        status = self._missing(position) if result is None else None
        kind = _KINDS[self.branch.kinds[position]]
        return event_of(self.seq(position), kind, facts, result, status)

    def call_id(self, position: int) -> str | None:
        """Return the host's id of the call or result at a position."""
        return self.branch.call_ids.get(position)

    def _facts(self, position: int) -> SlotFacts:
        return self.projection.facts(self.seq(position))

    def _failure(self, asked: str, what: str) -> HostFailure:
        header = self.projection.header
        return HostFailure(
            f"host plugin {header.host!r}, asked for {asked} of session "
            f"{quote(header.session_id)}, {what}"
        )

    def raw(self, position: int, session: Scannable) -> Iterator[bytes]:
        """Yield the raw lines of the event at a position.

        Args:
            position: The event's position.
            session: This timeline's projection.
        """
        yield from session.raw(self.seq(position))
        other = self.partner(position)
        if other is not None:
            yield from session.raw(self.seq(other))

    def locate(self, seq: int) -> int:
        """Return the position of the event at ``seq``.

        Raises:
            Refused: ``unknown_seq``, ``not_on_branch`` or ``not_an_event``, naming the seq to read
                instead.
        """
        last = self.projection.last_seq
        if not 1 <= seq <= last:
            there = f"the session has seqs 1 to {last}" if last else "the session is empty"
            raise Refused("unknown_seq", f"there is no seq {seq}; {there}")
        position = self.before(seq)
        if position == self.size or self.seq(position) != seq:
            raise Refused(
                "not_on_branch",
                f"seq {seq} lies on a branch that the session has left; {self._nearby(position)}",
            )
        if not self.is_event(position):
            raise Refused("not_an_event", self._instead(position))
        return position

    def _missing(self, position: int) -> ToolStatus | None:
        """Return the status of a call without a result; None for any other slot."""
        if self.branch.kinds[position] != SlotKind.CALL:
            return None
        if self.seq(position) in self.branch.aborted or self._went_on(position):
            return "unanswered"
        return "pending"

    def _went_on(self, position: int) -> bool:
        closing, answers = self.branch.closing, self.branch.answers
        last = closing.rfind(1, position + 1, self.size)
        # Further parts of the same answer do not prove that the conversation went on.
        while last > position and answers[last] == answers[position]:
            last = closing.rfind(1, position + 1, last)
        return last > position

    def _instead(self, position: int) -> str:
        seq, other = self.seq(position), self.partner(position)
        if other is not None:
            call = self.seq(other)
            return f"seq {seq} is the result of the call at seq {call}; read seq {call}"
        answer = self.branch.answers[position]
        if answer:
            for found in range(self.branch.answers.index(answer), self.size):
                if self.branch.answers[found] > answer:
                    break
                if self.branch.answers[found] and self.branch.kinds[found] == SlotKind.CALL:
                    call = self.seq(found)
                    return f"seq {seq} is an answer without text; read its first call, seq {call}"
        return f"seq {seq} holds no event; {self._nearby(position)}"

    def _nearby(self, position: int) -> str:
        older = next(self.events(range(position - 1, -1, -1)), None)
        newer = next(self.events(range(position, self.size)), None)
        near = [str(self.seq(at)) for at in (older, newer) if at is not None]
        return f"the nearest events are at seq {' and '.join(near)}" if near else "there is none"
