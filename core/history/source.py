"""Where the history operations get sessions from: the loaded plugins, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hindnote.core.errors import HostFailure
    from hindnote.core.history.projection import Projection
    from hindnote.core.plugins.models import HostCall, SessionEntry


class HistorySource(Protocol):
    """The cross-session half of the plugin manager, as the operations see it."""

    def slugs(self) -> Sequence[str]:
        """Return the slugs of all loaded hosts."""
        ...

    def not_loaded(self) -> Mapping[str, HostFailure]:
        """Return why each installed plugin that was refused cannot be asked, by what names it."""
        ...

    def current(self, call: HostCall) -> Projection | None:
        """Return the call's own session, or None when there is none yet."""
        ...

    def lists_sessions(self, host: str) -> bool:
        """Return whether a host's sessions can be read at all."""
        ...

    def sessions(self, call: HostCall, host: str) -> Iterable[SessionEntry]:
        """Return one host's catalogue, newest first."""
        ...

    def open(self, call: HostCall, session: SessionEntry) -> Projection | None:
        """Return a session from a catalogue; None when it is no longer there.

        Raises:
            Refused: ``unreadable_session``.
        """
        ...
