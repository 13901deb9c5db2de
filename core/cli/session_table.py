"""The table of ``hindnote sessions``: fits into 80 columns, and uses wider terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.cli.session_options import WIDE, shown
from hindnote.core.reader.listing import ago, project_of
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindnote.core.plugins.models import SessionEntry

GAP = 2
CHANGED = 10
"""Width of ``59 min ago`` and of ``2026-11-30``."""

SESSION_LEAST = 24
"""Width that a session's name may use before its description gets any."""

NARROWEST = 16
"""Minimum width of a session's name."""

LEGIBLE = 8
"""Minimum width of a project or a description; narrower ones are not shown."""

PROJECT_MOST = 20
ROOMY = 100
"""Terminal width from which on sizes are shown."""


class Window(Struct, frozen=True):
    """The span of a session between two compactions."""

    first_seq: int
    last_seq: int
    events: int


class SessionRow(Struct, frozen=True):
    """One session of the table."""

    entry: SessionEntry
    lines: str = ""
    """The lines of the tree in front of it."""

    events: int | None = None
    """None when they were not counted, or the session cannot be read."""

    windows: tuple[Window, ...] = ()
    """Empty when the session was not read."""

    prompt: str | None = None
    """Beginning of the first prompt."""

    problem: str | None = None


def show(
    rows: Sequence[SessionRow],
    counts: tuple[int, int],
    short: dict[str, str],
    now: float,
    *,
    with_windows: bool,
) -> None:
    """Print the table.

    Args:
        rows: The sessions.
        counts: How many sessions were requested, and how many there are; a tree also contains the
            relatives of the requested ones.
        short: The shortest selector of each, by canonical name.
        now: Seconds since the epoch.
        with_windows: Show each window of a session that has several.
    """
    from rich.table import Table
    from rich.text import Text

    from hindnote.core.cli.console import SafeConsole

    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        console = SafeConsole(highlight=False, width=WIDE)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    # Space is taken first from projects and descriptions, and from the names of subagents, which
    # are wrapped; the other columns would be useless if cut.
    events = 10 if any(row.problem for row in rows) else 6
    sized = console.width >= ROOMY
    size = max([4, *(len(_size(row.entry.size)) for row in rows)]) if sized else -GAP
    others = CHANGED + size + events + 3 * GAP
    # A cut number would look like another number, so too narrow terminals wrap the lines.
    console.width = max(console.width, others + NARROWEST)
    room = console.width - others
    names = {row.entry.canonical: row.lines + shown(short[row.entry.canonical]) for row in rows}
    longest = max([7, *map(len, names.values())])
    fair = min(room - 2 * (GAP + LEGIBLE), console.width // 3)
    session = min(longest, max(min(room, SESSION_LEAST), fair))
    project, about = _shares(rows, room - session - 2 * GAP)
    table.add_column("changed", no_wrap=True, width=CHANGED)
    table.add_column("session", overflow="fold", width=max(session, 7), style="cyan")
    for title, width in (("project", project), ("about", about)):
        if width:
            table.add_column(title, overflow="ellipsis", no_wrap=True, max_width=width)
    if sized:
        table.add_column("size", justify="right", no_wrap=True, min_width=size)
    table.add_column("events", justify="right", no_wrap=True, min_width=events)
    for row in rows:
        lines = [_cells(row, names[row.entry.canonical], now)]
        if with_windows and len(row.windows) > 1:
            lines += [_window(row, number) for number in range(len(row.windows))]
        for cells in lines:
            table.add_row(*(Text(cells.get(str(column.header), "")) for column in table.columns))
    if rows:
        console.print(table)
    console.print(_summary(rows, *counts))


def _shares(rows: Sequence[SessionRow], room: int) -> tuple[int, int]:
    """Return the widths of the project and the description; 0 leaves a column out."""
    from rich.cells import cell_len

    about = max([5, *(cell_len(_about(row)) for row in rows)])
    project = max([7, *(cell_len(shown(project_of(row.entry.cwd))) for row in rows)])
    if room < 2 * LEGIBLE:
        alone = min(about, room + GAP)
        return 0, (alone if alone >= LEGIBLE else 0)
    project = min(project, PROJECT_MOST, max(LEGIBLE, room // 3))
    return project, min(about, room - project)


def _about(row: SessionRow) -> str:
    return shown(row.entry.name or row.prompt or "")


def _cells(row: SessionRow, name: str, now: float) -> dict[str, str]:
    entry = row.entry
    return {
        "changed": ago(entry.modified, now),
        "session": name,
        "project": shown(project_of(entry.cwd)),
        "about": _about(row),
        "size": _size(entry.size),
        "events": "unreadable" if row.problem else "" if row.events is None else f"{row.events:,}",
    }


def _window(row: SessionRow, number: int) -> dict[str, str]:
    """Return the cells of a window, which is below its session."""
    window = row.windows[number]
    below = row.lines.replace("├╴", "│ ").replace("└╴", "  ")
    return {
        "session": f"{below}· window {number + 1}",
        "about": f"seq {window.first_seq:,} to {window.last_seq:,}",
        "events": f"{window.events:,}",
    }


def _size(size: int) -> str:
    from rich.filesize import decimal

    return decimal(size)


def _summary(rows: Sequence[SessionRow], listed: int, total: int) -> str:
    if not total:
        return "no sessions"
    said = [f"{listed} of {counted(total, 'session')}"]
    if listed < len(rows):
        said.append(f"{len(rows) - listed} more of their families")
    if listed < total:
        said.append("--all lists the others")
    if any(row.events is None and row.problem is None for row in rows):
        said.append("--events counts the events of large ones too")
    return "; ".join(said)
