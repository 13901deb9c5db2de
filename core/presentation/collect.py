"""Collect the tool events of a recorded session, each with its presentation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindnote.core.errors import Refused
from hindnote.core.history.projection import Presentable
from hindnote.core.history.timeline import Timeline
from hindnote.core.presentation.models import Find, Grep, Ls, Part, Presentation, Text
from hindnote.core.presentation.query import literals

if TYPE_CHECKING:
    from hindnote.core.history.document import Event
    from hindnote.core.history.projection import Projection

_LOOKING = ("find", "glob", "grep", "ls")
"""Tools that search for files or lines, by their lower-case names in any host."""


class Shown(Part):
    """One tool event."""

    seq: int
    created_at: str | None = None
    tool: str | None = None
    status: str | None = None
    arguments: Any = None
    presentation: Presentation | None = None
    """None for a call without a result."""

    def argument(self, name: str) -> str | None:
        """Return a text argument of the call."""
        given = self.arguments.get(name) if isinstance(self.arguments, dict) else None
        return given if isinstance(given, str) else None

    def described(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the arguments in a readable form: one row, and each longer text separately."""
        given = self.arguments if isinstance(self.arguments, dict) else {}
        long = {key: text for key, text in given.items() if isinstance(text, str) and "\n" in text}
        short = {key: value for key, value in given.items() if key not in long}
        if short or (self.arguments and not given):
            yield "", [json.dumps(short or self.arguments, ensure_ascii=False)]
        for key, text in long.items():
            yield key, text.removesuffix("\n").split("\n")

    @property
    def subject(self) -> str:
        """What the tool was asked for, if its result does not contain it: a pattern, a folder."""
        tool = (self.tool or "").lower()
        if not isinstance(self.presentation, Grep | Find | Ls) and tool not in _LOOKING:
            return ""
        given = self.arguments if isinstance(self.arguments, dict) else {}
        wanted = (given.get("pattern"), given.get("path"))
        return " in ".join(text for text in wanted if isinstance(text, str))

    @property
    def literal(self) -> re.Pattern[str] | None:
        """A regex for what a search looked for, if that was only plain texts; else None."""
        given = self.arguments if isinstance(self.arguments, dict) else {}
        # Longest first, so that a text is not hidden by another one that is its beginning.
        looked = (self.tool or "").lower() in _LOOKING
        texts = sorted(literals(given) if looked else (), key=len, reverse=True)
        any_case = given.get("ignoreCase") is True or given.get("-i") is True
        flags = re.IGNORECASE if any_case else re.NOFLAG
        return re.compile("|".join(map(re.escape, texts)), flags) if texts else None


class Page(Part):
    """The requested tool events of a session."""

    session: str
    name: str | None = None
    cwd: str | None = None
    results: tuple[Shown, ...]


def page_of(projection: Projection, seq: int | None, last: int | None) -> Page:
    """Return the tool events of a session.

    Args:
        projection: The session.
        seq: The one event to show; None for all.
        last: Show only this many last events.

    Raises:
        Refused: ``unknown_seq``, ``not_on_branch`` or ``not_an_event``; the last one also when it
            is not a tool event.
    """
    timeline = Timeline(projection)
    positions = list(_tool_positions(timeline))
    if seq is not None:
        position = timeline.locate(seq)
        if position not in positions:
            raise Refused("not_an_event", _no_tool(timeline, position, positions))
        positions = [position]
    elif last is not None:
        positions = positions[-last:]
    header = projection.header
    return Page(
        session=header.session_id,
        name=header.name,
        cwd=header.cwd,
        results=tuple(shown_at(timeline, position) for position in positions),
    )


def _no_tool(timeline: Timeline, position: int, tools: list[int]) -> str:
    """Return the message for an event that is not a tool event, with the nearest one."""
    said = f"the event at seq {timeline.seq(position)} is of role {timeline.role(position)}"
    if not tools:
        return f"{said}, and the session has no tool event that could be shown"
    nearest = min(tools, key=lambda tool: abs(tool - position))
    return f"{said}, and only tool events are shown; the nearest is seq {timeline.seq(nearest)}"


def _tool_positions(timeline: Timeline) -> Iterator[int]:
    for position in range(timeline.size):
        if timeline.is_event(position) and timeline.role(position) == "tool":
            yield position


def shown_at(timeline: Timeline, position: int) -> Shown:
    """Return the tool event at a position, with its presentation."""
    event = timeline.event(position)
    arguments = event.facts.arguments
    return Shown(
        seq=event.seq,
        created_at=event.created_at,
        tool=event.tool,
        status=event.status,
        arguments=_parsed(arguments) if arguments is not None else None,
        presentation=_presentation(timeline, position, event),
    )


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _presentation(timeline: Timeline, position: int, event: Event) -> Presentation | None:
    if event.result is None:
        return None
    session, partner = timeline.projection, timeline.partner(position)
    if isinstance(session, Presentable):
        result = None if partner is None else timeline.seq(partner)
        shown = session.presentation(event.seq, result)
        if shown is not None:
            return shown
    failed = event.result.failed
    reason = "its host says nothing of its structure"
    return Text(text=event.result.text, reason=reason, tool=event.tool, failed=failed)


def located(cwd: str | None, *parts: str | None) -> Path | None:
    """Return the absolute path of a printed path; None if it cannot be determined."""
    if cwd is None or not cwd.startswith("/"):
        return None
    path = Path(cwd)
    for part in parts:
        if part:
            path /= part
    return path if "\x00" not in str(path) else None
