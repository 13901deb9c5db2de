"""The facts of one event, and its document: one deterministic text made from them.

Reads, previews, queries and offsets all mean the same document.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hindnote.core.history.projection import SlotKind

if TYPE_CHECKING:
    from hindnote.core.history.projection import NestedCalls, SlotFacts

ToolStatus = Literal["ok", "error", "pending", "unanswered", "unknown"]


class Event(Struct, frozen=True, dict=True):
    """One addressable thing of a session."""

    seq: int
    kind: SlotKind
    facts: SlotFacts
    """Facts of the slot that gives the event its seq."""

    result: SlotFacts | None
    """Facts of what came back: of a call's result, a command, or a result alone."""

    status: ToolStatus | None
    """None for an event that is no tool's."""

    @property
    def created_at(self) -> str | None:
        """Time as recorded."""
        return self.facts.created_at

    @property
    def tool(self) -> str | None:
        """Name of the tool, from the half that recorded it."""
        if self.status is None:
            return None
        return self.facts.tool or (self.result.tool if self.result else None)

    @property
    def output_truncated(self) -> bool:
        """Whether the host recorded that it cut the output."""
        return self.result is not None and self.result.output_truncated

    @property
    def full_output_path(self) -> str | None:
        """Where the host put the whole output, if it recorded that."""
        return self.result.full_output_path if self.result else None

    @property
    def nested(self) -> NestedCalls | None:
        """Calls that the tool made, if the host recorded any."""
        if self.result is not None and self.result.nested is not None:
            return self.result.nested
        return self.facts.nested

    @cached_property
    def document(self) -> str:
        """The event's text."""
        return self.facts.text if self.status is None else "\n".join(self._parts())

    def _parts(self) -> list[str]:
        parts = []
        if self.kind != SlotKind.RESULT:
            # A result alone does not make up the call that it is missing.
            if self.tool is not None:
                parts.append(f"call: {self.tool}")
            if self.facts.arguments is not None:
                parts.append(f"arguments: {self.facts.arguments}")
        parts.append(f"status: {self.status}")
        if self.result is not None:
            parts.append(f"output:\n{self.result.text}")
        if self.full_output_path is not None:
            parts.append(f"full output: {self.full_output_path}")
        if self.nested is not None:
            state = "complete" if self.nested.complete else "incomplete"
            parts.append(f"nested calls: {len(self.nested.records)}, {state}")
            parts.extend(self.nested.records)
        return parts


def event_of(
    seq: int,
    kind: SlotKind,
    facts: SlotFacts,
    result: SlotFacts | None,
    missing: ToolStatus | None,
) -> Event:
    """Return an event made from the facts of its slots.

    Args:
        seq: Its address.
        kind: Kind of the slot at ``seq``.
        facts: Facts of that slot.
        result: Facts of the result that pairs with a call.
        missing: Status of a call without a result.
    """
    if kind in (SlotKind.COMMAND, SlotKind.RESULT):
        result = facts
    status = missing if result is None else _outcome(result.failed)
    return Event(seq, kind, facts, result, status)


def _outcome(failed: bool | None) -> ToolStatus:
    if failed is None:
        return "unknown"
    return "error" if failed else "ok"
