"""The data behind the pages: sessions, notes and projects of the person who started them."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote as quoted
from urllib.parse import urlencode

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.history.sessions import EVERY
from hindnote.core.reader.listing import Filter, about, ago, project_of
from hindnote.core.text.messages import quote
from hindnote.core.text.minutes import local_minute

if TYPE_CHECKING:
    from hindnote.core.call import Dispatcher
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.sessions import Sessions
    from hindnote.core.places.home import NotesHome
    from hindnote.core.plugins.models import HostCall, SessionEntry


class Listed(Struct, frozen=True):
    """A session in a list."""

    session: str
    """Its canonical name."""

    link: str
    about: str
    project: str
    cwd: str
    host: str
    ago: str
    day: str
    size: str
    started: str
    is_subagent: bool


class World(Struct):
    """Everything that the pages show. It is read again for each request."""

    dispatcher: Dispatcher
    call: HostCall
    home: NotesHome
    base: str
    """Beginning of each address; ends with a slash."""

    # -- addresses -------------------------------------------------------------

    def session_link(self, session: str, seq: int | None = None) -> str:
        """Return the address of a session's page, or of one event on it."""
        link = f"{self.base}s/{quoted(session, safe=':/')}"
        return link if seq is None else f"{link}?around={seq}#seq-{seq}"

    def link(self, path: str, **query: object) -> str:
        """Return the address of a page with its parameters; those that are None are left out."""
        given = {name: value for name, value in query.items() if value not in (None, "", False)}
        return f"{self.base}{quoted(path)}{'?' + urlencode(given) if given else ''}"

    # -- sessions --------------------------------------------------------------

    def sessions(self) -> Sessions:
        """Return the sessions that exist now."""
        return self.dispatcher.sessions(self.call)

    def entries(self, found: Sessions | None = None) -> list[SessionEntry]:
        """Return all sessions, the one that changed last first."""
        found = found or self.sessions()
        return [one.entry for one in found.many(EVERY) if one.entry is not None]

    def listed(self, entry: SessionEntry) -> Listed:
        """Return a session's entry in a list."""
        now = time.time()
        return Listed(
            session=entry.canonical,
            link=self.session_link(entry.canonical),
            about=about(entry) or entry.canonical,
            project=project_of(entry.cwd),
            cwd=entry.cwd or "",
            host=entry.host,
            ago=ago(entry.modified, now),
            day=_day(entry.modified, now),
            size=_size(entry.size),
            started=local_minute(entry.started),
            is_subagent="/" in entry.id,
        )

    def open(self, session: str) -> tuple[Projection, SessionEntry | None]:
        """Return a session that a selector names.

        Raises:
            Refused: There is no such session, or it cannot be read.
        """
        found = self.sessions()
        target = found.target(session)
        projection = found.open(target)
        if projection is None:
            raise Refused("unknown_session", f"session {quote(target.canonical)} is not there now")
        return projection, target.entry

    def directory_of(self, project: str) -> Path | None:
        """Return an existing directory of the project with a name; None if there is none.

        The directory in which the pages were started is preferred.
        """
        if project_of(str(self.call.cwd)) == project:
            return self.call.cwd
        for entry in self.entries():
            if entry.cwd is not None and project_of(entry.cwd) == project:
                directory = Path(entry.cwd)
                if directory.is_absolute() and directory.is_dir():
                    return directory
        return None

    def filtered(
        self, entries: list[SessionEntry], words: str, host: str, project: str, since: float | None
    ) -> list[SessionEntry]:
        """Return the sessions that a person asks for."""
        wanted = Filter(since=since, words=tuple(words.split()), project=project or None)
        return [
            entry for entry in entries if (not host or entry.host == host) and wanted.takes(entry)
        ]


def projects_of(entries: list[SessionEntry]) -> list[tuple[str, int]]:
    """Return the projects and their numbers of sessions, the most recently used project first."""
    counts = Counter(project_of(entry.cwd) for entry in entries)
    # A counter keeps the order in which its keys were added.
    return [(name, count) for name, count in counts.items() if name]


def _day(moment: float, now: float) -> str:
    try:
        then, today = (time.strftime("%Y-%m-%d", time.localtime(one)) for one in (moment, now))
    except (ValueError, OverflowError, OSError):
        return ""
    return "Today" if then == today else then


def _size(size: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1_000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1_000  # type: ignore[assignment]
    raise AssertionError(size)
