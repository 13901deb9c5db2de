"""The source of sessions for the history operations: the loaded plugins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hindnote.core.errors import HostFailure
    from hindnote.core.history.projection import Projection
    from hindnote.core.plugins.models import HostCall, SessionEntry


class HistorySource(Protocol):
    """The methods of the loaded plugins that the history operations use."""

    def slugs(self) -> Sequence[str]:
        """Return the slugs of all loaded hosts."""
        ...

    def not_loaded(self) -> Mapping[str, HostFailure]:
        """Return the error of each installed plugin that was refused, by name."""
        ...

    def current(self, call: HostCall) -> Projection | None:
        """Return the call's own session; None when it has no entries yet."""
        ...

    def lists_sessions(self, host: str) -> bool:
        """Return whether a host's sessions can be listed."""
        ...

    def sessions(self, call: HostCall, host: str) -> Iterable[SessionEntry]:
        """Return one host's catalogue, newest first."""
        ...

    def open(self, call: HostCall, session: SessionEntry) -> Projection | None:
        """Return a session from a catalogue; None when it no longer exists.

        Raises:
            Refused: ``unreadable_session``.
        """
        ...
