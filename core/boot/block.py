"""The boot block: the text that an agent reads first when a context window starts.

``take`` reads the notes and the session once; ``render`` is a pure function of that snapshot. A
host stores the text and sends it with every request of the window, perhaps for days, so times are
absolute. When space is short, the list of windows and the names of notes come first, and the
bodies of ``MAP.md`` share the rest. Each cut names the call that continues the text.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.history.timeline import Timeline
from hindnote.core.history.times import known_instant
from hindnote.core.notes.summary import index
from hindnote.core.places.database_home import patience
from hindnote.core.text.messages import counted
from hindnote.core.tools.registry import NAMES

if TYPE_CHECKING:
    from hindnote.core.history.projection import Projection
    from hindnote.core.notes.summary import HomeIndex, IndexedNote
    from hindnote.core.tools.operation import BoundCall

BOOT_LIMIT = 16_000
"""Maximum length of the whole block, in code points."""

MAP_LIMIT = 4_096
"""Maximum length of one home's ``MAP.md``, in code points."""

NAMES_SHOWN = 10
"""Maximum number of notes listed per home, most recently updated first."""

NAMES_ROOM = 1_400
WINDOWS_ROOM = 3_000
"""Maximum lengths, in code points, of one home's note names and of the list of windows. The line
that refers to the rest is not counted."""

FACT_LIMIT = 200
"""Maximum length of one fact of the identity, in code points."""

PATIENCE_SECONDS = 1.0
"""How long the block waits for a database of notes."""

MAP_NAME = "MAP.md"


class SeenWindow(Struct, frozen=True):
    """One context window of the session."""

    first_seq: int
    last_seq: int
    events: int
    started: float | None
    """Seconds since the epoch; None when the host recorded no time."""


class Snapshot(Struct, frozen=True):
    """Everything that a boot block contains, read at one moment."""

    now: float
    """Seconds since the epoch."""

    utc_offset: int
    """Seconds by which the person's clock is ahead of UTC; all times are shown in that zone."""

    host: str
    session_id: str | None
    agent: str
    model: str
    project_key: str | None
    """None when the session's directory does not exist."""

    directory: str
    tool_prefix: str
    offered: frozenset[str]
    """Names of the operations available to the session; the block mentions no others."""

    is_local_project: bool = False
    """Whether a shared home has the project's notes under a key of this machine alone."""

    homes: tuple[HomeIndex, ...] = ()
    refused: str | None = None
    """Why the notes home may not be used, in which case no home is shown."""

    subagent: bool = False
    """Whether the call comes from a subagent, which has its own history."""

    forked_from: str | None = None
    """Id of the session that this one was forked from."""

    forked: bool = False
    """Whether it was forked from another session, even if that one is unknown."""

    windows: tuple[SeenWindow, ...] = ()
    """Oldest first; the last one begins now. Empty when the session has no history yet."""


def boot_block(
    bound: BoundCall,
    now: float,
    offered: Collection[str] | None = None,
    refused: str | None = None,
    limit: int = BOOT_LIMIT,
) -> str:
    """Return the boot block for a window that begins now.

    Args:
        bound: The call with its context.
        now: Seconds since the epoch.
        offered: Names of the operations available to the session; None for all.
        refused: Why the notes home may not be used; None when it may.
        limit: Code points of the block, at most.

    Raises:
        Refused: ``unreadable_session``; the host should show it, and not store it as a block.
    """
    return render(take(bound, now, offered, refused), limit)


# -- reading ---------------------------------------------------------------------


def take(
    bound: BoundCall, now: float, offered: Collection[str] | None = None, refused: str | None = None
) -> Snapshot:
    """Return the snapshot for an agent's call.

    Args:
        bound: The call with its context.
        now: Seconds since the epoch.
        offered: Names of the operations available to the session; None for all.
        refused: Why the notes home may not be used; None when it may.

    Raises:
        Refused: ``unreadable_session``.
    """
    projection = bound.history.current(bound.call)
    identity = bound.identity
    homes, refused = _homes(bound, refused)
    return Snapshot(
        now=now,
        utc_offset=time.localtime(now).tm_gmtoff,
        host=identity.host,
        session_id=identity.session_id,
        agent=identity.agent,
        model=identity.model,
        project_key=bound.project_key,
        is_local_project=bound.is_local_project,
        directory=str(bound.cwd),
        tool_prefix=identity.tool_prefix,
        offered=frozenset(NAMES if offered is None else offered),
        homes=homes,
        refused=refused,
        subagent=bound.call.agent_id is not None,
        forked_from=identity.ancestors[0].session_id if identity.ancestors else None,
        forked=bool(identity.ancestors) or identity.has_unnamed_ancestors,
        windows=() if projection is None else _windows(projection),
    )


def _homes(bound: BoundCall, refused: str | None) -> tuple[tuple[HomeIndex, ...], str | None]:
    """Return the homes of notes, or why they cannot be used."""
    if refused is not None:
        return (), refused
    try:
        with patience(bound.identity.home, PATIENCE_SECONDS):
            return index(bound.identity, bound.project_key, NAMES_SHOWN), None
    except Refused as away:
        return (), away.refusal.message


def _windows(projection: Projection) -> tuple[SeenWindow, ...]:
    timeline = Timeline(projection)
    if not timeline.size:
        return ()
    starts = list(projection.windows)
    found = []
    for start, end in zip(starts, [*starts[1:], projection.last_seq + 1], strict=True):
        stretch = range(timeline.before(start), timeline.before(end))
        events = list(timeline.events(stretch))
        started = known_instant(timeline.event(events[0]).created_at) if events else None
        found.append(SeenWindow(start, end - 1, len(events), started))
    return tuple(found)


# -- rendering -------------------------------------------------------------------


def render(seen: Snapshot, limit: int = BOOT_LIMIT) -> str:
    """Return the block's text, within ``limit`` code points."""
    used = [home for home in seen.homes if not _is_empty(home)]
    # A smaller block has less room for each of its parts.
    head, windows = _identity(seen), _window_tree(seen, WINDOWS_ROOM * limit // BOOT_LIMIT)
    names = [_names(seen, home, NAMES_ROOM * limit // BOOT_LIMIT) for home in used]
    fixed = [head, *names, *filter(None, [_empty_homes(seen), windows])]
    room = limit - sum(len(block) + len("\n\n") for block in fixed)
    shares = _shares([len(_map(seen, home, limit)) for home in used], room)
    blocks = [
        text + _map(seen, home, share)
        for home, text, share in zip(used, names, shares, strict=True)
    ]
    return "\n\n".join(filter(None, [head, *blocks, _empty_homes(seen), windows]))


def _shares(wanted: Sequence[int], room: int) -> list[int]:
    """Divide ``room`` so that each gets what it wants, or an equal share of what is left."""
    shares = [0] * len(wanted)
    smallest_first = sorted(range(len(wanted)), key=wanted.__getitem__)
    for place, wish in enumerate(smallest_first):
        shares[wish] = min(wanted[wish], room // (len(wanted) - place))
        room -= shares[wish]
    return shares


def _call(seen: Snapshot, tool: str, **arguments: object) -> str | None:
    """Return a call as the model would write it; None when the tool is not available to it."""
    if tool not in seen.offered:
        return None
    shown = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return f"{seen.tool_prefix}{tool} {shown}"


def _identity(seen: Snapshot) -> str:
    session = "no session" if seen.session_id is None else f"session {_cut(seen.session_id)}"
    lines = [
        f"# Memory beyond this window (hindnote), as of {_time(seen, seen.now)} {_clock(seen)}\n",
        f"Host {seen.host}, {session}, agent {seen.agent}, model {seen.model}.",
        f"Project {seen.project_key}, directory {_cut(seen.directory)}."
        + (" Without a remote, its notes are this machine's own." if seen.is_local_project else "")
        if seen.project_key is not None
        else f"No project: the directory {_cut(seen.directory)} does not exist.",
    ]
    if seen.subagent:
        parent = _call(seen, "history_list", session="@parent")
        lines.append(
            "You are a subagent of this session: you share its notes, and your history is your own"
            + (f"; the session's is {parent}." if parent else ".")
        )
    if seen.forked:
        source = "another session" if seen.forked_from is None else _cut(seen.forked_from)
        lines.append(
            f"Forked from {source}, whose notes of before the fork show as this session's."
        )
    if "notes_write" in seen.offered:
        lines.append(
            f"Call {seen.tool_prefix}notes_write as soon as you know what a later window needs: "
            "decisions, open ends, traps."
        )
    earlier = _call(seen, "history_list", session="project:*", about="…")
    if earlier is not None:
        lines.append(f"Ask this project's sessions: {earlier}.")
    return "\n".join(lines)


def _time(seen: Snapshot, seconds: float) -> str:
    """Return a time to the minute, in the person's time zone."""
    try:
        moment = datetime.fromtimestamp(seconds, timezone(timedelta(seconds=seen.utc_offset)))
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
    return moment.strftime("%Y-%m-%d %H:%M")


def _clock(seen: Snapshot) -> str:
    sign = "-" if seen.utc_offset < 0 else "+"
    hours, minutes = divmod(abs(seen.utc_offset) // 60, 60)
    return f"(UTC{sign}{hours:02}:{minutes:02})"


def _is_empty(home: HomeIndex) -> bool:
    return home.available and not home.total and not home.unreadable


def _empty_homes(seen: Snapshot) -> str:
    if seen.refused is not None:
        return f"Notes cannot be used: {seen.refused}"
    empty = [home for home in seen.homes if _is_empty(home)]
    if seen.forked and seen.forked_from is None:
        # Its own session notes are empty, but it is not known yet whether it inherits some.
        empty = [home for home in empty if home.name != "session"]
    names = [_spoken(home) for home in empty]
    return f"No notes yet: {', '.join(names)}." if names else ""


def _spoken(home: HomeIndex) -> str:
    return home.name if home.name.startswith("@") else "this session"


def _names(seen: Snapshot, home: HomeIndex, room: int) -> str:
    prefix = _prefix(home)
    title = f"## Notes in {prefix}" if prefix else "## Notes of this session"
    if not home.available:
        return f"{title}\n[unavailable: this home cannot be opened]"
    lines = [_note_line(seen, note) for note in home.freshest]
    shown = _fitting(lines, room)
    more = home.total - len(shown) - (home.map is not None)
    if more > 0:
        listed = _call(seen, "notes_list", glob=f"{prefix}**")
        shown.append(f"[{more} more: {listed}]" if listed else f"[{more} more]")
    if home.unreadable:
        shown.append(f"[{home.unreadable} cannot be read]")
    if not shown:
        shown.append("none besides the map")
    return "\n".join([title, *shown])


def _prefix(home: HomeIndex) -> str:
    """Return the prefix of addresses in a home."""
    return f"{home.name}/" if home.name.startswith("@") else ""


def _note_line(seen: Snapshot, note: IndexedNote) -> str:
    size = counted(note.chars, "character", grouped=False)
    return f"- {note.address}, {size}, {_time(seen, note.updated_ms / 1000)}"


def _map(seen: Snapshot, home: HomeIndex, room: int) -> str:
    """Return a home's map, cut to ``room``; a cut map ends with the call that continues it."""
    if home.map is None:
        return ""
    address = f"{_prefix(home)}{MAP_NAME}"
    by = "" if home.map_by is None else f", last written by {_cut(home.map_by)}"
    head = f"\n\n{address}{by}:\n"
    whole = head + home.map
    if len(home.map) <= MAP_LIMIT and len(whole) <= room:
        return whole

    def pointer(shown: int) -> str:
        rest = _call(seen, "notes_read", address=address, offset_chars=shown)
        return f"\n[cut; {rest} goes on]" if rest else "\n[cut]"

    shown = min(MAP_LIMIT, room - len(head) - len(pointer(len(home.map))))
    shown = max(0, shown)
    return head + home.map[:shown] + pointer(shown)


def _window_tree(seen: Snapshot, room: int) -> str:
    if len(seen.windows) < 2:
        # The whole first window is still in the agent's context.
        return ""
    lines = ["## Windows of this session"]
    tree = [
        f"- window {number}: seq {window.first_seq} to {window.last_seq}, "
        + counted(window.events, "event", grouped=False)
        + (f", from {_time(seen, window.started)}" if window.started is not None else "")
        for number, window in enumerate(seen.windows, start=1)
    ]
    shown = _fitting(tree[::-1], room)[::-1]
    left = len(tree) - len(shown)
    if left:
        last = seen.windows[left - 1].last_seq
        listed = _call(seen, "history_list", before_seq=last + 1)
        lines.append(f"[{left} older, seq 1 to {last}" + (f": {listed}]" if listed else "]"))
    lines.extend(shown)
    # The agent's context contains the window that begins now, but not the one before it.
    before = seen.windows[-2]
    bounds = {"after_seq": before.first_seq - 1, "before_seq": before.last_seq + 1}
    recipe = _call(seen, "history_list", **bounds)
    if recipe is not None:
        lines.append(f"The window before this one: {recipe}")
    return "\n".join(lines)


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """Return the first lines that fit, and always at least one."""
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
