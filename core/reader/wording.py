"""The words with which every surface speaks of events, marks and what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from hindnote.core.history.timeline import Role
    from hindnote.core.reader.page import Mark

NAMES: dict[Role, str] = {
    "user": "You",
    "assistant": "Agent",
    "tool": "Tool",
    "context": "Context",
}
"""What the roles of events are called for a person."""


def mark_words(mark: Mark) -> str:
    """Return what a mark says."""
    if mark.kind == "window":
        return f"window {mark.number}: the session was compacted here"
    span = (
        f"seq {mark.seq:,}"
        if mark.seq == mark.last_seq
        else f"seq {mark.seq:,} to {mark.last_seq:,}"
    )
    if not mark.events:
        return f"a branch that was left: {span}"
    count = counted(mark.events, "event")
    told = "; ".join(f"“{prompt}”" for prompt in mark.prompts)
    return f"a branch that was left: {span}, {count}{f': {told}' if told else ''}"


def left_out(omitted: int) -> str:
    """Return what to say of a text's end that is not shown."""
    return f"… {counted(omitted, 'more character')}"
