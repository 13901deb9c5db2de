"""Check hindnote's installation in Codex, without running anything of a project."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from hindnote.hosting import (
    Finding,
    NotOurs,
    dotted,
    outside_project,
    running,
    told_version,
    vanishing,
    version_in,
)
from hindnote.hosts.codex.install import NEEDED, config
from hindnote.hosts.codex.settings import installed, is_there

INSTALL = "hindnote install codex"
REINSTALL = f"run `{INSTALL}` again"


def checks() -> Iterator[Finding]:
    """Check Codex, hindnote's part of its configuration, and the commands there."""
    yield from _codex()
    file = config()
    try:
        data = file.read()
        text = None if data is None else data.decode()
        commands = [] if text is None else list(installed(text))
    except (OSError, UnicodeDecodeError, NotOurs) as error:
        yield Finding("error", str(file.path), f"cannot be read: {error}", "correct it")
        return
    if text is None or not is_there(text):
        if commands:
            told = "names a server hindnote that was written by hand; it was not looked at"
            yield Finding("ok", str(file.path), told)
            return
        yield Finding("ok", "Codex", "has no hindnote", f"`{INSTALL}` installs it")
        return
    yield from _commands(file.path, commands)


def _codex() -> Iterator[Finding]:
    executable = outside_project("codex")
    if executable is None:
        yield Finding("ok", "codex", "is not on the PATH; nothing to check")
        return
    yield running(executable, "--version")
    version = version_in(told_version(executable))
    if version is None:
        told = "--version does not say which version it is"
        yield Finding("error", executable, told, "try `codex --version`")
    elif version[:2] < NEEDED:
        told = f"is version {dotted(version)}; hindnote was tried with {dotted(NEEDED)} and newer"
        yield Finding("warning", executable, told, "run `codex update`")
    else:
        yield Finding("ok", executable, f"Codex {dotted(version)}")


def _commands(path: Path, commands: list[str]) -> Iterator[Finding]:
    """Check the commands in the configuration."""
    subject = str(path)
    if len(commands) < 3:
        told = "lacks a part of what was installed: the server or one of its hooks"
        yield Finding("error", subject, told, REINSTALL)
    own = str(Path(sys.executable).with_name("hindnote"))
    for command in dict.fromkeys(commands):
        if not os.access(command, os.X_OK):
            yield Finding("error", subject, f"runs {command}, which is not there", REINSTALL)
        elif (going := vanishing(command)) is not None:
            yield Finding("warning", subject, f"runs {command}, which {going}", REINSTALL)
        elif command != own:
            told = f"runs {command}, of another installation than this one"
            yield Finding("warning", subject, told, f"{REINSTALL} to bind it to this one")
        elif len(commands) == 3:
            yield Finding("ok", subject, f"is current, and runs {command}")
