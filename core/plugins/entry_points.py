"""The entry points of installed distributions, in a fixed order.

hindnote's own entry points come first, then those of other distributions by name. So the winner of
a contested name does not depend on the order of installation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

HOSTS = "hindnote.hosts"
"""Entry-point group of host plugins; an entry's name is the host's slug."""

COMMANDS = "hindnote.commands"
"""Entry-point group of commands; an entry's name is the command's path with dots for spaces."""

CHECKS = "doctor"
"""Entries of ``COMMANDS`` with this first part are doctor checks of hosts instead of commands."""


class BrokenEntry(Exception):
    """An entry point's object cannot be imported; the cause has the traceback."""


def entries(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, hindnote's own first."""
    # This import costs as much as the rest of a cold call, so it is done only here.
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=_precedence)


def _precedence(entry: EntryPoint) -> tuple[bool, str, str]:
    name = entry.dist.name if entry.dist else ""
    return (name != "hindnote", name, entry.name)


def distribution(entry: EntryPoint) -> str | None:
    """Return name and version of the distribution that defines an entry point."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else None


def load(entry: EntryPoint) -> object:
    """Import the object that an entry point refers to.

    Raises:
        BrokenEntry: The import raised an exception, which the message names.
    """
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        # A third party's module may fail in any way, and must not break the others.
        raise BrokenEntry(f"importing it raised {type(error).__name__}: {error}") from error
