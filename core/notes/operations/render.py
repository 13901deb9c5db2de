"""The texts of the five results, each derived from the result alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hindnote.core.window import continuation

if TYPE_CHECKING:
    from hindnote.core.notes.operations.models import (
        FoundNote,
        Match,
        NoteRow,
        NotesList,
        NotesSearch,
    )
    from hindnote.core.notes.operations.reading import NotesRead
    from hindnote.core.notes.operations.updating import NotesUpdate
    from hindnote.core.notes.operations.writing import NotesWrite


def listed(result: NotesList) -> str:
    """Return the text of a list."""
    return "\n".join([_count(result, len(result.files)), *map(row, result.files)])


def searched(result: NotesSearch) -> str:
    """Return the text of a search."""
    return "\n".join([_count(result, len(result.files)), *map(found, result.files)])


def row(note: NoteRow) -> str:
    """Return the line of one note."""
    facts = [note.address, note.updated_at, f"{note.total_chars} chars"]
    if note.project_key is not None:
        facts.append(f"project {note.project_key}")
    if note.archived_at is not None:
        facts.append(f"archived {_inline(note.archived_at)}")
    if note.problem is not None:
        facts.append(f"problem: {note.problem}")
    return " | ".join(facts)


def found(note: FoundNote) -> str:
    """Return the lines of one note with its matches."""
    shown = len(note.matches)
    left = note.matches_total - shown
    rest = f", the first {shown} here" if left else ""
    matching = f" | {_plural(note.matches_total, 'matching line')}{rest}"
    return "\n".join([row(note) + matching, *map(match, note.matches)])


def match(hit: Match) -> str:
    """Return the line of one match."""
    return f"  {hit.line} (offset_chars {hit.offset_chars}): {hit.text}"


def read(result: NotesRead) -> str:
    """Return the text of a read."""
    metadata = result.metadata
    head = [result.address, f"version {metadata.version}", f"{result.total_chars} chars"]
    if result.project_key is not None:
        head.insert(1, f"project {result.project_key}")
    facts = [
        f"origin {_inline(metadata.origin)}",
        f"created {metadata.created_at}",
        f"updated {metadata.updated_at}",
    ]
    if metadata.archived_at is not None:
        facts.append(f"archived {_inline(metadata.archived_at)}")
    if metadata.project is not None:
        facts.append(f"made in project {_inline(metadata.project)}")
    lines = [" | ".join(head), " | ".join(facts)]
    if metadata.frontmatter_error is not None:
        lines.append(f"frontmatter error: {metadata.frontmatter_error}")
    if metadata.extra is not None:
        lines.append(f"extra: {json.dumps(metadata.extra, ensure_ascii=False)}")
    return "\n".join([*lines, "", result.text]) + continuation(result.next_offset_chars)


def written(result: NotesWrite) -> str:
    """Return the receipt of a write."""
    return " | ".join([f"{result.outcome} {result.address}", *_receipt(result)])


def updated(result: NotesUpdate) -> str:
    """Return the receipt of an update."""
    if result.rename_from is not None:
        what = f"renamed {result.rename_from} to {result.address}"
    elif result.change == "none":
        what = f"unchanged {result.address}"
    else:
        what = f"updated {result.address}"
    change = f"change {result.change}"
    applied = _plural(result.applied, "replacement")
    return " | ".join([what, change, applied, *_receipt(result)])


def _receipt(result: NotesWrite | NotesUpdate) -> list[str]:
    project = [] if result.project_key is None else [f"project {result.project_key}"]
    return [*project, f"version {result.version}"]


def _count(result: NotesList | NotesSearch, shown: int) -> str:
    total = shown + result.more
    parts = [_plural(total, "note")]
    if result.more:
        parts.append(f"{shown} shown, {result.more} left out (narrow with glob)")
    if result.archived_excluded:
        parts.append(f"{result.archived_excluded} archived not shown")
    if result.unreadable:
        parts.append(f"{result.unreadable} unreadable")
    if result.homes_unavailable:
        parts.append(f"unavailable: {', '.join(result.homes_unavailable)}")
    return "; ".join(parts)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _inline(text: str) -> str:
    """Return a value that a person wrote so that it cannot break the header's lines."""
    return text if text.isprintable() else json.dumps(text)
