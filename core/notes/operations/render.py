"""Render a list and a search as text, from the result alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.text.messages import counted, inline
from hindnote.core.text.minutes import to_the_minute

if TYPE_CHECKING:
    from hindnote.core.notes.operations.models import (
        FoundNote,
        Match,
        NoteRow,
        NotesList,
        NotesSearch,
    )


def listed(result: NotesList) -> str:
    """Return the text of a list."""
    return "\n".join([_count(result, len(result.files)), *map(row, result.files)])


def searched(result: NotesSearch) -> str:
    """Return the text of a search result."""
    note = [] if result.note is None else [f"note: {result.note}"]
    return "\n".join([_count(result, len(result.files)), *note, *map(found, result.files)])


def row(note: NoteRow) -> str:
    """Return the line of one note."""
    # In the local time zone, to the minute: people read a list to see what is new.
    facts = [note.address, to_the_minute(note.updated_at), f"{note.total_chars} chars"]
    if note.archived_at is not None:
        facts.append(f"archived {inline(note.archived_at)}")
    if note.problem is not None:
        facts.append(f"problem: {note.problem}")
    if note.inherited_from is not None:
        facts.append(f"inherited from {inline(note.inherited_from)}")
    return " | ".join(facts)


def found(note: FoundNote) -> str:
    """Return the lines of one note with its matches."""
    shown = len(note.matches)
    left = note.matches_total - shown
    rest = f", {shown} of them here" if left else ""
    matching = (
        f" | {counted(note.matches_total, 'matching line', grouped=False)}{rest}" if rest else ""
    )
    return "\n".join([row(note) + matching, *map(match, note.matches)])


def match(hit: Match) -> str:
    """Return the line of one match."""
    start = hit.excerpt_offset_chars
    begins = "" if start is None else f", text from {start}"
    return f"  {hit.line} (offset_chars {hit.offset_chars}{begins}): {hit.text}"


def _count(result: NotesList | NotesSearch, shown: int) -> str:
    total = shown + result.more
    parts = [counted(total, "note", grouped=False)]
    if result.more:
        parts.append(f"{shown} shown, {result.more} left out (narrow with glob)")
    keys = {note.project_key for note in result.files} - {None}
    parts += [f"@project is {key}" for key in sorted(filter(None, keys))]
    if result.archived_excluded:
        parts.append(f"{result.archived_excluded} archived not shown")
    if result.unreadable:
        parts.append(f"{result.unreadable} unreadable")
    if result.homes_unavailable:
        parts.append(f"unavailable: {', '.join(result.homes_unavailable)}")
    return "; ".join(parts)
