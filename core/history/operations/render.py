"""Render history results as text, from the results alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.delivery.window import continuation
from hindnote.core.history.operations.models import EventRow
from hindnote.core.text.messages import counted, inline
from hindnote.core.text.minutes import day_and_minute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindnote.core.history.operations.models import FoldedRow, HistoryList, HistoryRead
    from hindnote.core.tools.outcome import Result

GAP = "\n\n"
"""Separates the blocks of a list."""


def render_list(result: HistoryList) -> str:
    """Return a list's text: a block for each row, then the facts about the whole page."""
    return GAP.join([*render_rows(result.items), render_frame(result)])


def render_rows(items: Sequence[EventRow | FoldedRow]) -> list[str]:
    """Return the blocks of rows in their order; a row does not repeat the day of the row above."""
    blocks, day = [], None
    for item in items:
        blocks.append(render_item(item, day))
        day = day_of(item) or day
    return blocks


def render_item(item: EventRow | FoldedRow, day: str | None) -> str:
    """Return one row's block.

    Args:
        item: The row.
        day: The day shown last, which the row does not repeat; None when none was shown.
    """
    return _event(item, day) if isinstance(item, EventRow) else _folded(item)


def day_of(item: EventRow | FoldedRow) -> str | None:
    """Return the day that a row's block shows; None when it shows none."""
    when = isinstance(item, EventRow) and item.created_at and day_and_minute(item.created_at)
    return when[0] if when else None


def _when(created_at: str, shown: str | None) -> str:
    when = day_and_minute(created_at)
    if when is None:
        return inline(created_at)
    day, minute = when
    return minute if day == shown else f"{day} {minute}"


def render_frame(result: HistoryList) -> str:
    """Return the part of a list's text after its rows."""
    lines = [] if result.items else [_empty(result.session)]
    for name, advice in _COUNTS.items():
        if (count := getattr(result, name)) is not None:
            lines.append(f"{name}: {count}{advice if count else ''}")
    if result.note is not None:
        lines.append(f"note: {inline(result.note)}")
    for name in ("page_older", "page_newer"):
        page = getattr(result, name)
        lines.append(f"{name}: {'null' if page is None else _recipe(page)}")
    return "\n".join(lines)


def _empty(session: str | None) -> str:
    of = "" if session is None else f" of session {inline(session)}"
    return f"no events in this selection{of}"


_COUNTS = {
    "more": " (limit or narrower words reach them)",
    "lookups_omitted": " (roles with tool lists them)",
    "sessions_covered": "",
    "sessions_remaining": " (since, until or a narrower session reaches them)",
    "sessions_skipped": " (unreadable)",
    "damaged_lines": " (left out)",
}
"""The counts that a list may show, with advice."""


def render_read(result: HistoryRead) -> str:
    """Return a read's text: identity and facts, a blank line, the document."""
    lines = [_header(result.session, str(result.seq), result.role)]
    when = "no time recorded" if result.created_at is None else f"at {inline(result.created_at)}"
    lines.append(f"{when} | {counted(result.total_chars, 'character', grouped=False)} in all")
    lines.extend(_tool_line(result))
    if result.nested_calls is not None:
        state = "complete" if result.nested_calls.complete else "incomplete"
        lines.append(f"nested calls: {result.nested_calls.call_count}, {state}")
    if result.damaged_lines is not None:
        lines.append(f"damaged_lines: {result.damaged_lines}")
    if result.note is not None:
        lines.append(f"note: {inline(result.note)}")
    lines.append(f"neighborhood: {_recipe(result.neighborhood)}")
    head = "\n".join(lines)
    return f"{head}\n\n{result.text}{continuation(result.next_offset_chars)}"


def _header(session: str | None, seqs: str, role: str) -> str:
    named = "" if session is None else f"session {inline(session)} | "
    return f"{named}seq {seqs} | {role}"


def _event(row: EventRow, day: str | None) -> str:
    lines = [_header(row.session, str(row.seq), row.role)]
    if row.created_at is not None:
        lines.append(f"at {_when(row.created_at, day)}")
    lines.extend(_tool_line(row))
    notice = _notice(row)
    if notice:
        lines.append(f"[{'; '.join(notice)}]")
    lines.append(row.content)
    return "\n".join(lines)


def _notice(row: EventRow) -> list[str]:
    notice = []
    if row.truncated:
        start = row.offset_chars or 0
        end = start + len(row.content)
        notice.append(f"preview: characters {start} to {end} of {row.total_chars}")
    if row.matches_total not in (None, 1):
        # A hit without a match count has exactly one match.
        notice.append(counted(row.matches_total or 0, "match", grouped=False))
    if row.also_in is not None:
        notice.append(f"also in {counted(row.also_in, 'other session', grouped=False)}")
    return notice


def _tool_line(row: EventRow | HistoryRead) -> list[str]:
    if row.tool_status is None:
        return []
    named = "tool not named" if row.tool is None else f"tool {inline(row.tool)}"
    facts = [named, row.tool_status]
    if row.output_truncated:
        facts.append("output truncated")
    if row.full_output_path is not None:
        facts.append(f"full output at {inline(row.full_output_path)}")
    return [" | ".join(facts)]


def _folded(row: FoldedRow) -> str:
    names = [f"{inline(name)} {count}" for name, count in row.tools.items()]
    if row.omitted_tools is not None:
        names.append(counted(row.omitted_tools, "more tool", grouped=False))
    named = f" ({', '.join(names)})" if names else ""
    events = counted(row.count, "event", grouped=False)
    seqs = str(row.first_seq)
    if row.last_seq != row.first_seq:
        seqs += f" to {row.last_seq}"
    header = _header(row.session, seqs, "folded")
    return f"{header}\n{events}{named}\nexpand: {_recipe(row.expand)}"


def _recipe(params: Result) -> str:
    return params.model_dump_json(exclude_unset=True)
