"""What may be wrong between hindnote and Pi, found by looking alone."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from hindnote.core.doctor import Finding
from hindnote.core.install.placing import FOREIGN, NotOurs, Place
from hindnote.core.install.programs import dotted, told_version, unusable_python
from hindnote.core.install.record import Record
from hindnote.core.registry import NAMES
from hindnote.hosts.pi.install import PI, place
from hindnote.hosts.pi.places import FILES, PYTHON_VARIABLE, Scope, interpreter, scopes, shipped

NODE = (22, 19)
"""Pi needs this Node.js, or a newer one."""

_VERSION = re.compile(r"\d+(?:\.\d+)+")


def checks() -> Iterator[Finding]:
    """Yield what was found: programs, installations, names of tools that are taken."""
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
    pi = shutil.which("pi")
    if pi is None:
        yield Finding("ok", "pi", "is not on the PATH; nothing to check")
        return
    node = _version_of("node")
    if node is None:
        yield Finding("error", "node", "cannot be run", f"Pi needs Node.js {dotted(NODE)} or newer")
    elif node[:2] < NODE:
        found = f"is {dotted(node)}"
        yield Finding("error", "node", found, f"Pi needs Node.js {dotted(NODE)} or newer")
    else:
        yield Finding("ok", "node", dotted(node))
    release = _version_of("pi")
    if release is None:
        yield Finding("error", "pi", f"{pi} does not tell its version", "try `pi --version`")
    elif release[:2] < PI:
        told = f"is {dotted(release)}"
        yield Finding("error", "pi", told, f"update it to {dotted(PI)} or newer")
    elif release[:2] > PI:
        tested = f"is {dotted(release)}; this hindnote was tested with {dotted(PI)}"
        yield Finding("warning", "pi", tested)
    else:
        yield Finding("ok", "pi", dotted(release))


def _version_of(program: str) -> tuple[int, ...] | None:
    said = told_version(program) or ()
    found = next(filter(None, map(_VERSION.search, said)), None)
    return tuple(int(number) for number in found[0].split(".")) if found else None


def _is_installed(there: Place) -> bool:
    try:
        return there.written() is not None
    except NotOurs:
        return False


def _installation(scope: Scope) -> Iterator[Finding]:
    there, subject = place(scope), str(scope.extension)
    flag = " --project" if scope.name == "project" else ""
    try:
        record, taken = there.written(), there.is_taken()
    except NotOurs as damaged:
        yield Finding("error", subject, str(damaged))
        return
    if taken:
        told = f"{FOREIGN}; Pi may load it"
        advice = f"move it away; `hindnote install pi{flag}` installs hindnote's"
        yield Finding("error", subject, told, advice)
    if record is None:
        return
    again = f"run `hindnote install pi{flag}` again"
    python = interpreter(scope.extension)
    yield from _unusable(scope.extension, python, again)
    yield from _files(there, record, python, again)


def _references(scope: Scope) -> Iterator[Finding]:
    """Look at the extensions that Pi loads where they lie."""
    for folder in scope.referenced():
        subject, told = str(folder), f"is what Pi's {scope.name} settings load"
        python = interpreter(folder)
        instead = f"`pi remove {folder}`, then `hindnote install pi`"
        either = f"set {PYTHON_VARIABLE} to {sys.executable}, or {instead}"
        unusable = list(_unusable(folder, python, either))
        yield from unusable
        if not Place(folder, FILES).holds(shipped()):
            yield Finding("error", subject, f"{told}, and is of another hindnote", instead)
        elif not unusable:
            found = shutil.which(python) or python
            yield Finding("ok", subject, f"{told}, is current, and runs {found}")


def _unusable(folder: Path, python: str, advice: str) -> Iterator[Finding]:
    """Look whether the interpreter that an extension runs has hindnote."""
    problem = unusable_python(python)
    if problem is None:
        return
    if os.environ.get(PYTHON_VARIABLE):
        again = f"set it to {sys.executable}, or not at all"
        yield Finding("error", PYTHON_VARIABLE, f"names {python}, which {problem}", again)
    else:
        found = shutil.which(python) or f"the {python} of the PATH"
        yield Finding("error", str(folder), f"runs {found}, which {problem}", advice)


def _files(there: Place, record: Record, python: str, again: str) -> Iterator[Finding]:
    changed = there.changed()
    missing = [path.name for path in changed if not path.exists()]
    edited = [path.name for path in changed if path.exists()]
    subject = str(there.folder)
    if missing:
        yield Finding("error", subject, f"lacks {', '.join(missing)}", again)
    if edited:
        yield Finding(
            "warning",
            subject,
            f"was changed by hand: {', '.join(edited)}",
            "keep it, or move it away and " + again,
        )
    if not changed and not there.holds(shipped()):
        told = f"is of hindnote {record.facts.get('version')}, this is {version('hindnote')}"
        yield Finding("error", subject, told, again)
    elif not changed:
        yield Finding("ok", subject, f"is current, and runs {python}")


def _clashes(places: tuple[Scope, ...]) -> Iterator[Finding]:
    """Look for other extensions that may offer tools of our names."""
    names = re.compile(f"[\"'`]({'|'.join(NAMES)}|get_context_remaining)[\"'`]")
    for scope in places:
        for path in _others(scope):
            try:
                taken = sorted(set(names.findall(path.read_text("utf-8", "replace"))))
            except OSError:
                continue
            if taken:
                told = f"may offer tools of the same names: {', '.join(taken)}"
                advice = (
                    "where both are loaded, hindnote leaves its own out; /hindnote in Pi says so"
                )
                yield Finding("warning", str(path), told, advice)


def _others(scope: Scope) -> Iterator[Path]:
    """Yield the entry files of the other extensions in a place, as Pi finds them."""
    folder = scope.folder / "extensions"
    patterns = ("*.ts", "*.js", "*/*.ts", "*/*.js")
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        if path.parent != scope.extension:
            yield path
