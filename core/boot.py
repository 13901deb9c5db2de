"""The boot block: what an agent reads at the start of a window, before anything else.

``take`` looks at the notes and at the session once; ``render`` is a pure function
of what it saw. The window tree and the names of notes come first when room is
short, then the bodies of ``MAP.md``; whatever is cut says where it goes on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from hindnote.core.history.projection import Projection
    from hindnote.core.notes.index import HomeIndex, IndexedNote
    from hindnote.core.operation import BoundCall

BOOT_LIMIT = 16_000
"""Code points of the whole block, at most."""

MAP_LIMIT = 4_096
"""Code points of one home's ``MAP.md``, at most."""

NAMES_SHOWN = 10
"""Freshest notes of one home, at most."""

NAMES_ROOM = 1_400
WINDOWS_ROOM = 3_000
"""Code points of one home's names, and of the window tree, without their pointers."""

FACT_LIMIT = 200
"""Code points of one fact of the identity, at most."""

MAP_NAME = "MAP.md"


class SeenWindow(Struct, frozen=True):
    """One window of the session."""

    first_seq: int
    last_seq: int
    events: int
    started: str | None


class Snapshot(Struct, frozen=True):
    """All that a boot block says, seen at one moment."""

    now: float
    host: str
    session_id: str | None
    agent: str
    model: str
    project_key: str
    directory: str
    tool_prefix: str
    homes: tuple[HomeIndex, ...] = ()
    windows: tuple[SeenWindow, ...] = ()
    """Oldest first; empty when the session has no history yet."""


def boot_block(bound: BoundCall, now: float) -> str:
    """Return the boot block for a window that begins now.

    Raises:
        Refused: ``unreadable_session``: a failure is for the host to show, not to store.
    """
    return render(take(bound, now))


# -- looking -------------------------------------------------------------------


def take(bound: BoundCall, now: float) -> Snapshot:
    """Return what there is to say to the agent of a call.

    Args:
        bound: A call with its surroundings.
        now: Seconds since the epoch.

    Raises:
        Refused: ``unreadable_session``.
    """
    from hindnote.core.notes.index import index

    projection = bound.history.current(bound.call)
    return Snapshot(
        now=now,
        host=bound.identity.host,
        session_id=bound.identity.session_id,
        agent=bound.identity.agent,
        model=bound.identity.model,
        project_key=bound.project_key,
        directory=str(bound.cwd),
        tool_prefix=bound.identity.tool_prefix,
        homes=index(bound.identity, bound.project_key, NAMES_SHOWN),
        windows=() if projection is None else _windows(projection),
    )


def _windows(projection: Projection) -> tuple[SeenWindow, ...]:
    from hindnote.core.history.timeline import Timeline

    timeline = Timeline(projection)
    if not timeline.size:
        return ()
    starts = list(projection.windows)
    found = []
    for start, end in zip(starts, [*starts[1:], projection.last_seq + 1], strict=True):
        stretch = range(timeline.before(start), timeline.before(end))
        events = list(timeline.events(stretch))
        started = timeline.event(events[0]).created_at if events else None
        found.append(SeenWindow(start, end - 1, len(events), started))
    return tuple(found)


# -- saying --------------------------------------------------------------------


def render(seen: Snapshot) -> str:
    """Return the block's text, within ``BOOT_LIMIT`` code points."""
    head, windows = _identity(seen), _window_tree(seen)
    homes = [_names(seen, home) for home in seen.homes]
    room = BOOT_LIMIT - sum(len(block) + len("\n\n") for block in (head, windows, *homes))
    least = [len(_map(seen, home, 0)) for home in seen.homes]
    blocks = []
    for index, (home, names) in enumerate(zip(seen.homes, homes, strict=True)):
        text = _map(seen, home, room - sum(least[index + 1 :]))
        room -= len(text)
        blocks.append(names + text)
    return "\n\n".join([head, *blocks, windows])


def _call(seen: Snapshot, tool: str, **arguments: object) -> str:
    shown = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return f"{seen.tool_prefix}{tool} {shown}"


def _identity(seen: Snapshot) -> str:
    session = "no session" if seen.session_id is None else f"session {_cut(seen.session_id)}"
    return (
        "# Memory beyond this window (hindnote)\n\n"
        f"Host {seen.host}, {session}, agent {seen.agent}, model {seen.model}.\n"
        f"Project {seen.project_key}, directory {_cut(seen.directory)}.\n"
        f"Notes outlive the session: {seen.tool_prefix}notes_read, {seen.tool_prefix}notes_search, "
        f"{seen.tool_prefix}notes_write. What was said and done before: "
        f"{seen.tool_prefix}history_list, {seen.tool_prefix}history_read; in every session: "
        f"{_call(seen, 'history_list', session='*', query='…')}."
    )


def _names(seen: Snapshot, home: HomeIndex) -> str:
    prefix = _prefix(home)
    title = f"## Notes in {prefix}" if prefix else "## Notes of this session"
    if not home.available:
        return f"{title}\n[unavailable: this home cannot be opened]"
    lines = [_note_line(note, seen.now) for note in home.freshest]
    shown = _fitting(lines, NAMES_ROOM)
    more = home.total - len(shown) - (home.map is not None)
    if more > 0:
        shown.append(f"[{more} more: {_call(seen, 'notes_list', glob=f'{prefix}**')}]")
    if home.unreadable:
        shown.append(f"[{home.unreadable} cannot be read]")
    if not shown:
        shown.append("none yet" if home.map is None else "none besides the map")
    return "\n".join([title, *shown])


def _prefix(home: HomeIndex) -> str:
    """Return what addresses in a home begin with."""
    return f"{home.name}/" if home.name.startswith("@") else ""


def _note_line(note: IndexedNote, now: float) -> str:
    return f"- {note.address}, {note.chars} characters, {age(now - note.updated_ms / 1000)}"


def _map(seen: Snapshot, home: HomeIndex, room: int) -> str:
    """Return what a home's section says of its map, in ``room`` or at least with a pointer."""
    if home.map is None:
        return ""
    address = f"{_prefix(home)}{MAP_NAME}"
    head = f"\n\n{address}:\n"
    whole = head + home.map
    if len(home.map) <= MAP_LIMIT and len(whole) <= room:
        return whole

    def pointer(shown: int) -> str:
        return f"\n[cut; {_call(seen, 'notes_read', address=address, offset_chars=shown)} goes on]"

    shown = min(MAP_LIMIT, room - len(head) - len(pointer(len(home.map))))
    shown = max(0, shown)
    return head + home.map[:shown] + pointer(shown)


def _window_tree(seen: Snapshot) -> str:
    lines = ["## Windows of this session"]
    if not seen.windows:
        return "\n".join([*lines, "no history yet"])
    tree = [
        f"- window {number}: seq {window.first_seq} to {window.last_seq}, {_events(window.events)}"
        + (f", from {_cut(window.started)}" if window.started else "")
        for number, window in enumerate(seen.windows, start=1)
    ]
    shown = _fitting(tree[::-1], WINDOWS_ROOM)[::-1]
    left = len(tree) - len(shown)
    if left:
        last = seen.windows[left - 1].last_seq
        listed = _call(seen, "history_list", before_seq=last + 1)
        lines.append(f"[{left} older, seq 1 to {last}: {listed}]")
    lines.extend(shown)
    newest = seen.windows[-1]
    bounds = {"after_seq": newest.first_seq - 1, "before_seq": newest.last_seq + 1}
    lines.append(f"One window alone: {_call(seen, 'history_list', **bounds)}")
    return "\n".join(lines)


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count} events"


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """Return the lines from the start that fit, the first one in any case."""
    shown: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line)
    return shown


def _cut(fact: str) -> str:
    plain = " ".join(fact.split())
    return plain if len(plain) <= FACT_LIMIT else f"{plain[: FACT_LIMIT - 1]}…"


_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def age(seconds: float) -> str:
    """Return how long ago something was, in its largest whole unit up to days."""
    size, name = next((unit for unit in _UNITS if seconds >= unit[0]), _UNITS[-1])
    count = max(0, int(seconds // size))
    return f"{count} {name}{'' if count == 1 else 's'} ago"
