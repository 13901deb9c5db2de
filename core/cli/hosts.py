"""``hindnote hosts``: the installed host plugins, and why a plugin was refused."""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from time import monotonic

import click

from hindnote.core.cli.screen import say
from hindnote.core.cli.tree import current_directory
from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES, utf8_size
from hindnote.core.errors import HostFailure, Refused
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.loading import HostReport
from hindnote.core.plugins.models import HostCall
from hindnote.core.text.messages import counted

PROGRESS_EVERY = 2.0
"""Seconds between two progress lines while files are checked."""

STRANGE_SHOWN = 5
"""Maximum number of files shown that no host reads as a session."""


@click.command(short_help="List the installed hosts, and those that were refused.")
@click.option("--check", is_flag=True, help="Ask each host its questions; exit 1 if one fails.")
@click.option(
    "--files",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="With --check: read every session file below this folder, and check what must hold of it.",
)
def hosts(check: bool, files: Path | None) -> None:
    """List the host plugins, where each comes from, and why one was refused.

    Plugins are found through the entry-point group hindnote.hosts. With --check each
    is asked what a call from the current directory would ask: its base directory, twice,
    its identity, its text around history, its sessions, and the newest of them. The
    traceback of a plugin that crashes goes to standard error.

    With --check --files DIR each host reads the files below DIR instead. Of each that is
    a session of its own it is checked that the catalogue says what the file says, that the
    file read while it grows is the file read at once, that no seq changes, that what is
    listed can be read, and that every row is an event, passed over by a name that is
    told, or counted as damaged. Nothing in DIR is changed.
    """
    if files is not None and not check:
        raise click.UsageError("--files needs --check")
    loaded = Hosts.load()
    if files is not None:
        click.get_current_context().exit(_check_files(loaded, files))
    wrong = False
    for report in loaded.report():
        problem = report.refused.reason if report.refused else None
        if check and problem is None:
            problem = _problem(loaded, report.source.slug)
        wrong = wrong or problem is not None
        _show(report, problem, checked=check)
    if check and wrong:
        click.get_current_context().exit(1)


def _check_files(hosts: Hosts, folder: Path) -> int:
    """Print the results of all hosts for a folder; return the exit code."""
    # Imported here, since only this command needs the checks.
    from hindnote.testing.files import check_folder

    wrong = 0
    read: set[Path] = set()
    refused: dict[Path, str] = {}
    for slug in hosts.slugs():
        findings = check_folder(hosts, slug, folder, _Progress(slug))
        wrong += len(findings.problems)
        refused.update(findings.refused)
        read.update(findings.read)
        say(
            f"{slug}: {counted(len(findings.read), 'session')} read, {findings.listed} of them listed, "
            f"{counted(findings.damaged, 'damaged row')}, {len(findings.problems)} with problems"
        )
        for file, problems in findings.problems.items():
            for problem in problems:
                say(f"  {file.relative_to(folder)}: {problem}")
        if findings.passed_over:
            named = ", ".join(f"{n} {name}" for name, n in findings.passed_over.most_common())
            say(f"  rows that are no event: {named}")
    for slug, failure in hosts.not_loaded().items():
        wrong += 1
        say(f"{slug}: {failure}")
    strange = sorted(refused.keys() - read)
    for file in strange[:STRANGE_SHOWN]:
        say(f"no session of any host: {file.relative_to(folder)}: {refused[file]}")
    if (more := len(strange) - STRANGE_SHOWN) > 0:
        say(
            f"and {counted(more, 'more file')} that {'is' if more == 1 else 'are'} no session of any host"
        )
    if not read:
        say(f"no host reads a file below {folder} as a session")
    return 1 if wrong or not read else 0


class _Progress:
    """Prints the progress of a long check to standard error.

    Args:
        slug: The host being checked.
    """

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._told = monotonic()

    def __call__(self, number: int, total: int, file: Path) -> None:
        if monotonic() - self._told >= PROGRESS_EVERY:
            self._told = monotonic()
            say(f"{self._slug}: file {number} of {total}, {file.name}", err=True)


def _show(report: HostReport, problem: str | None, *, checked: bool) -> None:
    source = report.source
    state = "refused" if report.refused else "failed" if problem else "ok" if checked else "loaded"
    say(f"{source.slug}: {state}")
    say(f"  {source.distribution or 'no distribution'}, {source.value}")
    if source.location:
        say(f"  in {source.location}")
    if problem:
        say(f"  {problem}")


def _problem(hosts: Hosts, slug: str) -> str | None:
    try:
        asked(hosts, slug)
    except HostFailure as failure:
        if failure.__cause__ is not None:
            traceback.print_exception(failure.__cause__, file=sys.stderr)
        return str(failure)
    return None


def asked(hosts: Hosts, slug: str) -> None:
    """Call a host's hooks as a call from the current directory would.

    Raises:
        HostFailure: An answer breaks the contract.
    """
    call = HostCall(host=slug, cwd=current_directory())
    first, second = hosts.base_cwd(call), hosts.base_cwd(call)
    if first != second:
        raise HostFailure(
            f"host_base_cwd answered {str(first)!r} and then {str(second)!r} for one call; "
            "its answer must depend on the call alone"
        )
    hosts.identity(call)
    for operation in ("history_list", "history_read"):
        told = hosts.decoration(call, operation)
        if (size := utf8_size(told.prefix) + utf8_size(told.suffix)) > OUTPUT_BUDGET_BYTES // 4:
            raise HostFailure(
                f"host_decoration({operation!r}) takes {size} of the {OUTPUT_BUDGET_BYTES} bytes of "
                "an answer; a quarter is the most that leaves it useful"
            )
    newest = max(hosts.sessions(call, slug), key=attrgetter("modified"), default=None)
    if newest is not None:
        # The check does not care about the session's content: a refusal is a valid answer.
        with suppress(Refused):
            hosts.open(call, newest)
