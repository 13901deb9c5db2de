"""Select the session for commands about one session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.cli.session_options import asking_for
from hindnote.core.cli.tree import Failure, current_directory
from hindnote.core.errors import Refused
from hindnote.core.history.sessions import EVERY, PROJECT, Target
from hindnote.core.reader.listing import about
from hindnote.core.text import clean
from hindnote.core.text.messages import quote
from hindnote.core.text.minutes import local_minute

if TYPE_CHECKING:
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.sessions import Sessions
    from hindnote.core.plugins.models import SessionEntry


class Opened(Struct, frozen=True):
    """The session that a command reads."""

    session: str
    """Its canonical name."""

    projection: Projection
    title: str
    """Its name, or else the beginning of its first prompt, or else its id."""

    @property
    def facts(self) -> str:
        """Where and when it ran, on one line."""
        header = self.projection.header
        return " · ".join(filter(None, (self.session, header.cwd, local_minute(header.started))))


def opened(selector: str | None) -> Opened:
    """Return the session that a person selects.

    Args:
        selector: A selector of one session; None for the latest of the current directory.

    Raises:
        Refused: The session does not exist, or cannot be read.
        Failure: No selector was given, and there is no session for this directory.
    """
    asked = asking_for(EVERY)
    found = asked.dispatcher.sessions(asked.call)
    target = _latest(found) if selector is None else found.target(clean(selector))
    projection = found.open(target)
    if projection is None:
        raise Refused("unknown_session", f"session {quote(target.canonical)} is not there now")
    entry = target.entry
    title = projection.header.name or (about(entry) if entry else "") or target.canonical
    return Opened(target.canonical, projection, title)


def _latest(found: Sessions) -> Target:
    """Return the most recently changed main session of this directory, or else of its project."""
    here = current_directory()
    for entry in _main_sessions(found, EVERY):
        if entry.cwd is not None and Path(entry.cwd) == here:
            return Target(entry.canonical, entry)
    # A deleted directory belongs to no project.
    for entry in _main_sessions(found, PROJECT) if here.is_dir() else ():
        return Target(entry.canonical, entry)
    raise Failure(f"no session ran in {here}; name one ('hindnote sessions' lists them)")


def _main_sessions(found: Sessions, selector: str) -> list[SessionEntry]:
    entries = [one.entry for one in found.many(selector) if one.entry is not None]
    return [entry for entry in entries if "/" not in entry.id]
