"""Where a host plugin comes from, for messages."""

from __future__ import annotations

from msgspec import Struct


class Source(Struct, frozen=True):
    """Where a host plugin comes from."""

    slug: str
    """The host's slug: the name of the entry point."""

    value: str
    """The entry point's object reference, or a description of the object that was passed in."""

    distribution: str | None = None
    """Name and version of the distribution; None for a plugin that was passed in directly."""

    location: str | None = None
    """The folder in which the distribution is installed."""

    def __str__(self) -> str:
        """Return the description of the plugin for messages."""
        origin = f"distribution {self.distribution}" if self.distribution else "given directly"
        return f"host plugin {self.slug!r} ({self.value}, {origin})"
