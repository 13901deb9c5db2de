"""One event of a session, and its document: the text that represents the event.

Reads, previews, queries and offsets all refer to this document.
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
    """One event of a session, which has a seq of its own."""

    seq: int
    kind: SlotKind
    facts: SlotFacts
    """Content of the slot that gives the event its seq."""

    result: SlotFacts | None
    """Content of the slot with the output: a call's result, a command, or a result without a
    call."""

    status: ToolStatus | None
    """None for an event that is not a tool event."""

    @property
    def created_at(self) -> str | None:
        """The recorded time."""
        return self.facts.created_at

    @property
    def tool(self) -> str | None:
        """Name of the tool, from the call or else from the result."""
        if self.status is None:
            return None
        return self.facts.tool or (self.result.tool if self.result else None)

    @property
    def output_truncated(self) -> bool:
        """Whether the host recorded that it cut the output."""
        return self.result is not None and self.result.output_truncated

    @property
    def full_output_path(self) -> str | None:
        """Path at which the host stored the whole output, if it recorded one."""
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
            # A result without a call does not invent the call.
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
    """Return the event for a slot.

    Args:
        seq: Its seq.
        kind: Kind of the slot at ``seq``.
        facts: Content of that slot.
        result: Content of the matching result, for a call.
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
