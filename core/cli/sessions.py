"""``hindnote sessions``: the sessions of every host, as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

import click

from hindnote.core.cli.screen import say
from hindnote.core.cli.session_options import (
    WIDE,
    asking,
    counted,
    folder,
    leave_refused,
    local_time,
    shown,
    waiting,
    which_sessions,
)
from hindnote.core.cli.tree import deliver
from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.sessions import EVERY, Target
from hindnote.core.history.timeline import Timeline
from hindnote.core.history.times import bound
from hindnote.core.text import clean_json

if TYPE_CHECKING:
    from hindnote.core.history.sessions import Sessions
    from hindnote.core.plugins.models import SessionEntry
    from hindnote.core.tools.operation import Progress

CHEAP_BYTES = 32 << 20
"""Bytes of session files that are read to count events without being asked to."""

SHORTEST_ID = 8
NAME_SHOWN = 48

GAP = 2
LEGIBLE = 8
"""Columns without which a directory or a name is not worth showing."""

NARROWEST = 16
"""Columns that a session's name gets on any terminal."""

SESSION_LEAST = 24
"""Columns that a session's name gets before a directory gets any, should it need them."""


@dataclass(frozen=True, slots=True)
class _Row:
    entry: SessionEntry
    events: int | None = None
    """None when they were not counted, or the session cannot be read."""

    problem: str | None = None


@click.command(short_help="List the recorded sessions of every host.")
@which_sessions
@click.option("--since", metavar="TIME", help="Only those that changed since a date or time.")
@click.option(
    "--until", metavar="TIME", help="Only those that changed last before a time, or by a day."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Sessions to list."
)
@click.option("--all", "everything", is_flag=True, help="List all of them.")
@click.option("--events", is_flag=True, help="Count the events of every session listed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def sessions(
    host: str | None,
    project: bool,
    since: str | None,
    until: str | None,
    limit: int,
    everything: bool,
    events: bool,
    as_json: bool,
) -> None:
    """List sessions, the one that changed last first, where their hosts keep them.

    The table tells when a session last changed, the beginning of its name that is
    enough to ask for it, its directory, the name that the person gave it, its size and its
    events. To count its events a session is read whole, so without --events this is done for
    32 MB of them, newest first.

    \b
    hindnote sessions --project
    hindnote sessions --host claude --since 2026-11-01 --all --json
    hindnote call history_list '{"session": "SESSION"}'
    """  # noqa: D301 (click reads the character itself)
    asked = asking(host, project)
    found = asked.dispatcher.sessions(asked.call)
    try:
        start, end = bound("since", since), bound("until", until)
        listed = _entries(found, asked.selector)
        missing = {slug: str(found.failures[slug]) for slug in sorted(found.failures)}
        entries = [entry for entry in listed if _changed_within(entry, start, end)]
        taken = entries if everything else entries[:limit]
        with waiting("counting events") as progress:
            rows = list(_rows(found, taken, None if events else CHEAP_BYTES, progress))
        if as_json:
            deliver(_json(rows, len(entries), missing), json=True)
        else:
            _show(rows, len(entries), short_names(_entries(found, EVERY)))
            for slug, failure in missing.items():
                say(f"without {slug}: {failure}")
    except Refused as refused:
        leave_refused(refused.refusal)


def _entries(found: Sessions, selector: str) -> list[SessionEntry]:
    return [one.entry for one in found.many(selector) if one.entry is not None]


def _changed_within(entry: SessionEntry, start: float | None, end: float | None) -> bool:
    changed = entry.modified
    return (start is None or start <= changed) and (end is None or changed < end)


def _rows(
    found: Sessions, entries: list[SessionEntry], room: int | None, progress: Progress
) -> Iterator[_Row]:
    """Yield a row for each session, its events counted while there is room for its bytes."""
    for done, entry in enumerate(entries):
        progress(done, len(entries))
        if room is not None and entry.size > room:
            yield _Row(entry)
            continue
        if room is not None:
            room -= entry.size
        try:
            yield _Row(entry, _count(found, entry))
        except Refused as refused:
            yield _Row(entry, problem=refused.refusal.message)
        except HostFailure as failure:
            yield _Row(entry, problem=str(failure))


def _count(found: Sessions, entry: SessionEntry) -> int | None:
    projection = found.open(Target(entry.canonical, entry))
    if projection is None:
        return None
    timeline = Timeline(projection, passing=True)
    return sum(1 for _ in timeline.events(range(timeline.size)))


def short_names(entries: Iterable[SessionEntry]) -> dict[str, str]:
    """Return for each session the shortest selector that is safe to type.

    The beginning of an id means main sessions alone, so a subagent keeps its whole name.
    """
    short: dict[str, str] = {}
    by_host: dict[str, list[str]] = {}
    for entry in entries:
        short[entry.canonical] = entry.canonical
        if "/" not in entry.id:
            by_host.setdefault(entry.host, []).append(entry.id)
    for host, ids in by_host.items():
        ids.sort()
        shared = [0, *(len(commonprefix(pair)) for pair in pairwise(ids)), 0]
        for place, name in enumerate(ids):
            length = max(SHORTEST_ID, shared[place] + 1, shared[place + 1] + 1)
            short[f"{host}:{name}"] = f"{host}:{name[:length]}"
    return short


# -- both forms ----------------------------------------------------------------


def _json(rows: list[_Row], total: int, missing: dict[str, str]) -> str:
    told: dict[str, Any] = {"sessions": [_plain(row) for row in rows], "total": total}
    if missing:
        told["missing"] = missing
    return json.dumps(clean_json(told), ensure_ascii=False, indent=2)


def _plain(row: _Row) -> dict[str, Any]:
    entry = row.entry
    changed = datetime.fromtimestamp(entry.modified, UTC).isoformat(timespec="milliseconds")
    plain: dict[str, Any] = {
        "session": entry.canonical,
        "host": entry.host,
        "started": entry.started,
        "changed": changed.replace("+00:00", "Z"),
        "cwd": entry.cwd,
        "name": entry.name,
        "parent": entry.parent,
        "size": entry.size,
        "file": str(entry.file),
        "events": row.events,
    }
    if row.problem is not None:
        plain["problem"] = row.problem
    return plain


def _shares(rows: list[_Row], room: int) -> tuple[int, int]:
    """Return how many columns directories and names get of the room that both have; 0 is none."""
    from rich.cells import cell_len

    directory = max([9, *(cell_len(folder(row.entry.cwd)) for row in rows)])
    name = max([4, *(cell_len(shown(row.entry.name or "", NAME_SHOWN)) for row in rows)])
    if room < 2 * LEGIBLE:
        alone = min(directory, room + GAP)
        return (alone if alone >= LEGIBLE else 0), 0
    name = min(name, max(room // 3, room - directory))
    return min(directory, room - name), name


def _show(rows: list[_Row], total: int, short: dict[str, str]) -> None:
    from rich.table import Table
    from rich.text import Text

    from hindnote.core.cli.console import SafeConsole

    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        console = SafeConsole(highlight=False, width=WIDE)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    # Room is taken from directories and names first, and from what a subagent is called, which
    # goes on in the next line; what is left of the others would tell nothing.
    events = 10 if any(row.problem for row in rows) else 6
    size = max([4, *(len(_size(row.entry.size)) for row in rows)])
    others = 16 + size + events + 3 * GAP
    longest = max((len(short[row.entry.canonical]) for row in rows), default=0)
    # A number that is cut is another number: a terminal that is too narrow wraps the lines.
    console.width = max(console.width, others + NARROWEST)
    room = console.width - others
    session = min(longest, max(min(room, SESSION_LEAST), room - 2 * (GAP + LEGIBLE)))
    directory, name = _shares(rows, room - session - 2 * GAP)
    table.add_column("changed", no_wrap=True, width=16)
    table.add_column("session", overflow="fold", width=max(session, 7), style="cyan")
    for title, width in (("directory", directory), ("name", name)):
        if width:
            table.add_column(title, overflow="ellipsis", no_wrap=True, max_width=width)
    table.add_column("size", justify="right", no_wrap=True, min_width=size)
    table.add_column("events", justify="right", no_wrap=True, min_width=events)
    for row in rows:
        entry = row.entry
        cells = [
            local_time(entry.modified),
            shown(short[entry.canonical]),
            *([folder(entry.cwd)] if directory else []),
            *([shown(entry.name or "", NAME_SHOWN)] if name else []),
            _size(entry.size),
            "unreadable" if row.problem else "" if row.events is None else f"{row.events:,}",
        ]
        table.add_row(*map(Text, cells))
    if rows:
        console.print(table)
    console.print(_summary(rows, total))


def _size(size: int) -> str:
    from rich.filesize import decimal

    return decimal(size)


def _summary(rows: list[_Row], total: int) -> str:
    if not total:
        return "no sessions"
    told = [f"{len(rows)} of {counted(total, 'session')}"]
    if len(rows) < total:
        told.append("--all lists the others")
    if any(row.events is None and row.problem is None for row in rows):
        told.append("--events counts the events of large ones too")
    return "; ".join(told)
