"""The versions of a note that recorded sessions contain: who wrote each, where, and what changed.

A note is one file, which holds the last text only. The calls that wrote it are recorded in
sessions, with their texts or edits.
"""

from __future__ import annotations

import json
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hindnote.core.history.times import known_instant
from hindnote.core.notes.address import SUFFIX
from hindnote.core.places.project import key_in
from hindnote.core.reader.listing import about
from hindnote.core.text.minutes import local_minute
from hindnote.core.text.slug import encode_session_id

if TYPE_CHECKING:
    from hindnote.core.browse.world import World
    from hindnote.core.notes.address import Home
    from hindnote.core.places.database_home import DatabaseHome
    from hindnote.core.plugins.models import SessionEntry

WRITERS = ("notes_write", "notes_update")
LIMIT = 200
"""Maximum number of calls that are read, newest first."""

ROWS = 400
"""Maximum number of lines of one version's diff."""

_HEADS = {"project": ("@project/",), "human": ("@human/",), "session": ("",)}


class Asked(Struct, frozen=True):
    """The note whose versions are wanted."""

    home: Home
    path: str
    body: str


class Version(Struct, frozen=True):
    """One call that wrote a note."""

    session: str
    who: str
    """The host, and what the session was about."""

    link: str
    seq: int
    time: str
    did: str
    """``wrote``, ``edited``, ``archived`` and the like."""

    rows: list[tuple[str, str]]
    """Lines of the diff, each a marker and a text."""

    failed: bool


def versions(world: World, asked: Asked) -> list[Version]:
    """Return the versions of a note, newest first."""
    stem = asked.path.removesuffix(SUFFIX)
    arguments = {"session": "*", "query": stem, "roles": ["tool"], "limit": LIMIT}
    found = world.dispatcher.call(world.call, "history_list", arguments | {"max_chars_per_item": 1})
    if found.is_error:
        return []
    entries = {entry.canonical: entry for entry in world.entries()}
    calls = [
        (row, given)
        for row in found.result["items"]
        if str(row.get("tool", "")).endswith(WRITERS)
        and _may_be_in(asked.home, world.home.place, entries.get(row["session"]))
        and (given := _arguments(world, row)) is not None
        and _names(asked, given)
    ]
    calls.sort(key=lambda call: known_instant(call[0]["created_at"]) or 0.0)
    made: list[Version] = []
    known = ""
    for row, given in calls:
        entry = entries[row["session"]]
        who = f"{entry.host} · {about(entry)}" if about(entry) else entry.canonical
        version, known = _version(world, row, given, known, who)
        made.append(version)
    return made[::-1]


def _may_be_in(home: Home, place: Path | DatabaseHome, entry: SessionEntry | None) -> bool:
    """Return whether the addresses in a session's calls can name this home."""
    if entry is None:
        return False
    if home.kind == "project":
        try:
            return entry.cwd is not None and key_in(place, Path(entry.cwd)) == home.folder[1]
        except (OSError, ValueError, RuntimeError):
            return False
    if home.kind == "session":
        return (entry.host, encode_session_id(entry.id.partition("/")[0])) == (
            home.folder[0],
            home.folder[2],
        )
    return True


def _arguments(world: World, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a call."""
    from hindnote.core.history.timeline import Timeline

    projection, _ = world.open(row["session"])
    timeline = Timeline(projection, passing=True)
    recorded = timeline.event(timeline.locate(row["seq"])).facts.arguments
    try:
        given = json.loads(recorded or "")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _names(asked: Asked, given: dict[str, Any]) -> bool:
    address = given.get("address")
    if not isinstance(address, str):
        return False
    heads = _HEADS.get(
        asked.home.kind, (f"@{asked.home.kind}/{asked.home.folder[-1]}/", "@self/", "@model/")
    )
    return any(
        (address if address.endswith(SUFFIX) else address + SUFFIX) == head + asked.path
        for head in heads
    )


def _version(
    world: World, row: dict[str, Any], given: dict[str, Any], known: str, who: str
) -> tuple[Version, str]:
    """Return the version that a call made, and the note's text after it, if that is known."""
    failed = row.get("tool_status") != "ok"
    content = given.get("content")
    text = known
    if isinstance(content, str):
        did, text = "wrote", content
        rows = _difference(known, content)
    else:
        did, rows = _edited(given)
        for edit in _edits(given):
            text = text.replace(edit[0], edit[1], 1)
    version = Version(
        session=row["session"],
        who=who,
        link=world.session_link(row["session"], row["seq"]),
        seq=row["seq"],
        time=local_minute(row["created_at"]),
        did=did,
        rows=rows[:ROWS],
        failed=failed,
    )
    return version, known if failed else text


def _difference(before: str, after: str) -> list[tuple[str, str]]:
    old, new = before.splitlines(), after.splitlines()
    rows = [(line[:1], line[1:]) for line in unified_diff(old, new, lineterm="", n=2)]
    # Leave out the lines with the file names and the position of the first hunk.
    return [row if row[0] in "+- " else ("…", "") for row in rows[3:]]


def _edits(given: dict[str, Any]) -> list[tuple[str, str]]:
    edits = given.get("edits")
    pairs = []
    for edit in edits if isinstance(edits, list) else ():
        old, new = (
            (edit.get(name) for name in ("old_text", "new_text"))
            if isinstance(edit, dict)
            else (None, None)
        )
        if isinstance(old, str) and isinstance(new, str):
            pairs.append((old, new))
    return pairs


def _edited(given: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    rows: list[tuple[str, str]] = []
    for old, new in _edits(given):
        if rows:
            rows.append(("…", ""))
        rows += _difference(old, new)
    if rows:
        return "edited", rows
    others = [name for name in ("archived", "rename_to", "metadata", "origin") if name in given]
    return (f"changed {', '.join(others)}" if others else "changed"), []
