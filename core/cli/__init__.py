"""The command line, for people and scripts. Nothing on a host's call path imports it."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave with its exit code."""
    from hindnote.core.cli.app import run

    run()
