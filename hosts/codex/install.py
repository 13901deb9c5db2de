"""``hindnote install codex`` and ``hindnote uninstall codex``: change Codex's ``config.toml``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hindnote.hosting import (
    Busy,
    EditedFile,
    NotOurs,
    NoWholePath,
    alone,
    check_whole_paths,
    dotted,
    explained,
    home_to_record,
    outside_project,
    report,
    tell,
    told_version,
    version_in,
    warn_of_vanishing,
)
from hindnote.hosts.codex.paths import codex_home
from hindnote.hosts.codex.settings import Settings, added, is_there, removed

NEEDED = (0, 171)
"""The oldest tested version of Codex."""

_dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")


@click.command(short_help="Put hindnote into Codex's configuration.")
@click.option("--ask", is_flag=True, help="Let Codex ask before each call that changes something.")
@click.option(
    "--project-tools", is_flag=True, help="Offer the project tools too, for documents and todos."
)
@_dry_run
def install(ask: bool, project_tools: bool, dry_run: bool) -> None:
    """Put hindnote's server and its hook into Codex's config.toml, for all later sessions."""
    with explained(NoWholePath):
        _check_variables()
        home = home_to_record()
    _look_at_codex()
    settings = Settings(_command(), home, ask, project_tools)
    with explained(NotOurs, Busy), alone():
        file = config(dry_run)
        before = file.read()
        try:
            text = None if before is None else before.decode()
            rest = removed(text) if text is not None and is_there(text) else text
            after = added(rest, settings).encode()
        except UnicodeDecodeError:
            raise NotOurs(f"{file.path} is not UTF-8; correct it first") from None
        except NotOurs as error:
            raise NotOurs(f"{file.path}: {error}") from None
        touched = after != before and tell(file.write(after, before))
    if not touched:
        report(f"nothing to do: {file.path} is current")
    elif not dry_run:
        report(
            "Codex loads it at its next start, and asks you to trust the hook that shows the "
            "agent its notes: say yes there, or later with /hooks"
        )
    warn_of_vanishing("hindnote install codex")


@click.command()
@_dry_run
def uninstall(dry_run: bool) -> None:
    """Take hindnote out of Codex's config.toml again; notes stay."""
    with explained(NoWholePath):
        _check_variables()
    with explained(NotOurs, Busy), alone():
        file = config(dry_run)
        before = file.read()
        text = None if before is None else before.decode("utf-8", "surrogateescape")
        if before is None or text is None or not is_there(text):
            report(f"nothing to do: there is nothing of hindnote's in {file.path}")
            return
        try:
            after = removed(text)
        except NotOurs as error:
            raise NotOurs(f"{file.path}: {error}") from None
        if after is None:
            tell(file.remove(before))
        else:
            tell(file.write(after.encode("utf-8", "surrogateescape"), before))


def config(dry_run: bool = False) -> EditedFile:
    """Return Codex's configuration file."""
    return EditedFile(codex_home() / "config.toml", dry_run)


def _check_variables() -> None:
    check_whole_paths("CODEX_HOME", "HOME", tilde=False)
    check_whole_paths("HINDNOTE_HOME", tilde=True)


def _command() -> str:
    """Return the ``hindnote`` command of the Python that runs this."""
    command = Path(sys.executable).with_name("hindnote")
    if not command.is_file():
        raise click.ClickException(
            f"there is no {command}, which Codex is to run; install hindnote with pip, uv or pipx"
        )
    return str(command)


def _look_at_codex() -> None:
    executable = outside_project("codex")
    if executable is None:
        report(f"there is no codex on the PATH; hindnote was tried with {dotted(NEEDED)}")
        return
    version = version_in(told_version(executable))
    if version is not None and version[:2] < NEEDED:
        report(
            f"warning: {executable} is Codex {dotted(version)}; hindnote was tried with "
            f"{dotted(NEEDED)} and newer"
        )
