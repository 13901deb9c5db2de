"""``hindnote hosts``: the installed host plugins, and why one was refused."""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from operator import attrgetter

import click

from hindnote.core.cli.tree import current_directory
from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES, utf8_size
from hindnote.core.errors import HostFailure
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.loading import HostReport
from hindnote.core.plugins.models import HostCall
from hindnote.core.tools.outcome import Refused


@click.command(short_help="List the installed hosts, and those that were refused.")
@click.option("--check", is_flag=True, help="Ask each host its questions; exit 1 if one fails.")
def hosts(check: bool) -> None:
    """List the host plugins, where each comes from, and why one was refused.

    Plugins are found through the entry-point group hindnote.hosts. With --check each
    is asked what a call from the current directory would ask: its base directory, twice,
    its identity, its text around history, its sessions, and the newest of them. The
    traceback of a plugin that crashes goes to standard error.
    """
    loaded = Hosts.load()
    wrong = False
    for report in loaded.report():
        problem = report.refused.reason if report.refused else None
        if check and problem is None:
            problem = _problem(loaded, report.source.slug)
        wrong = wrong or problem is not None
        _show(report, problem, checked=check)
    if check and wrong:
        click.get_current_context().exit(1)


def _show(report: HostReport, problem: str | None, *, checked: bool) -> None:
    source = report.source
    state = "refused" if report.refused else "failed" if problem else "ok" if checked else "loaded"
    click.echo(f"{source.slug}: {state}")
    click.echo(f"  {source.distribution or 'no distribution'}, {source.value}")
    if source.location:
        click.echo(f"  in {source.location}")
    if problem:
        click.echo(f"  {problem}")


def _problem(hosts: Hosts, slug: str) -> str | None:
    try:
        asked(hosts, slug)
    except HostFailure as failure:
        if failure.__cause__ is not None:
            traceback.print_exception(failure.__cause__, file=sys.stderr)
        return str(failure)
    return None


def asked(hosts: Hosts, slug: str) -> None:
    """Ask a host what a call asks, as for one from the current directory.

    Raises:
        HostFailure: An answer is not what the contract says.
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
        # What one session holds is no business of the check: a refusal is an answer.
        with suppress(Refused):
            hosts.open(call, newest)
