"""What single rows say of the session as a whole: its facts, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from hindnote.hosts.claude.transcript.rows import About, Row


class Checkpoint(Struct):
    """The newest ``last-prompt`` row that still counts."""

    named: bool = False
    leaf: str | None = None
    """None: the person went back to the empty conversation."""

    binding: bool = False

    def set(self, leaf: str | None, explicit: bool) -> None:
        """Take in a ``last-prompt`` row that has a leaf."""
        if leaf is None and not explicit:
            return
        if not explicit and self.named and self.binding and leaf == self.leaf:
            return
        self.named, self.leaf, self.binding = True, leaf, explicit


class Known(Struct):
    """What the rows say of the session as a whole."""

    session_id: str | None = None
    agent_id: str | None = None
    started: str | None = None
    cwd: str | None = None
    origin: str | None = None
    """Id of the session from which rows were copied."""

    title: str | None = None
    summary: str | None = None

    @property
    def complete(self) -> bool:
        """Whether ``note`` has nothing more to learn."""
        return None not in (self.session_id, self.started, self.cwd)

    def note(self, about: About) -> None:
        """Take in what one row says, where no earlier one said it."""
        for name, value in (
            ("session_id", about.session_id),
            ("agent_id", about.agent_id),
            ("started", about.timestamp),
            ("cwd", about.cwd),
        ):
            if getattr(self, name) is None and isinstance(value, str) and value:
                setattr(self, name, value)

    def note_origin(self, row: Row) -> None:
        """Take in where a row was copied from."""
        forked = row.forked_from.session_id if row.forked_from else None
        for named in (forked, row.request_session_id):
            if named and named != self.session_id and self.origin is None:
                self.origin = named
