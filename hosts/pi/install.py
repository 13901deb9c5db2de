"""``hindnote install pi`` and ``hindnote uninstall pi``.

An installation is a copy of the extension in Pi's ``extensions`` folder, with a manifest that
lists the written files and the Python to run. Files that hindnote did not write are never changed,
and uninstalling restores Pi's folder to its earlier state.
"""

from __future__ import annotations

import sys
from importlib.metadata import version

import click

from hindnote.core.cli.installing import warn_of_vanishing
from hindnote.core.cli.tree import explained, report, tell
from hindnote.core.install.lock import Busy, alone
from hindnote.core.install.managed_folder import FOREIGN, ManagedFolder, NotOurs
from hindnote.core.install.programs import dotted, told_version, version_in
from hindnote.core.install.variables import NoWholePath, check_whole_paths
from hindnote.core.system.programs import on_path, outside_project
from hindnote.hosts.pi.paths import FILES, MANIFEST, PYTHON_VARIABLE, Scope, scopes, shipped

PI = (1, 5)
"""Major and minor version of the oldest Pi that works with the extension: 1.4.0 runs the tools,
but has no ``keyHint`` for a tool's renderer. The end-to-end tests run this version and the
newest."""

TESTED = (1, 6)
"""Major and minor version of the newest Pi in the end-to-end tests."""

_project = click.option(
    "--project", is_flag=True, help="For the project in this directory alone, in its .pi folder."
)
_dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")


@click.command
@_project
@_dry_run
def install(project: bool, dry_run: bool) -> None:
    """Give Pi the notes and history tools."""
    _warn_of_pi()
    with explained(NoWholePath):
        _check_variables()
    here, other = reversed(scopes()) if project else scopes()
    with explained(NotOurs, Busy), alone():
        _refuse_second(here, other)
        facts = {"python": sys.executable, "version": version("hindnote")}
        touched = tell(place(here, dry_run).put(shipped(), facts))
    if not touched:
        report(f"nothing to do: {here.extension} is current")
    elif not dry_run:
        report("Pi loads it at its next start, or after /reload")
    warn_of_vanishing("hindnote install pi")
    if touched and project:
        report(
            f"{here.extension} names a Python of this machine: keep it out of version control, "
            "and let everyone else run this command, too"
        )


@click.command
@_project
@_dry_run
def uninstall(project: bool, dry_run: bool) -> None:
    """Take the extension away from Pi; notes stay."""
    with explained(NoWholePath):
        _check_variables()
    here = scopes()[1 if project else 0]
    for folder in here.referenced():
        report(f"left {folder}: Pi's settings name it; run: pi remove {folder}")
    with explained(NotOurs, Busy), alone():
        there = place(here, dry_run)
        if there.written() is None and there.is_taken():
            raise NotOurs(f"{there.folder} {FOREIGN}; move it away")
        if not tell(there.take_away()):
            report(f"nothing to do: {there.folder} is not installed")


def pi_version(program: str) -> tuple[int, ...] | None:
    """Return the version of a Pi; None when it cannot be determined."""
    return version_in(told_version(program))


def _warn_of_pi() -> None:
    """Report when there is no Pi on the PATH, and when it may be too old."""
    needed = f"hindnote needs Pi {dotted(PI)} or newer"
    if on_path("pi") is None:
        report(f"there is no pi on the PATH; {needed}")
    # A Pi inside the current project is not run.
    program = outside_project("pi")
    if program is None:
        return
    release = pi_version(program)
    if release is None:
        report(f"warning: {program} --version does not say which version it is; {needed}")
    elif release[:2] < PI:
        report(
            f"warning: {program} is Pi {dotted(release)}, in which not all of it works; {needed}: "
            "update Pi"
        )


def _check_variables() -> None:
    # Pi 1.6.0 expands ~ to the home directory in its own two variables.
    check_whole_paths("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", tilde=True)
    check_whole_paths("HINDNOTE_HOME", tilde=True)
    check_whole_paths("HOME", PYTHON_VARIABLE, tilde=False)


def place(scope: Scope, dry_run: bool = False) -> ManagedFolder:
    """Return the extension's folder as a managed folder."""
    return ManagedFolder(scope.extension, FILES, dry_run, MANIFEST, scope.top)


def _refuse_second(here: Scope, other: Scope) -> None:
    """Refuse to install a second copy: Pi would load both and drop the second one's tools."""
    for scope in (here, other):
        for folder in scope.referenced():
            raise NotOurs(
                f"Pi's {scope.name} settings already load hindnote from {folder}; "
                f"run first: pi remove {folder}"
            )
    if place(other).written() is not None:
        flag = " --project" if other.name == "project" else ""
        raise NotOurs(
            f"hindnote is already installed in {other.extension}, and Pi would load both; "
            f"run first: hindnote uninstall pi{flag}"
        )
