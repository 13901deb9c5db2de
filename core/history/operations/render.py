"""The text of history results, derived from the results alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hindnote.core.delivery.window import continuation
from hindnote.core.history.operations.models import EventRow

if TYPE_CHECKING:
    from hindnote.core.history.operations.models import FoldedRow, HistoryList, HistoryRead
    from hindnote.core.tools.outcome import Result

GAP = "\n\n"
"""Between the blocks of a list."""


def render_list(result: HistoryList) -> str:
    """Return a list's text: a block for each row, then what holds for the whole page."""
    blocks = [render_item(item) for item in result.items]
    return GAP.join([*blocks, render_frame(result)])


def render_item(item: EventRow | FoldedRow) -> str:
    """Return one row's block."""
    return _event(item) if isinstance(item, EventRow) else _folded(item)


def render_frame(result: HistoryList) -> str:
    """Return what a list's text says besides its rows."""
    lines = [] if result.items else [_empty(result.session)]
    for name, advice in _COUNTS.items():
        if (count := getattr(result, name)) is not None:
            lines.append(f"{name}: {count}{advice if count else ''}")
    if result.note is not None:
        lines.append(f"note: {_inline(result.note)}")
    for name in ("page_older", "page_newer"):
        page = getattr(result, name)
        lines.append(f"{name}: {'null' if page is None else _recipe(page)}")
    return "\n".join(lines)


def _empty(session: str | None) -> str:
    of = "" if session is None else f" of session {_inline(session)}"
    return f"no events in this selection{of}"


_COUNTS = {
    "more": " (limit or narrower words reach them)",
    "lookups_omitted": " (roles with tool lists them)",
    "sessions_covered": "",
    "sessions_remaining": " (since, until or a narrower session reaches them)",
    "sessions_skipped": " (unreadable)",
    "damaged_lines": " (left out)",
}
"""Counts that a list may say, and what to do about them."""


def render_read(result: HistoryRead) -> str:
    """Return a read's text: identity and facts, a blank line, the payload."""
    lines = [_header(result.session, str(result.seq), result.role)]
    when = "no time recorded" if result.created_at is None else f"at {_inline(result.created_at)}"
    lines.append(f"{when} | {result.total_chars} characters in all")
    lines.extend(_tool_line(result))
    if result.nested_calls is not None:
        state = "complete" if result.nested_calls.complete else "incomplete"
        lines.append(f"nested calls: {result.nested_calls.call_count}, {state}")
    if result.damaged_lines is not None:
        lines.append(f"damaged_lines: {result.damaged_lines}")
    if result.note is not None:
        lines.append(f"note: {_inline(result.note)}")
    lines.append(f"neighborhood: {_recipe(result.neighborhood)}")
    head = "\n".join(lines)
    return f"{head}\n\n{result.text}{continuation(result.next_offset_chars)}"


def _header(session: str | None, seqs: str, role: str) -> str:
    named = "" if session is None else f"session {_inline(session)} | "
    return f"{named}seq {seqs} | {role}"


def _event(row: EventRow) -> str:
    lines = [_header(row.session, str(row.seq), row.role)]
    if row.created_at is not None:
        lines.append(f"at {_inline(row.created_at)}")
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
    if row.matches_total is not None:
        notice.append(f"{row.matches_total} match{'' if row.matches_total == 1 else 'es'}")
    if row.also_in is not None:
        notice.append(f"also in {row.also_in} other session{'' if row.also_in == 1 else 's'}")
    return notice


def _tool_line(row: EventRow | HistoryRead) -> list[str]:
    if row.tool_status is None:
        return []
    named = "tool not named" if row.tool is None else f"tool {_inline(row.tool)}"
    facts = [named, row.tool_status]
    if row.output_truncated:
        facts.append("output truncated")
    if row.full_output_path is not None:
        facts.append(f"full output at {_inline(row.full_output_path)}")
    return [" | ".join(facts)]


def _folded(row: FoldedRow) -> str:
    names = [f"{_inline(name)} {count}" for name, count in row.tools.items()]
    if row.omitted_tools is not None:
        names.append(f"{row.omitted_tools} more tool{'' if row.omitted_tools == 1 else 's'}")
    named = f" ({', '.join(names)})" if names else ""
    events = "1 event" if row.count == 1 else f"{row.count} events"
    seqs = str(row.first_seq)
    if row.last_seq != row.first_seq:
        seqs += f" to {row.last_seq}"
    header = _header(row.session, seqs, "folded")
    return f"{header}\n{events}{named}\nexpand: {_recipe(row.expand)}"


def _recipe(params: Result) -> str:
    return params.model_dump_json(exclude_unset=True)


def _inline(value: str) -> str:
    """Return a recorded name as it stands, or quoted when it could break out of its line."""
    plain = value.isprintable() and " | " not in value
    return value if plain else json.dumps(value, ensure_ascii=False)
