"""Check hindnote in Claude Code, without changing anything."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from hindnote.core.doctor import Finding
from hindnote.core.doctor.findings import running
from hindnote.core.doctor.folder import examine_folder, examine_foreign
from hindnote.core.fs.bounded import read_bounded
from hindnote.core.install.lasting import LASTING, vanishing
from hindnote.core.install.managed_folder import ManagedFolder, NotOurs
from hindnote.core.install.programs import ISOLATED, dotted, not_to_be_run, unusable_python
from hindnote.core.system.programs import in_project, outside_project
from hindnote.hosts.claude.install import (
    NEEDED,
    claude_version,
    marketplace_files,
    marketplace_place,
    plugin_files,
    skills_place,
)
from hindnote.hosts.claude.switch import MARKETPLACE_PLUGIN, SKILLS_PLUGIN, switched_off

INSTALL = "hindnote install claude"
REINSTALL = f"run `{INSTALL}` again"


def checks() -> Iterator[Finding]:
    """Check Claude Code, the installed plugin and the Python that it runs."""
    yield from _claude()
    installed = taken = False
    for place, below in ((skills_place(), ""), (marketplace_place(), "hindnote/")):
        try:
            if place.written() is None:
                if place.is_taken():
                    taken = True
                    yield examine_foreign(place, INSTALL)
                continue
        except NotOurs as damaged:
            yield Finding("error", str(place.folder), str(damaged), REINSTALL)
            continue
        if installed:
            yield Finding(
                "error",
                str(place.folder),
                "the plugin is installed twice, and Claude Code registers each tool once",
                "run `hindnote uninstall claude`, then install it once",
            )
        installed = True
        yield from _plugin(place, below)
    if not installed and not taken:
        advice = "`hindnote install claude` installs it"
        yield Finding("ok", "Claude Code plugin", "is not installed", advice)


def _claude() -> Iterator[Finding]:
    executable = outside_project("claude")
    if executable is None:
        yield Finding("ok", "claude", "is not on the PATH; nothing to check")
        return
    yield running(executable, "--version")
    version = claude_version(executable)
    if version is None:
        told = "--version does not say which version it is"
        yield Finding("error", executable, told, "try `claude --version`")
    elif version < NEEDED:
        yield Finding(
            "error",
            executable,
            f"is version {dotted(version)}; the plugin needs {dotted(NEEDED)}",
            "run `claude update`",
        )
    else:
        yield Finding("ok", executable, f"Claude Code {dotted(version)}")


def _plugin(place: ManagedFolder, below: str) -> Iterator[Finding]:
    off = switched_off(MARKETPLACE_PLUGIN if below else SKILLS_PLUGIN)
    if off is not None:
        yield Finding("warning", off.plugin, off.told, off.advice)
    python = named_python(place.folder / below / "hooks" / "runtime.ts")
    found = [*examine_folder(place, _current(below, python), INSTALL), *_python(place, python)]
    yield from found
    if all(finding.level == "ok" for finding in found):
        yield Finding("ok", str(place.folder), f"is current, and runs {python}")


def _python(place: ManagedFolder, python: str | None) -> Iterator[Finding]:
    """Check whether the Python that the plugin runs has hindnote."""
    if python is None:
        yield Finding("error", str(place.folder), "does not say which Python to run", REINSTALL)
        return
    if (reason := not_to_be_run(python, own=not in_project(place.folder))) is not None:
        told = f"{reason}; it was not run to see whether it has hindnote"
        yield Finding("warning", python, told, REINSTALL)
        return
    yield running(python, *ISOLATED, "-c", "import hindnote")
    if (problem := unusable_python(python)) is not None:
        yield Finding("error", python, problem, REINSTALL)
    elif (going := vanishing(python)) is not None:
        yield Finding("warning", python, going, f"{LASTING}, and run its `{INSTALL}`")


def named_python(runtime: Path) -> str | None:
    """Return the Python that an installed plugin runs."""
    try:
        found = re.search(r"PYTHON = (['\"])(.+)\1", read_bounded(runtime).decode())
    except (OSError, ValueError):
        return None
    return found[2] if found else None


def _current(below: str, python: str | None) -> dict[str, bytes] | None:
    """Return the files that this hindnote would install; None if another Python installed them."""
    if python != sys.executable:
        return None
    return marketplace_files() if below else plugin_files()
