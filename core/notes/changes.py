"""Compute how a change affects a note's text: keys to set, and frontmatter to merge.

Nothing here touches files. A change of metadata is either *asked*, and then refused if the block
cannot be edited, or *implied* (a time, an owner), and then skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from hindnote.core.notes import clock
from hindnote.core.notes.note import (
    ARCHIVED,
    COUNTS,
    Note,
    UnreadableMetadata,
    check_block,
    owned_keys,
)
from hindnote.core.text import frontmatter
from hindnote.core.text.frontmatter import FrontmatterBlock

Keys: TypeAlias = dict[str, str | None]
"""New values of keys that the store owns; None removes a key."""

_PROJECT_KEY = re.compile(r"[a-z0-9][a-z0-9_.-]*-[0-9a-f]{8}")


def asked_for(note: Note, origin: str | None, archived: bool | None) -> Keys:
    """Return the requested changes of metadata that differ from the current values."""
    keys: Keys = {}
    if origin is not None and note.values.get("origin") != origin:
        keys["origin"] = origin
    if archived is True and note.archived_at is None:
        keys["archivedAt"] = clock.format_ms(clock.now_ms())
    if archived is False and note.archived_at is not None:
        keys.update({key: None for key in ARCHIVED if key in note.values})
    return keys


def times(note: Note, created: int, now: int) -> Keys:
    """Return the timestamps that a change made now records."""
    keys: Keys = {"updatedAt": clock.format_ms(now)}
    if note.time_of("createdAt") is None:
        keys["createdAt"] = clock.format_ms(created)
    return keys


def owner(note: Note, was_session: bool, will_session: bool, project_key: str | None) -> Keys:
    """Return the change of a session note's owner when it moves between homes."""
    recorded = note.values.get("project")
    if will_session and not was_session and recorded is None:
        return {} if project_key is None else {"project": project_key}
    # A value that is not a project key was written by a person, and is kept.
    if was_session and not will_session and _PROJECT_KEY.fullmatch(str(recorded)):
        return {"project": None}
    return {}


def merged(note: Note, content: str, *, session: bool) -> tuple[Note, str]:
    """Return the note with the non-owned frontmatter of new content, and the new body.

    Args:
        note: The current note; without parts for a new one.
        content: A body, with or without frontmatter.
        session: Whether it is a session note.

    Raises:
        UnreadableMetadata: There are keys to merge, but the block cannot be edited.
    """
    if note.parts is None and note.error is not None:
        # The whole file is body and is replaced, including the fence that was never closed.
        note = Note(None, note.body, None)
    given = Note.parse(content)
    if given.block is None or given.parts is None:
        return note, content
    foreign = given.foreign(session=session)
    if not foreign:
        return note, given.body
    if not given.block.editable:
        raise UnreadableMetadata("the frontmatter of content is in braces; give each key a line")
    if note.parts is None:
        # A note without frontmatter gets the given block as it is, including comments.
        parts = given.parts
        ours = owned_keys(session=session) | COUNTS
        text = frontmatter.edited(given.block, dict.fromkeys(ours), parts.newline)
        wanted = foreign
    else:
        if note.block is None or not note.block.editable:
            raise UnreadableMetadata(note.error or "the block is a mapping in braces")
        parts = note.parts
        text = frontmatter.merged(note.block, _sources(given.block, foreign), parts.newline)
        wanted = dict(note.values) | foreign
    check_block(text, wanted)
    made = Note.parse(f"{parts.opening}{text}{parts.closing}")
    return Note(made.parts, note.body, made.block), given.body


def _sources(block: FrontmatterBlock, keys: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(e.key, block.text[e.start : e.end]) for e in block.entries if e.key in keys]


def text_of(note: Note, asked: Keys, implied: Keys, body: str) -> str:
    """Return the new text of a changed note's file.

    Raises:
        UnreadableMetadata: A change was asked of a block that cannot be edited.
    """
    try:
        return note.text({**implied, **asked}, body)
    except UnreadableMetadata:
        if asked:
            raise
        return note.text({}, body)
