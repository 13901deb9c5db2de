"""Facts from single rows about the session as a whole, and its current row."""

from __future__ import annotations

from msgspec import Struct


class Checkpoint(Struct):
    """The newest ``last-prompt`` row that is still valid."""

    named: bool = False
    leaf: str | None = None
    """None: the person went back to the empty conversation."""

    binding: bool = False

    def set(self, leaf: str | None, explicit: bool) -> None:
        """Apply a ``last-prompt`` row that has a leaf."""
        if leaf is None and not explicit:
            return
        if not explicit and self.named and self.binding and leaf == self.leaf:
            return
        self.named, self.leaf, self.binding = True, leaf, explicit


class Known(Struct):
    """The names of the session that its rows contain."""

    title: str | None = None
    summary: str | None = None
