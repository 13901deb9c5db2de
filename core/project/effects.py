"""The effects of one call, recorded during the call.

A handler writes to its call's ``EffectLog``. The log remains when the handler fails, so every kind
of answer contains what was observed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

Observed = str | None
"""A content hash; None for an observed absence."""


@dataclass(slots=True)
class ReceiptLog:
    """The record of one recovery; see ``contract.envelope.Receipt``.

    ``current`` contains the observed hash of each side (``source``, ``target``); a side that was
    not observed has no key.
    """

    journal: str
    journal_hash: str
    source: tuple[str, str]
    """Path and journaled hash."""

    target: tuple[str, str]
    action: Literal["resume", "rollback", "cleanup", "none"] = "none"
    state: Literal["dispatched", "completed", "failed"] = "dispatched"
    current: dict[str, Observed] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """Return the receipt as JSON-ready data."""
        sides = {}
        for side, (path, journaled) in (("source", self.source), ("target", self.target)):
            sides[side] = {"path": path, "hash": journaled}
            if side in self.current:
                sides[side]["current"] = self.current[side]  # type: ignore[assignment]
        return {
            "journal": self.journal,
            "journal_hash": self.journal_hash,
            **sides,
            "action": self.action,
            "state": self.state,
        }


@dataclass(slots=True)
class EffectLog:
    """The effects of one call so far."""

    cache: Literal["none", "observed", "possible"] = "none"
    phase: str | None = None
    rollback: Literal["none", "completed", "failed"] = "none"
    recoveries_started: int = 0
    recoveries_completed: int = 0
    receipts: list[ReceiptLog] = field(default_factory=list)
    _changed: dict[str, Observed] = field(default_factory=dict)
    _possible: dict[str, None] = field(default_factory=dict)

    def reached(self, phase: str) -> None:
        """Record the last step that was reached."""
        self.phase = phase

    def touched_cache(self) -> None:
        """Record that a lock, journal, staging file or index was written."""
        self.cache = "observed"

    def may_touch_cache(self) -> None:
        """Record that derived state is about to be written."""
        if self.cache == "none":
            self.cache = "possible"

    def may_change(self, path: str) -> None:
        """Record that a document is about to be changed."""
        if path not in self._changed:
            self._possible[path] = None

    def did_not_change(self, path: str) -> None:
        """Record that a change announced with ``may_change`` did not happen."""
        self._possible.pop(path, None)

    def changed(self, path: str, now: Observed) -> None:
        """Record an observed change; a later one to the same document replaces its hash."""
        self._possible.pop(path, None)
        self._changed[path] = now

    @contextmanager
    def rolling_back(self) -> Iterator[None]:
        """Record a rollback: completed when the block ends, failed when it raises.

        A failed rollback stays recorded even if a later one completes.
        """
        before, self.rollback = self.rollback, "failed"
        yield
        self.rollback = "failed" if before == "failed" else "completed"

    def facts(self) -> dict[str, Any]:
        """Return the effects as JSON-ready data, without limits applied."""
        documents = "observed" if self._changed else "possible" if self._possible else "none"
        return {
            "documents": documents,
            "cache": self.cache,
            "changed": _references([{"path": p, "hash": h} for p, h in self._changed.items()]),
            "possible": _references([{"path": path} for path in self._possible]),
            "phase": self.phase,
            "rollback": self.rollback,
            "recovery": {
                "started": self.recoveries_started,
                "completed": self.recoveries_completed,
                "receipts": [receipt.facts() for receipt in self.receipts],
                "total": len(self.receipts),
                "omitted": 0,
            },
        }


def _references(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"items": items, "total": len(items), "omitted": 0}


def unknown_effects() -> dict[str, Any]:
    """Return the effects for a handler that does not record them: unknown, without counts."""
    nothing: dict[str, Any] = {"items": [], "total": None, "omitted": None}
    return {
        "documents": "unknown",
        "cache": "unknown",
        "changed": nothing,
        "possible": dict(nothing),
        "phase": None,
        "rollback": "unknown",
        "recovery": {
            "started": None,
            "completed": None,
            "receipts": [],
            "total": None,
            "omitted": None,
        },
    }
