"""Shell completion beyond the commands and options that click completes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindnote.core.plugins.entry_points import HOSTS, entries

if TYPE_CHECKING:
    import click


def complete_host(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the installed hosts with this prefix, sorted, without importing them."""
    return sorted({entry.name for entry in entries(HOSTS) if entry.name.startswith(incomplete)})
