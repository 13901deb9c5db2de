"""The logbook format: lines of a file to slots and facts.

A logbook is never rewritten. A row ``undo`` takes back what the person said last and all that
followed, so the active branch is the file without what was taken back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindnote.hosting import (
    Branch,
    Damage,
    FileCache,
    LineFile,
    Refused,
    SessionHeader,
    SlotFacts,
    SlotKind,
    Unreadable,
    instant,
    parse,
    recorded,
)

SLUG = "logbook"


@dataclass(frozen=True)
class Voyage:
    """One state of a logbook, as hindnote reads it; later states are other objects."""

    header: SessionHeader
    branch: Branch
    slots: list[SlotFacts]
    last_seq: int
    damaged: tuple[Damage, ...]
    windows: tuple[int, ...]

    def facts(self, seq: int) -> SlotFacts:
        """Return what was recorded of a slot."""
        return self.slots[seq - 1]


class Logbook:
    """What is known of one file; extended while the file grows, by one thread at a time."""

    def __init__(self, file: LineFile) -> None:
        self._file = file
        self._header: SessionHeader | None = None
        self._branch = Branch()
        self._slots: list[SlotFacts] = []
        self._answers = 0
        self._damaged: tuple[Damage, ...] = ()
        self._windows: tuple[int, ...] = (1,)
        self.voyage: Voyage | None = None
        self.extend()

    def extend(self) -> None:
        """Take in the lines that the file gained, and publish the new state."""
        # A new object for a new state: whoever holds the old branch keeps it whole.
        old, self._branch = self._branch, _copy(self._branch)
        for offset, line in self._file.advance():
            try:
                self._take(parse(line))
            except Unreadable as error:
                self._damaged += (Damage(offset=offset, size=len(line), reason=str(error)),)
        if old.seqs == self._branch.seqs:
            self._branch = old
        if self._header is not None:
            self.voyage = Voyage(
                self._header,
                self._branch,
                self._slots,
                len(self._slots),
                self._damaged,
                self._windows,
            )

    def _take(self, row: Any) -> None:
        """Take in one line; a row of a kind that is not known has no slot.

        Raises:
            Unreadable: The row is of a known kind and does not hold what that kind holds.
        """
        if not isinstance(row, dict):
            raise Unreadable("not an object")
        at = recorded(row.get("at"))
        if "logbook" in row:
            self._header = self._header or _header(row)
        elif "person" in row:
            self._slot(SlotKind.USER, SlotFacts(created_at=at, text=_text(row, "person")))
        elif "agent" in row:
            self._answer(row, at)
        elif "result" in row:
            failed = row.get("failed")
            facts = SlotFacts(
                created_at=at,
                text=_text(row, "output"),
                failed=failed if isinstance(failed, bool) else None,
            )
            self._slot(SlotKind.RESULT, facts, call_id=_text(row, "result"), closing=False)
        elif "summary" in row:
            self._slot(SlotKind.CONTEXT, SlotFacts(created_at=at, text=_text(row, "summary")))
            self._windows += (len(self._slots),)
        elif row.get("undo") is True:
            self._undo()

    def _undo(self) -> None:
        """Cut the branch before the last person's turn; what was taken back keeps its seqs."""
        cut = max(self._branch.kinds.rfind(SlotKind.USER), 0)
        self._branch = _copy(self._branch, cut)
        self._answers = max(self._branch.answers, default=0)
        kept = self._branch.seqs[-1] if cut else 0
        self._windows = tuple(seq for seq in self._windows if seq == 1 or seq <= kept)

    def _answer(self, row: dict[str, Any], at: str | None) -> None:
        # Everything is read before the first slot is taken: a row counts as a whole or not at all.
        text = "" if row["agent"] is None else _text(row, "agent")
        calls = row.get("calls") or []
        if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
            raise Unreadable("calls is not a list of objects")
        made = [
            (_text(call, "id"), SlotFacts(at, tool=_text(call, "tool"), arguments=_input(call)))
            for call in calls
        ]
        self._answers += 1
        # An answer takes its slot with or without text: allocation never depends on content.
        kind = SlotKind.ASSISTANT if text else SlotKind.NOTHING
        self._slot(kind, SlotFacts(created_at=at, text=text), answer=self._answers)
        for call_id, facts in made:
            self._slot(SlotKind.CALL, facts, answer=self._answers, call_id=call_id)

    def _slot(
        self,
        kind: SlotKind,
        facts: SlotFacts,
        answer: int = 0,
        call_id: str | None = None,
        *,
        closing: bool = True,
    ) -> None:
        self._slots.append(facts)
        branch, position = self._branch, len(self._branch.seqs)
        branch.seqs.append(len(self._slots))
        branch.kinds.append(kind)
        branch.answers.append(answer)
        branch.closing.append(closing)
        branch.times.append(instant(facts.created_at))
        if call_id is not None:
            branch.call_ids[position] = call_id
        if facts.tool is not None:
            branch.tools[position] = facts.tool


def _header(row: dict[str, Any]) -> SessionHeader:
    cwd, parent = row.get("cwd"), row.get("parent")
    return SessionHeader(
        host=SLUG,
        session_id=_text(row, "id"),
        started=recorded(row.get("started")),
        cwd=cwd if isinstance(cwd, str) else None,
        parent=parent if isinstance(parent, str) else None,
    )


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise Unreadable(f"{name} is not a text")
    return value


def _input(call: dict[str, Any]) -> str:
    if not isinstance(call.get("input"), dict):
        raise Unreadable("input is not an object")
    return json.dumps(call["input"], ensure_ascii=False, separators=(",", ":"))


def _copy(branch: Branch, cut: int | None = None) -> Branch:
    """Return a copy that may grow; one that is cut is of another lineage."""
    size = len(branch.seqs) if cut is None else cut
    copy = Branch(
        seqs=branch.seqs[:size],
        kinds=branch.kinds[:size],
        answers=branch.answers[:size],
        closing=branch.closing[:size],
        call_ids={at: name for at, name in branch.call_ids.items() if at < size},
        tools={at: name for at, name in branch.tools.items() if at < size},
        times=branch.times[:size],
    )
    if cut is None:
        copy.lineage = branch.lineage
    return copy


_logbooks = FileCache(Logbook)


def open_logbook(file: Path) -> Voyage | None:
    """Return a logbook in its present state, or None when there is no file yet.

    Raises:
        Refused: The file is no logbook.
    """
    try:
        voyage = _logbooks.get(file).voyage
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused("unreadable_session", f"{file.name}: {error.strerror or error}") from error
    if voyage is None:
        raise Refused(
            "unreadable_session", f"{file.name} does not start with a logbook's first line"
        )
    return voyage
