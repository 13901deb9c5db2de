"""What installed distributions offer through entry points, found in one order.

The built-in offers come first, then those of other distributions by name, so that
who wins a contested name does not depend on the order of installation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

HOSTS = "hindnote.hosts"
"""The group of host plugins; an entry's name is the host's slug."""

COMMANDS = "hindnote.commands"
"""The group of commands; an entry's name is the command's path, a dot for each blank."""

CHECKS = "doctor"
"""Entries in ``COMMANDS`` below this name are checks of hosts, and no commands."""


class BrokenEntry(Exception):
    """What an entry point names cannot be imported; the cause keeps the traceback."""


def entries(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, hindnote's own first."""
    # Costs as much as the rest of a cold call, so it is imported where it is used.
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=_precedence)


def _precedence(entry: EntryPoint) -> tuple[bool, str, str]:
    name = entry.dist.name if entry.dist else ""
    return (name != "hindnote", name, entry.name)


def distribution(entry: EntryPoint) -> str | None:
    """Return name and version of the distribution that offers an entry point."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else None


def load(entry: EntryPoint) -> object:
    """Import what an entry point names.

    Raises:
        BrokenEntry: Importing it raised; the message says what.
    """
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        # A third party's module may fail in any way, and must not take the rest down.
        raise BrokenEntry(f"importing it raised {type(error).__name__}: {error}") from error
