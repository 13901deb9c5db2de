"""Lists of sessions for people: subject, project, time of the last change, forks and subagents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from hindnote.core.places.project import project_root

if TYPE_CHECKING:
    from hindnote.core.plugins.models import SessionEntry

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_WEEK = 7 * _DAY


def about(entry: SessionEntry) -> str:
    """Return a session's subject: its name, or else the beginning of its first prompt."""
    return entry.name or entry.prompt or ""


@lru_cache(maxsize=4_096)
def project_of(cwd: str | None) -> str:
    """Return the name of the project of a recorded directory; empty for no directory."""
    if cwd is None:
        return ""
    path = Path(cwd)
    try:
        if path == Path.home():
            return "~"
        # A directory that does not exist here is called by its own name.
        return (project_root(path) if path.is_dir() else path).name or cwd
    except (OSError, ValueError, RuntimeError):
        return path.name or cwd


def ago(moment: float, now: float) -> str:
    """Return how long ago something happened: ``5 min ago``; after a week the date.

    Empty for a time outside of the calendar.
    """
    past = now - moment
    if -_MINUTE < past < _WEEK:
        if past < _MINUTE:
            return "just now"
        for unit, size in (("d", _DAY), ("h", _HOUR), ("min", _MINUTE)):
            if past >= size:
                return f"{int(past // size)} {unit} ago"
    try:
        return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return ""


class Filter(Struct, frozen=True):
    """Which sessions of a list are wanted."""

    since: float | None = None
    """Seconds since the epoch; those that changed before are left out."""

    until: float | None = None
    words: tuple[str, ...] = ()
    """Words that all occur in the session's subject, directory or id; case is ignored."""

    project: str | None = None
    """Name of its project, as ``project_of`` returns it."""

    def takes(self, entry: SessionEntry) -> bool:
        """Return whether a session passes the filter."""
        changed = entry.modified
        if (self.since is not None and changed < self.since) or (
            self.until is not None and changed >= self.until
        ):
            return False
        if self.project is not None and project_of(entry.cwd) != self.project:
            return False
        if not self.words:
            return True
        text = "\n".join(
            filter(None, (entry.canonical, entry.name, entry.prompt, entry.cwd))
        ).casefold()
        return all(word.casefold() in text for word in self.words)


class Node(Struct):
    """A session with its forks and subagents."""

    entry: SessionEntry
    children: list[Node] = field(default_factory=list)
    wanted: bool = True
    """False for one that is listed only because of its descendants."""

    def newest(self) -> float:
        """Return the time of the last change of the session or of one of its descendants."""
        return max(node.entry.modified for node in walk([self]))


class Placed(NamedTuple):
    """A node, and the lines of the tree in front of it."""

    node: Node
    lines: str
    """Drawn before its name: empty for a root."""


def forest(every: Iterable[SessionEntry], wanted: Sequence[SessionEntry]) -> list[Node]:
    """Return trees of sessions, the most recently changed first.

    Args:
        every: All sessions, among which ancestors are looked up.
        wanted: The sessions to show; their ancestors come with them.
    """
    known = {entry.canonical: entry for entry in every}
    chosen = {entry.canonical for entry in wanted}
    nodes: dict[str, Node] = {}
    roots: list[Node] = []
    for entry in wanted:
        _place(entry, known, chosen, nodes, roots)
    for node in nodes.values():
        node.children.sort(key=lambda child: (child.entry.started or "", child.entry.id))
    roots.sort(key=Node.newest, reverse=True)
    return roots


def _place(
    entry: SessionEntry,
    known: dict[str, SessionEntry],
    chosen: set[str],
    nodes: dict[str, Node],
    roots: list[Node],
) -> None:
    """Add a session and its ancestors to the tree, unless they are there already."""
    child: Node | None = None
    above: set[str] = set()
    while True:
        name = entry.canonical
        node = nodes.get(name)
        is_new = node is None
        if node is None:
            node = nodes[name] = Node(entry, wanted=name in chosen)
        if child is not None:
            node.children.append(child)
        if not is_new:
            return
        above.add(name)
        parent = known.get(f"{entry.host}:{entry.parent}") if entry.parent else None
        # Damaged files may name each other as their parent.
        if parent is None or parent.canonical in above:
            roots.append(node)
            return
        entry, child = parent, node


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes and all nodes below them, each before its children."""
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def drawn(roots: Sequence[Node]) -> Iterator[Placed]:
    """Yield nodes and all nodes below them, each with the lines of the tree in front of it."""
    # A stack instead of recursion: a chain of forks may be longer than Python's recursion limit.
    waiting = [(node, "", "") for node in reversed(roots)]
    while waiting:
        node, lines, below = waiting.pop()
        yield Placed(node, lines)
        for child in reversed(node.children):
            last = child is node.children[-1]
            waiting.append(
                (child, below + ("└╴" if last else "├╴"), below + ("  " if last else "│ "))
            )
