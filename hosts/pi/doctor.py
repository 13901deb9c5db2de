"""Check hindnote in Pi, without changing anything."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from hindnote.core.doctor import Finding
from hindnote.core.doctor.findings import running
from hindnote.core.doctor.folder import examine_folder, examine_foreign
from hindnote.core.fs.bounded import read_bounded
from hindnote.core.install.lasting import LASTING, vanishing
from hindnote.core.install.managed_folder import ManagedFolder, NotOurs
from hindnote.core.install.programs import (
    ISOLATED,
    dotted,
    not_to_be_run,
    told_version,
    unusable_python,
    version_in,
)
from hindnote.core.system.programs import in_project, outside_project
from hindnote.core.tools.registry import NAMES
from hindnote.hosts.pi.install import PI, TESTED, pi_version, place
from hindnote.hosts.pi.paths import (
    FILES,
    PYTHON_VARIABLE,
    Interpreter,
    Scope,
    interpreter,
    scopes,
    shipped,
)

NODE = (22, 19)
"""The minimum version of Node.js that Pi needs."""


def checks() -> Iterator[Finding]:
    """Yield the findings about programs, installations, and conflicting tool names."""
    yield from _programs()
    places = scopes()
    copies = [scope.extension for scope in places if _is_installed(place(scope))]
    referenced = [folder for scope in places for folder in scope.referenced()]
    found = [
        finding
        for scope in places
        for findings in (_installation(scope), _references(scope))
        for finding in findings
    ]
    yield from found
    if not found:
        yield Finding("ok", "Pi extension", "is not installed", "`hindnote install pi` installs it")
    if len(copies) + len(referenced) > 1:
        where = ", ".join(str(folder) for folder in (*copies, *referenced))
        yield Finding(
            "error",
            "Pi extension",
            f"Pi loads it more than once: {where}; the tools of all but the first are left out",
            "keep one: `hindnote uninstall pi [--project]`, or `pi remove FOLDER`",
        )
    yield from _clashes(places)


def _programs() -> Iterator[Finding]:
    pi, node = outside_project("pi"), outside_project("node")
    if pi is None:
        yield _not_found("pi")
        return
    if node is None:
        yield Finding("error", "node", "cannot be run", f"Pi needs Node.js {dotted(NODE)} or newer")
    else:
        yield running(node, "--version")
        yield _node(version_in(told_version(node)))
    yield running(pi, "--version")
    release = pi_version(pi)
    if release is None:
        yield Finding("error", "pi", f"{pi} does not tell its version", "try `pi --version`")
    elif release[:2] < PI:
        told = f"is {dotted(release)}"
        yield Finding("error", "pi", told, f"update it to {dotted(PI)} or newer")
    elif release[:2] > TESTED:
        tested = f"is {dotted(release)}; this hindnote was tested up to {dotted(TESTED)}"
        yield Finding("warning", "pi", tested)
    else:
        yield Finding("ok", "pi", dotted(release))


def _not_found(name: str) -> Finding:
    if shutil.which(name) is None:
        return Finding("ok", name, "is not on the PATH; nothing to check")
    told = "is on the PATH in this project alone, or in a relative folder of it, and is not run"
    return Finding("warning", name, told, "run `hindnote doctor` outside of the project")


def _node(version: tuple[int, ...] | None) -> Finding:
    needed = f"Pi needs Node.js {dotted(NODE)} or newer"
    if version is None:
        return Finding("error", "node", "cannot be run", needed)
    if version[:2] < NODE:
        return Finding("error", "node", f"is {dotted(version)}", needed)
    return Finding("ok", "node", dotted(version))


def _is_installed(there: ManagedFolder) -> bool:
    try:
        return there.written() is not None
    except NotOurs:
        return False


def _installation(scope: Scope) -> Iterator[Finding]:
    there, subject = place(scope), str(scope.extension)
    command = "hindnote install pi" + (" --project" if scope.name == "project" else "")
    try:
        record, taken = there.written(), there.is_taken()
    except NotOurs as damaged:
        yield Finding("error", subject, str(damaged), f"run `{command}` again")
        return
    if taken:
        yield examine_foreign(there, command)
    if record is None:
        return
    named = interpreter(scope.extension)
    found = [
        *_unusable(scope, scope.extension, named, f"run `{command}` again"),
        *examine_folder(there, shipped(), command),
    ]
    yield from found
    if all(finding.level == "ok" for finding in found):
        yield Finding("ok", subject, f"is current, and runs {named.python}")


def _references(scope: Scope) -> Iterator[Finding]:
    """Check the extensions that Pi loads from folders named in its settings."""
    for folder in scope.referenced():
        subject, told = str(folder), f"is what Pi's {scope.name} settings load"
        named = interpreter(folder)
        instead = f"`pi remove {folder}`, then `hindnote install pi`"
        either = f"set {PYTHON_VARIABLE} to {sys.executable}, or {instead}"
        usable = True
        for finding in _unusable(scope, folder, named, either):
            usable = usable and finding.level == "ok"
            yield finding
        if not ManagedFolder(folder, FILES).holds(shipped()):
            yield Finding("error", subject, f"{told}, and is of another hindnote", instead)
        elif usable:
            yield Finding("ok", subject, f"{told}, is current, and runs {named.python}")


def _unusable(scope: Scope, folder: Path, named: Interpreter, advice: str) -> Iterator[Finding]:
    """Check whether the interpreter that an extension runs has hindnote.

    An interpreter that a project chose is reported but never run.
    """
    subject, runs = str(folder), f"runs {named.python}"
    if named.by == "variable":
        subject, runs = PYTHON_VARIABLE, f"names {named.python}"
        advice = f"set it to {sys.executable}, or not at all"
    elif named.python == "python3":
        yield Finding("error", subject, "runs the python3 of the PATH, where there is none", advice)
        return
    own = named.by != "manifest" or not (scope.top or in_project(folder))
    if (reason := not_to_be_run(named.python, own=own)) is not None:
        told = f"{runs}, which {reason}; it was not run to see whether it has hindnote"
        yield Finding("warning", subject, told, advice)
        return
    yield running(named.python, *ISOLATED, "-c", "import hindnote")
    if (problem := unusable_python(named.python)) is not None:
        yield Finding("error", subject, f"{runs}, which {problem}", advice)
    elif (going := vanishing(named.python)) is not None:
        yield Finding("warning", subject, f"{runs}, which {going}", f"{LASTING}, then {advice}")


def _clashes(places: tuple[Scope, ...]) -> Iterator[Finding]:
    """Check for other extensions that may offer tools with our names."""
    names = re.compile(f"[\"'`]({'|'.join(NAMES)}|get_context_remaining)[\"'`]")
    for scope in places:
        for path in _others(scope):
            try:
                taken = sorted(set(names.findall(read_bounded(path).decode("utf-8", "replace"))))
            except OSError:
                continue
            if taken:
                told = f"may offer tools of the same names: {', '.join(taken)}"
                advice = (
                    "where both are loaded, hindnote leaves its own out; /hindnote in Pi says so"
                )
                yield Finding("warning", str(path), told, advice)


def _others(scope: Scope) -> Iterator[Path]:
    """Yield the main files of the other extensions in a scope, in the way that Pi finds them."""
    folder = scope.folder / "extensions"
    patterns = ("*.ts", "*.js", "*/*.ts", "*/*.js")
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        if path.parent != scope.extension:
            yield path
