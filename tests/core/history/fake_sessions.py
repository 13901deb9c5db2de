"""Sessions in memory: a builder for projections, and a source that serves them.

The builder takes seqs as a decoder does, one for each slot in append order; what
it is told to leave behind on another branch keeps its seqs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hindnote.core.delivery.budget import Budget
from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.projection import (
    Branch,
    Damage,
    NestedCalls,
    SessionHeader,
    SlotFacts,
    SlotKind,
)
from hindnote.core.history.times import instant
from hindnote.core.plugins.models import Decoration, HostCall, Identity, SessionEntry
from hindnote.core.tools.operation import BoundCall


@dataclass
class FakeProjection:
    """One state of a fake session."""

    header: SessionHeader
    last_seq: int
    branch: Branch
    damaged: Sequence[Damage]
    windows: Sequence[int]
    slots: dict[int, SlotFacts]
    asked: list[int] = field(default_factory=list)
    """Seqs whose facts were asked for, in order."""

    def facts(self, seq: int) -> SlotFacts:
        self.asked.append(seq)
        return self.slots[seq]


def nested(*names: str, complete: bool = True) -> NestedCalls:
    """Return the record of calls that a script made."""
    records = tuple(
        json.dumps({"id": f"x/{n}", "name": name}, separators=(",", ":"))
        for n, name in enumerate(names, start=1)
    )
    return NestedCalls(records, names, complete)


class SessionBuilder:
    """Builds a session slot by slot; every method returns the seq that it took."""

    def __init__(self, session_id: str = "s1", host: str = "pi", **header: Any) -> None:
        self.header = SessionHeader(host=host, session_id=session_id, **header)
        self.times = True
        """Whether projections carry times; without, facts are asked."""

        self._slots: list[tuple[SlotKind, SlotFacts, int, bool, str | None, bool]] = []
        self._left: set[int] = set()
        self._answers = 0
        self._windows = [1]
        self._damaged: list[Damage] = []
        self._lineage = object()

    @property
    def answered(self) -> bool:
        """Whether an answer has begun, to which calls can be added."""
        return self._answers > 0

    # -- slots -----------------------------------------------------------------

    def user(self, text: str, **facts: Any) -> int:
        return self._add(SlotKind.USER, SlotFacts(text=text, **facts))

    def context(self, text: str, closing: bool = True, **facts: Any) -> int:
        return self._add(SlotKind.CONTEXT, SlotFacts(text=text, **facts), closing=closing)

    def answer(self, text: str = "", **facts: Any) -> int:
        """Begin an answer; without text its slot is no event."""
        self._answers += 1
        kind = SlotKind.ASSISTANT if text else SlotKind.NOTHING
        return self._add(kind, SlotFacts(text=text, **facts), answer=self._answers)

    def call(
        self,
        call_id: str | None,
        tool: str | None = "bash",
        arguments: str | None = "{}",
        aborted: bool = False,
        **facts: Any,
    ) -> int:
        """Add a call to the answer that began last."""
        made = SlotFacts(tool=tool, arguments=arguments, **facts)
        return self._add(
            SlotKind.CALL, made, answer=self._answers, call_id=call_id, aborted=aborted
        )

    def result(
        self, call_id: str | None, text: str = "", failed: bool | None = False, **facts: Any
    ) -> int:
        made = SlotFacts(text=text, failed=failed, **facts)
        return self._add(SlotKind.RESULT, made, closing=False, call_id=call_id)

    def command(self, text: str, failed: bool | None = False, **facts: Any) -> int:
        made = SlotFacts(**{"tool": "bash", "text": text, "failed": failed, **facts})
        return self._add(SlotKind.COMMAND, made)

    def nothing(self) -> int:
        return self._add(SlotKind.NOTHING, SlotFacts(), closing=False)

    def window(self, summary: str) -> int:
        """Begin a new window with a summary."""
        seq = self.context(summary)
        self._windows.append(seq)
        return seq

    # -- states ----------------------------------------------------------------

    def leave(self, seqs: Iterable[int]) -> None:
        """Leave slots behind on another branch."""
        self._left.update(seqs)
        self._lineage = object()

    def damage(self, size: int = 10) -> None:
        self._damaged.append(Damage(offset=0, size=size, reason="no JSON"))

    def projection(self) -> FakeProjection:
        branch = Branch(lineage=self._lineage)
        for seq, (kind, facts, answer, closing, call_id, aborted) in enumerate(self._slots, 1):
            if seq in self._left:
                continue
            position = len(branch.seqs)
            branch.seqs.append(seq)
            branch.kinds.append(kind)
            branch.answers.append(answer)
            branch.closing.append(closing)
            if call_id is not None:
                branch.call_ids[position] = call_id
            if aborted:
                branch.aborted.add(seq)
            if facts.tool is not None:
                branch.tools[position] = facts.tool
            if self.times:
                branch.times.append(instant(facts.created_at))
        slots = {seq: slot[1] for seq, slot in enumerate(self._slots, 1)}
        return FakeProjection(
            header=self.header,
            last_seq=len(self._slots),
            branch=branch,
            damaged=tuple(self._damaged),
            windows=tuple(self._windows),
            slots=slots,
        )

    def _add(
        self,
        kind: SlotKind,
        facts: SlotFacts,
        answer: int = 0,
        closing: bool = True,
        call_id: str | None = None,
        aborted: bool = False,
    ) -> int:
        self._slots.append((kind, facts, answer, closing, call_id, aborted))
        return len(self._slots)


class FakeSource:
    """Serves fake sessions as the loaded plugins would, the first one newest."""

    def __init__(self, *builders: SessionBuilder, current: SessionBuilder | None = None) -> None:
        self.builders = list(builders)
        self.running = current or (builders[0] if builders else None)
        self.entries: dict[str, SessionEntry] = {}
        self.unreadable: set[str] = set()
        self.failing: set[str] = set()
        """Hosts without a catalogue, and sessions whose projection crashes."""

        self.hosts = {"pi"}
        self.refused: dict[str, HostFailure] = {}
        self.opened: list[str] = []

    def slugs(self) -> Sequence[str]:
        return sorted({builder.header.host for builder in self.builders} | self.hosts)

    def not_loaded(self) -> dict[str, HostFailure]:
        return self.refused

    def current(self, call: HostCall) -> FakeProjection | None:
        return self.running.projection() if self.running else None

    def lists_sessions(self, host: str) -> bool:
        return host in self.hosts

    def sessions(self, call: HostCall, host: str) -> Iterable[SessionEntry]:
        if host in self.failing:
            raise HostFailure(f"host plugin {host!r} failed in host_sessions with ValueError")
        return [entry for entry in map(self.entry, self.builders) if entry.host == host]

    def open(self, call: HostCall, session: SessionEntry) -> FakeProjection | None:
        self.opened.append(session.canonical)
        if session.canonical in self.unreadable:
            raise Refused("unreadable_session", f"{session.canonical} is no session")
        if session.canonical in self.failing:
            raise HostFailure(f"host plugin {session.host!r} failed in host_projection")
        for builder in self.builders:
            if self.entry(builder).canonical == session.canonical:
                return builder.projection()
        return None

    def entry(self, builder: SessionBuilder) -> SessionEntry:
        header = builder.header
        known = self.entries.get(f"{header.host}:{header.session_id}")
        return known or SessionEntry(
            host=header.host,
            id=header.session_id,
            file=Path("/sessions") / f"{header.session_id}.jsonl",
            started=header.started,
            cwd=header.cwd,
            parent=header.parent,
            name=header.name,
            modified=1_800_000_000.0 - self.builders.index(builder),
        )


def bound_call(source: FakeSource, decoration: Decoration | None = None, **call: Any) -> BoundCall:
    """Return a call bound to a fake source."""
    cwd = call.pop("cwd", Path("/"))
    host = HostCall(**{"host": "pi", "cwd": cwd, **call})
    return BoundCall(
        call=host,
        identity=Identity(
            home=Path("/notes"), host=host.host, session_id=host.session_id, agent="a", model="m"
        ),
        base_cwd=cwd,
        cwd=cwd,
        budget=replace(Budget(), decoration=decoration or Decoration()),
        history=source,
    )
