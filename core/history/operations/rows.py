"""Rows of a list: an event with its preview, or a folded run with the call that expands it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hindnote.core.history.operations.models import MAX_LIMIT, EventRow, Expand, FoldedRow

if TYPE_CHECKING:
    from hindnote.core.history.document import Event
    from hindnote.core.history.operations.models import HistoryListParams
    from hindnote.core.history.operations.selection import Hit
    from hindnote.core.history.timeline import Timeline
    from hindnote.core.text.matching import Matcher

TOOLS_SHOWN = 12
"""Maximum number of tools that a folded row names."""

TOOL_NAME_SHOWN = 100
"""Maximum length of a tool name in a folded row, in code points; longer ones are left out."""


def tool_facts(event: Event) -> dict[str, Any]:
    """Return the fields of a tool event that a row and a read share; {} for another event."""
    if event.status is None:
        return {}
    facts: dict[str, Any] = {"tool_status": event.status}
    if event.tool is not None:
        facts = {"tool": event.tool, **facts}
    if event.output_truncated:
        facts["output_truncated"] = True
    if event.full_output_path is not None:
        facts["full_output_path"] = event.full_output_path
    return facts


def preview_start(total: int, limit: int, match: tuple[int, int] | None) -> int:
    """Return the start of a preview of ``limit`` code points that contains the match.

    A quarter of the preview is text before the match. Of a match longer than the preview its
    beginning is shown.
    """
    if match is None or match[1] <= limit:
        return 0
    start, end = match
    begin = min(max(0, start - limit // 4), max(0, total - limit))
    return begin if end <= begin + limit else min(start, end - limit)


class Rows(Struct, frozen=True):
    """Builds the rows of one session's events."""

    timeline: Timeline
    params: HistoryListParams
    session: str | None
    """Canonical name, if the call named a session."""

    matcher: Matcher | None = None

    def event(self, chosen: Hit, **more: Any) -> EventRow:
        """Return an event's row, with further fields."""
        event = chosen.event or self.timeline.event(chosen.position)
        fields: dict[str, Any] = {
            **self._named(),
            "seq": event.seq,
            "role": self.timeline.role(chosen.position),
            "created_at": event.created_at,
            **tool_facts(event),
            "total_chars": len(event.document),
            **self._preview(event, chosen.match, self.params.preview),
        }
        if self.matcher is not None:
            fields["matches_total"] = self.matcher.count(event.document)
        return EventRow(**fields, **more)

    def shrinking(self, row: EventRow, chosen: Hit) -> Callable[[int], EventRow]:
        """Return a function that builds ``row`` with a preview of at most that many code points."""

        @cache
        def event() -> Event:
            # Cached and decoded late, since few pages need this and decoding may take long.
            return chosen.event or self.timeline.event(chosen.position)

        return lambda limit: row.model_copy(update=self._preview(event(), chosen.match, limit))

    def _preview(
        self, event: Event, match: tuple[int, int] | None, limit: int
    ) -> dict[str, str | int | bool]:
        document = event.document
        start = preview_start(len(document), limit, match)
        fields: dict[str, str | int | bool] = {"content": document[start : start + limit]}
        if limit < len(document):
            fields["truncated"] = True
        if self.matcher is not None:
            fields["offset_chars"] = start
        return fields

    def folded(self, run: tuple[int, ...]) -> FoldedRow:
        """Return the row of a run of tool and context events."""
        timeline = self.timeline
        ranked = sorted(timeline.tools(run).items(), key=lambda item: (-item[1], item[0]))
        shown = [item for item in ranked if len(item[0]) <= TOOL_NAME_SHOWN][:TOOLS_SHOWN]
        fields: dict[str, Any] = self._named()
        if len(shown) < len(ranked):
            fields["omitted_tools"] = len(ranked) - len(shown)
        first, last = timeline.seq(run[0]), timeline.seq(run[-1])
        return FoldedRow(
            folded=True,
            first_seq=first,
            last_seq=last,
            count=len(run),
            tools=dict(shown),
            expand=self._expand(first, last, len(run)),
            **fields,
        )

    def _expand(self, first: int, last: int, count: int) -> Expand:
        fields: dict[str, Any] = {
            **self._named(),
            "after_seq": first - 1,
            "before_seq": last + 1,
            "roles": ["tool", "context"],
            "from": "oldest",
            "limit": min(count, MAX_LIMIT),
        }
        for name in ("since", "until"):
            if (value := getattr(self.params, name)) is not None:
                fields[name] = value
        return Expand(**fields)

    def _named(self) -> dict[str, Any]:
        return {} if self.session is None else {"session": self.session}
