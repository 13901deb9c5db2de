"""``hindnote hosts``: the installed host plugins, and why one was refused."""

from __future__ import annotations

import click

from hindnote.core.calls import HostCall
from hindnote.core.cli.call import current_directory
from hindnote.core.failures import HostFailure
from hindnote.core.plugins import HostReport, Hosts


@click.command(short_help="List the installed hosts, and those that were refused.")
@click.option("--check", is_flag=True, help="Ask each host its questions; exit 1 if one fails.")
def hosts(check: bool) -> None:
    """List the host plugins, where each comes from, and why one was refused.

    Plugins are found through the entry-point group hindnote.hosts. With --check each
    is asked for its base directory twice and for its identity once, as for a call
    from the current directory.
    """
    loaded = Hosts.load()
    wrong = False
    for report in loaded.report():
        problem = report.refused.reason if report.refused else None
        if check and problem is None:
            problem = asked(loaded, report.source.slug)
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


def asked(hosts: Hosts, slug: str) -> str | None:
    """Return what is wrong with a host's answers, or None."""
    call = HostCall(host=slug, cwd=current_directory())
    try:
        first, second = hosts.base_cwd(call), hosts.base_cwd(call)
        hosts.identity(call)
    except HostFailure as failure:
        return str(failure)
    if first != second:
        return (
            f"host_base_cwd answered {str(first)!r} and then {str(second)!r} for one call; "
            "its answer must depend on the call alone"
        )
    return None
