"""The spine of one session: the slots of its rows, in the order of its files, and its branch.

Seqs are allocated over all files of the session, the inherited ones included. The branch leaves
out what was rolled back. Arrays grow in place and are copied for each state, so a reader keeps the
state that it has.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from hindnote.hosting import Branch, instants
from hindnote.hosts.codex.format.kinds import (
    ASSISTANT,
    CALL,
    COMMAND,
    COMPACTED,
    CONTEXT,
    EVENT,
    MESSAGE,
    NOTHING,
    RESULT,
    USAGE,
    USER,
    kind_of,
    outcome_of,
    tool_of,
)
from hindnote.hosts.codex.format.rows import Row

_ANSWERS = frozenset((NOTHING, ASSISTANT, CALL))


class Spine:
    """All facts about a session's slots that need no text."""

    def __init__(self) -> None:
        # One item per seq; the first seq is at index 0.
        self.files = bytearray()
        """Number of the file that contains a slot's row; at most 255 files."""

        self.offsets = array("q")
        self.sizes = array("q")
        self.failed: dict[int, bool] = {}
        """Whether a call failed, by the seq of its result, if an event told it."""

        self.branch = Branch()
        self.compactions: list[int] = []
        """Seqs on the branch at which a window starts."""

        self.known = False
        """Whether a row was found that only Codex writes."""

        self._file = 0
        self._answer = 0
        self._open = False
        """Whether the next part of an answer belongs to the answer before it."""

        self._shown = 0
        """The highest seq that was published."""

        self._shared = False
        """Whether a published state shares dictionaries with the branch."""

        self._early: dict[str, bool] = {}
        """Outcomes that were read before their result, by the call's id."""

        self._unsettled: dict[str, int] = {}
        """Seqs of results that were read before their outcome, by the call's id."""

        self._names: dict[str, str] = {}
        self._calls: dict[str, str] = {}
        self._starts: list[tuple[Branch, list[int]]] = []
        """The branch at the end of each file before the current one."""

    def add(self, rows: list[Row], offsets: list[int], sizes: list[int]) -> None:
        """Add many rows.

        A single loop over local names, because most of the time of a cold index is spent here.
        """
        branch, known = self.branch, len(self.offsets)
        places: list[int] = []
        kinds: list[int] = []
        times: list[float] = []
        answers: list[int] = []
        closing: list[int] = []
        position = len(branch.seqs)
        names, calls = self._names, self._calls
        moments = instants([row.timestamp for row in rows])
        for place, (row, time) in enumerate(zip(rows, moments, strict=True)):
            kind = kind_of(row)
            if kind is None:
                if row.type == EVENT:
                    if row.payload.type == "thread_rolled_back":
                        self._flush(places, kinds, times, answers, closing, offsets, sizes)
                        places, kinds, times, answers, closing = [], [], [], [], []
                        self._roll_back(row.payload.num_turns)
                        branch, known = self.branch, len(self.offsets)
                        position = len(branch.seqs)
                    elif (outcome := outcome_of(row.payload)) is not None:
                        self._told(*outcome)
                elif row.type == USAGE:
                    self._open = False
                continue
            payload = row.payload
            if kind in _ANSWERS:
                if not self._open:
                    self._answer += 1
                    self._open = True
                answers.append(self._answer)
                closing.append(1)
                if kind == CALL:
                    call_id = payload.call_id or f"?{known + len(places) + 1}"
                    calls[call_id] = call_id
                    branch.call_ids[position + len(places)] = call_id
                    name = tool_of(payload)
                    branch.tools[position + len(places)] = names.setdefault(name, name)
            else:
                answers.append(0)
                if kind == RESULT:
                    call_id = payload.call_id or f"?{known + len(places) + 1}"
                    # A result repeats its call's id; both share one string.
                    call_id = calls.pop(call_id, call_id)
                    branch.call_ids[position + len(places)] = call_id
                    self._came(call_id, known + len(places) + 1)
                    closing.append(0)
                    self._open = False
                elif kind == COMMAND and payload.type != MESSAGE:
                    # The provider ran it during an answer.
                    name = tool_of(payload)
                    branch.tools[position + len(places)] = names.setdefault(name, name)
                    closing.append(0)
                else:
                    closing.append(int(kind != CONTEXT or row.type == COMPACTED))
                    self._open = False
                    if row.type == COMPACTED:
                        self.compactions.append(known + len(places) + 1)
            places.append(place)
            kinds.append(kind)
            times.append(time)
        self._flush(places, kinds, times, answers, closing, offsets, sizes)

    def _flush(
        self,
        places: list[int],
        kinds: list[int],
        times: list[float],
        answers: list[int],
        closing: list[int],
        offsets: list[int],
        sizes: list[int],
    ) -> None:
        """Append slots."""
        if not places:
            return
        self.known = True
        branch, first = self.branch, len(self.offsets) + 1
        self.files += bytes((self._file,)) * len(places)
        self.offsets.fromlist([offsets[place] for place in places])
        self.sizes.fromlist([sizes[place] for place in places])
        branch.seqs.fromlist(list(range(first, first + len(places))))
        branch.kinds += bytes(kinds)
        branch.times.fromlist(times)
        branch.answers.fromlist(answers)
        branch.closing += bytes(closing)

    def _told(self, call_id: str, failed: bool) -> None:
        """Record an outcome for its result, which may already have been read."""
        seq = self._unsettled.pop(call_id, None)
        if seq is None:
            self._early[call_id] = failed
            return
        self.failed[seq] = failed
        if seq <= self._shown:
            # Facts that were computed for the result before are no longer valid.
            self.branch.lineage = object()

    def _came(self, call_id: str, seq: int) -> None:
        """Record a result, whose outcome may already have been read."""
        failed = self._early.pop(call_id, None)
        if failed is None:
            self._unsettled[call_id] = seq
        else:
            self.failed[seq] = failed

    # -- what leaves the branch ------------------------------------------------------

    def _roll_back(self, turns: int) -> None:
        """Remove the person's last turns from the branch."""
        cut = len(self.branch.seqs)
        for _ in range(min(turns, cut) if turns > 0 else 0):
            found = self.branch.kinds.rfind(USER, 0, cut)
            if found < 0:
                break
            cut = found
        if self._shared:
            self._cut(self.branch, cut, self.compactions)
        else:
            self._shorten(cut)

    def _shorten(self, cut: int) -> None:
        """Remove the last slots of the branch in place.

        Nobody else has the branch, and a copy for each of many rollbacks would take quadratic time.
        """
        branch = self.branch
        for at in range(cut, len(branch.seqs)):
            branch.call_ids.pop(at, None)
            branch.tools.pop(at, None)
        # No answer goes on behind a message of the person, before which the branch is cut.
        self._answer = min(filter(None, branch.answers[cut:]), default=self._answer + 1) - 1
        for column in (branch.seqs, branch.kinds, branch.answers, branch.closing, branch.times):
            del column[cut:]
        branch.lineage = object()
        kept = branch.seqs[-1] if cut else 0
        while self.compactions and self.compactions[-1] > kept:
            self.compactions.pop()
        self._open = False

    def _cut(self, branch: Branch, cut: int, compactions: list[int]) -> None:
        """Continue from the first slots of a branch, with a new lineage."""
        self.branch = Branch(
            branch.seqs[:cut],
            branch.kinds[:cut],
            branch.answers[:cut],
            branch.closing[:cut],
            {at: one for at, one in branch.call_ids.items() if at < cut},
            set(),
            {at: one for at, one in branch.tools.items() if at < cut},
            branch.times[:cut],
        )
        kept = branch.seqs[cut - 1] if cut else 0
        self.compactions = [seq for seq in compactions if seq <= kept]
        self._answer = max(self.branch.answers, default=0)
        self._open = False
        self._shared = False

    def begin_next(self, base: int | None, end: int) -> None:
        """Continue with the rows of another file.

        Args:
            base: Number of the file after a part of which it continues; None for the last file.
            end: Size of that part in bytes.
        """
        self._starts.append((self.branch, self.compactions))
        # The stored branch must not grow any more.
        branch, compactions = self._starts[-1 if base is None else base]
        cut = len(branch.seqs)
        if base is not None:
            while cut:
                at = branch.seqs[cut - 1] - 1
                if self.files[at] != base or self.offsets[at] < end:
                    break
                cut -= 1
        lineage = self.branch.lineage if branch is self.branch else None
        whole = cut == len(branch.seqs)
        self._cut(branch, cut, compactions)
        if whole and lineage is not None:
            self.branch.lineage = lineage
        self._file += 1
        self._early.clear()
        self._unsettled.clear()

    # -- states ------------------------------------------------------------------------

    def published(self) -> tuple[Branch, tuple[int, ...]]:
        """Return the current branch, which does not change any more, and its windows.

        Call ids and tools are shared with later states, which change nothing at older positions.
        """
        branch = self.branch
        self._shown = len(self.offsets)
        self._shared = True
        copy = Branch(
            branch.seqs[:],
            branch.kinds[:],
            branch.answers[:],
            branch.closing[:],
            branch.call_ids,
            set(),
            branch.tools,
            branch.times[:],
            branch.lineage,
        )
        seqs = branch.seqs
        windows = [1]
        for seq in self.compactions:
            at = bisect_left(seqs, seq)
            if 0 < at < len(seqs) and seqs[at] == seq:
                windows.append(seq)
        return copy, tuple(windows)
