"""``hindnote sessions``: the sessions of every host, and their topics."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict

from hindnote.core.cli.screen import say
from hindnote.core.cli.session_options import (
    asking,
    leave_refused,
    waiting,
    which_sessions,
)
from hindnote.core.cli.session_table import SessionRow, Window, show
from hindnote.core.cli.tree import deliver
from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.projection import SlotKind
from hindnote.core.history.sessions import EVERY, Target
from hindnote.core.history.timeline import Timeline
from hindnote.core.history.times import bound
from hindnote.core.reader.listing import Filter, Placed, drawn, forest, project_of, walk
from hindnote.core.text import clean, clean_json
from hindnote.core.text.messages import first_words

if TYPE_CHECKING:
    from hindnote.core.history.sessions import Sessions
    from hindnote.core.plugins.models import SessionEntry
    from hindnote.core.tools.operation import Progress

CHEAP_BYTES = 32 << 20
"""Maximum number of bytes of session files read to count events without --events."""

SHORTEST_ID = 8


@click.command(short_help="List the recorded sessions of every host.")
@click.argument("words", nargs=-1, metavar="[WORDS]...")
@which_sessions
@click.option("--since", metavar="TIME", help="Only those that changed since a date or time.")
@click.option(
    "--until", metavar="TIME", help="Only those that changed last before a time, or by a day."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Sessions to list."
)
@click.option("--all", "everything", is_flag=True, help="List all of them.")
@click.option("--tree", is_flag=True, help="Show forks, subagents and windows below their session.")
@click.option("--events", is_flag=True, help="Count the events of every session listed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def sessions(
    words: tuple[str, ...],
    host: str | None,
    project: bool,
    since: str | None,
    until: str | None,
    limit: int,
    everything: bool,
    tree: bool,
    events: bool,
    as_json: bool,
) -> None:
    """List sessions, the one that changed last first, where their hosts keep them.

    With WORDS only those are listed in whose name, first prompt, directory or id all of the words
    occur; 'hindnote search' looks into what was said.

    The table shows when a session last changed, the beginning of its id that is
    enough to ask for it, its project, the name that the person gave it or else its first
    prompt, and its events. To count its events a session is read whole, so without --events
    this is done for 32 MB of them, newest first.

    \b
    hindnote sessions --project
    hindnote sessions --tree login form
    hindnote sessions --host claude --since 2026-11-01 --all --json
    hindnote show SESSION
    """  # noqa: D301 (click reads the character itself)
    asked = asking(host, project)
    found = asked.dispatcher.sessions(asked.call)
    try:
        wanted = Filter(bound("since", since), bound("until", until), tuple(map(clean, words)))
        every = _entries(found, asked.selector)
        missing = {slug: str(found.failures[slug]) for slug in sorted(found.failures)}
        entries = [entry for entry in every if wanted.takes(entry)]
        taken = entries if everything else entries[:limit]
        placed = _as_tree(_entries(found, EVERY), taken) if tree else [(one, "") for one in taken]
        with waiting("counting events") as progress:
            rows = list(_rows(found, placed, None if events else CHEAP_BYTES, progress))
        if as_json:
            deliver(_json(rows, len(entries), missing), json=True)
        else:
            short = short_names(_entries(found, EVERY))
            show(rows, (len(taken), len(entries)), short, time.time(), with_windows=tree)
            for slug, failure in missing.items():
                say(f"without {slug}: {failure}")
    except Refused as refused:
        leave_refused(refused.refusal)


def _entries(found: Sessions, selector: str) -> list[SessionEntry]:
    return [one.entry for one in found.many(selector) if one.entry is not None]


def _as_tree(
    every: list[SessionEntry], taken: list[SessionEntry]
) -> list[tuple[SessionEntry, str]]:
    """Return some sessions with all their relatives, in the order of the tree."""
    ancestors = list(walk(forest(every, taken)))
    known = {node.entry.canonical for node in ancestors}
    # A listed session is shown with its forks and subagents.
    below: list[SessionEntry] = [node.entry for node in ancestors]
    children: dict[str, list[SessionEntry]] = {}
    for entry in every:
        if entry.parent:
            children.setdefault(f"{entry.host}:{entry.parent}", []).append(entry)
    for entry in below:
        for child in children.get(entry.canonical, ()):
            if child.canonical not in known:
                known.add(child.canonical)
                below.append(child)
    return [_line(one) for one in drawn(forest(every, below))]


def _line(one: Placed) -> tuple[SessionEntry, str]:
    return one.node.entry, one.lines


def _rows(
    found: Sessions,
    placed: list[tuple[SessionEntry, str]],
    room: int | None,
    progress: Progress,
) -> Iterator[SessionRow]:
    """Yield a row for each session, counting events while the byte limit lasts."""
    for done, (entry, lines) in enumerate(placed):
        progress(done, len(placed))
        if room is not None and entry.size > room:
            yield SessionRow(entry, lines, prompt=entry.prompt)
            continue
        if room is not None:
            room -= entry.size
        try:
            yield _read(found, entry, lines)
        except Refused as refused:
            yield SessionRow(entry, lines, prompt=entry.prompt, problem=refused.refusal.message)
        except HostFailure as failure:
            yield SessionRow(entry, lines, prompt=entry.prompt, problem=str(failure))


def _read(found: Sessions, entry: SessionEntry, lines: str) -> SessionRow:
    """Return the row of a session, reading it to count its events."""
    projection = found.open(Target(entry.canonical, entry))
    if projection is None:
        return SessionRow(entry, lines, prompt=entry.prompt)
    timeline = Timeline(projection, passing=True)
    windows = tuple(_windows(timeline, projection.windows, projection.last_seq))
    events = sum(window.events for window in windows)
    prompt = entry.prompt
    if entry.name is None and prompt is None:
        # The prompt is missing in the catalogue, or is far from the file's beginning.
        users = timeline.events(range(timeline.size), frozenset({int(SlotKind.USER)}))
        texts = (first_words(timeline.event(position).document) for position in users)
        prompt = next(filter(None, texts), None)
    return SessionRow(entry, lines, events, windows, prompt)


def _windows(timeline: Timeline, firsts: Sequence[int], last: int) -> Iterator[Window]:
    for first, following in pairwise((*firsts, last + 1)):
        within = range(timeline.before(first), timeline.before(following))
        yield Window(first, following - 1, sum(1 for _ in timeline.events(within)))


def short_names(entries: Iterable[SessionEntry]) -> dict[str, str]:
    """Return the shortest safe selector for each session.

    The beginning of an id selects only main sessions, so a subagent needs its whole name.
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


def _json(rows: list[SessionRow], total: int, missing: dict[str, str]) -> str:
    listed: dict[str, Any] = {"sessions": [_plain(row) for row in rows], "total": total}
    if missing:
        listed["missing"] = missing
    return json.dumps(clean_json(listed), ensure_ascii=False, indent=2)


def _plain(row: SessionRow) -> dict[str, Any]:
    entry = row.entry
    changed = datetime.fromtimestamp(entry.modified, UTC).isoformat(timespec="milliseconds")
    plain: dict[str, Any] = {
        "session": entry.canonical,
        "host": entry.host,
        "started": entry.started,
        "changed": changed.replace("+00:00", "Z"),
        "cwd": entry.cwd,
        "project": project_of(entry.cwd) or None,
        "name": entry.name,
        "prompt": row.prompt,
        "parent": entry.parent,
        "size": entry.size,
        "file": str(entry.file),
        "events": row.events,
    }
    if row.windows:
        plain["windows"] = [asdict(window) for window in row.windows]
    if row.problem is not None:
        plain["problem"] = row.problem
    return plain
