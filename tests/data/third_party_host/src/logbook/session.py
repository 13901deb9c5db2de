"""The logbook format: lines of a file to slots and facts.

A logbook is never rewritten and has no branches, so its active branch is all of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hindnote import Refused
from hindnote.core.history.cache import FileCache
from hindnote.core.history.instants import instant
from hindnote.core.history.jsontext import Unreadable, parse
from hindnote.core.history.lines import LineFile
from hindnote.core.history.projection import Branch, Damage, SessionHeader, SlotFacts, SlotKind

SLUG = "logbook"


class Logbook:
    """One decoded logbook; grows with its file."""

    def __init__(self, file: LineFile) -> None:
        self._file = file
        self._slots: list[SlotFacts] = []
        self._answers = 0
        self._lineage = object()
        self.header: SessionHeader | None = None
        self.branch = Branch(lineage=self._lineage)
        self.damaged: Sequence[Damage] = ()
        self.windows: Sequence[int] = (1,)
        self.extend()

    @property
    def last_seq(self) -> int:
        """Every slot is on the only branch."""
        return len(self._slots)

    def facts(self, seq: int) -> SlotFacts:
        """Return what was recorded of a slot."""
        return self._slots[seq - 1]

    def extend(self) -> None:
        """Take in the lines that the file gained; the core asks when it has grown."""
        # A new object for a new state: whoever holds the old branch keeps it whole.
        old, self.branch = self.branch, _copy(self.branch)
        for offset, line in self._file.advance():
            try:
                row = parse(line)
                self._take(row if isinstance(row, dict) else {})
            except Unreadable as error:
                found = Damage(offset=offset, size=len(line), reason=str(error))
                self.damaged = (*self.damaged, found)
        if len(old.seqs) == len(self.branch.seqs):
            self.branch = old

    def _take(self, row: dict[str, Any]) -> None:
        at = row.get("at")
        if "logbook" in row and self.header is None:
            self.header = SessionHeader(
                host=SLUG,
                session_id=str(row["id"]),
                started=row.get("started"),
                cwd=row.get("cwd"),
            )
        elif "person" in row:
            self._slot(SlotKind.USER, SlotFacts(created_at=at, text=row["person"]))
        elif "agent" in row:
            self._answer(row, at)
        elif "result" in row:
            self._slot(
                SlotKind.RESULT,
                SlotFacts(created_at=at, text=row["output"], failed=bool(row.get("failed"))),
                call_id=row["result"],
                closing=False,
            )
        elif "summary" in row:
            self._slot(SlotKind.CONTEXT, SlotFacts(created_at=at, text=row["summary"]))
            self.windows = (*self.windows, self.last_seq)

    def _answer(self, row: dict[str, Any], at: str | None) -> None:
        self._answers += 1
        text = row["agent"] or ""
        kind = SlotKind.ASSISTANT if text else SlotKind.NOTHING
        # An answer takes its slot with or without text: allocation never depends on content.
        self._slot(kind, SlotFacts(created_at=at, text=text), answer=self._answers)
        for call in row.get("calls", ()):
            arguments = json.dumps(call["input"], ensure_ascii=False, separators=(",", ":"))
            self._slot(
                SlotKind.CALL,
                SlotFacts(created_at=at, tool=call["tool"], arguments=arguments),
                answer=self._answers,
                call_id=call["id"],
            )

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
        position = len(self.branch.seqs)
        self.branch.seqs.append(self.last_seq)
        self.branch.kinds.append(kind)
        self.branch.answers.append(answer)
        self.branch.closing.append(closing)
        self.branch.times.append(instant(facts.created_at))
        if call_id is not None:
            self.branch.call_ids[position] = call_id
        if facts.tool is not None:
            self.branch.tools[position] = facts.tool


def _copy(branch: Branch) -> Branch:
    return Branch(
        seqs=branch.seqs[:],
        kinds=branch.kinds[:],
        answers=branch.answers[:],
        closing=branch.closing[:],
        call_ids=dict(branch.call_ids),
        tools=dict(branch.tools),
        times=branch.times[:],
        lineage=branch.lineage,
    )


_logbooks = FileCache(Logbook)


def open_logbook(file: Path) -> Logbook | None:
    """Return a logbook in its present state, or None when there is no file yet.

    Raises:
        Refused: The file is no logbook.
    """
    try:
        logbook = _logbooks.get(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused("unreadable_session", f"{file.name}: {error.strerror}") from error
    if logbook.header is None:
        raise Refused("unreadable_session", f"{file.name} does not start with a logbook's first line")
    return logbook
