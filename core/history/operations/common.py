"""What the operations on history share: the session that a call names, refusal codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindnote.core.errors import RefusalCode
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.sessions import Sessions

ONE_SESSION: frozenset[RefusalCode] = frozenset(
    {
        "invalid_session",
        "unknown_session",
        "ambiguous_session",
        "unreadable_session",
        "no_current_session",
        "io_error",
    }
)
"""Codes with which an operation may refuse the session that is named."""


def session_of(sessions: Sessions, selector: str | None) -> tuple[Projection, str | None]:
    """Return a session, and its canonical name when the call named one."""
    return (sessions.current(), None) if selector is None else sessions.one(selector)
