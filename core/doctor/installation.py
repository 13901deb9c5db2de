"""Check an installation: its parts, its settings, and the hosts.

Nothing is written or created. A host adds its own checks through an entry point ``doctor.<host>``
in the group ``hindnote.commands``: a function without arguments that returns or yields findings.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from hindnote.core.doctor.database import examine_database
from hindnote.core.doctor.findings import Finding
from hindnote.core.doctor.notes import examine_home
from hindnote.core.errors import Refused
from hindnote.core.places.home import NotesHome, as_home
from hindnote.core.plugins.entry_points import (
    CHECKS,
    COMMANDS,
    BrokenEntry,
    distribution,
    entries,
    load,
)
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.system.process import process_directory

PROJECT_TOOLS = "HINDNOTE_PROJECT_TOOLS"
"""Environment variable that selects how the project tools are offered to the model."""

WAYS = ("codemode", "direct", "deferred", "off")
"""Its valid values, on any host."""


def examine(home: Path | NotesHome) -> Iterator[Finding]:
    """Yield every finding of the core and of the installed hosts.

    Args:
        home: The notes home, which need not exist. A plain path counts as set by the caller.
    """
    yield from examine_installation()
    yield from examine_settings()
    yield from _examine_home(as_home(home))
    yield from examine_hosts()


def _examine_home(home: NotesHome) -> Iterator[Finding]:
    """Check the notes home, unless a project chose it and no person has confirmed it."""
    try:
        home.admit(process_directory())
    except Refused as refused:
        yield Finding("error", f"notes home {home.place}", refused.refusal.message)
        return
    if home.database is None:
        yield from examine_home(home.folder)
    else:
        yield from examine_database(home.database)


# -- the installation ----------------------------------------------------------


def examine_installation() -> Iterator[Finding]:
    """Check versions, the command, the host plugins, and the commands of other distributions."""
    from importlib.metadata import version

    running = f"hindnote {version('hindnote')} on Python {platform.python_version()}"
    yield Finding("ok", running, sys.executable)
    command = shutil.which("hindnote")
    if command:
        yield Finding("ok", "command hindnote", command)
    else:
        yield Finding(
            "warning",
            "command hindnote",
            "is not on the PATH",
            f"hosts do not need it; {Path(sys.executable).parent / 'hindnote'} is the whole path",
        )
    for report in Hosts.load().report():
        subject = f"host {report.source.slug}"
        if report.refused:
            refused = report.source.distribution or report.source.value
            yield Finding("error", subject, f"{refused} was refused: {report.refused.reason}")
        else:
            yield Finding("ok", subject, report.source.distribution or report.source.value)
    yield from _examine_commands()


def examine_settings() -> Iterator[Finding]:
    """Check the settings that hosts read from the environment."""
    chosen = os.environ.get(PROJECT_TOOLS)
    if chosen and chosen not in WAYS:
        told = f"is {chosen!r}, none of {', '.join(WAYS)}; it counts as unset"
        yield Finding("warning", PROJECT_TOOLS, told, "set it to one of these, or not at all")


def _examine_commands() -> Iterator[Finding]:
    held: dict[str, str | None] = {}
    for entry in entries(COMMANDS):
        subject = f"entry point {entry.name}"
        if entry.name in held:
            yield Finding(
                "error",
                subject,
                f"{distribution(entry)} offers what {held[entry.name]} offers already",
                "uninstall one of the two; the first is used",
            )
            continue
        held[entry.name] = distribution(entry)
        try:
            load(entry)
        except BrokenEntry as broken:
            yield Finding(
                "error", subject, str(broken), f"repair or uninstall {distribution(entry)}"
            )


# -- the hosts -----------------------------------------------------------------


def examine_hosts() -> Iterator[Finding]:
    """Run the checks that installed hosts define."""
    for entry in entries(COMMANDS):
        group, _, host = entry.name.partition(".")
        if group != CHECKS or not host:
            continue
        try:
            checks = load(entry)
        except BrokenEntry:
            continue  # told by the look at the commands
        yield from _run(host, checks)


def _run(host: str, checks: object) -> Iterator[Finding]:
    try:
        findings = checks() if callable(checks) else checks
        if not isinstance(findings, Iterable):
            raise TypeError("it is no function that yields findings")
        for finding in findings:
            if not isinstance(finding, Finding):
                raise TypeError(f"it yielded a {type(finding).__name__}, not a Finding")
            yield finding
    except Exception as error:  # noqa: BLE001
        # The other checks still run when one crashes.
        yield Finding(
            "error",
            f"checks of host {host}",
            f"stopped with {type(error).__name__}: {error}",
            "this is a defect of the host's plugin; report it to its makers",
        )
