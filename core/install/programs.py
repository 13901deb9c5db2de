"""Other programs on this machine: what they say of their version, and whether they have hindnote.

Nothing here runs a program that a project brought along. Programs run in the root directory, so
that no file of the current one has a part in what they do.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from hindnote.core.system.programs import in_project

PATIENCE = 30.0
"""Seconds that a program may take for its answer."""

ISOLATED = ("-E", "-P")
"""Options with which every Python is started: no ``PYTHON*`` variable counts, and the current
directory holds no modules."""

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_HAS_HINDNOTE = "import importlib.util as u, sys; sys.exit(u.find_spec('hindnote.hosts') is None)"


def told_version(program: str) -> tuple[str, str] | None:
    """Return what a program prints for ``--version``, its output and its errors.

    Args:
        program: An absolute path.

    Returns:
        None when it cannot be run, or does not end.
    """
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            cwd="/",
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout, done.stderr


def not_to_be_run(python: str, *, own: bool) -> str | None:
    """Return why a look does not run a Python, as what is said of it; None when it may.

    Args:
        python: What an installation names.
        own: Whether the person's own configuration or environment names it, and no project's.
    """
    if python == sys.executable:
        return None
    if not Path(python).is_absolute():
        return "is no absolute path"
    if in_project(python):
        return "lies in this project"
    return None if own else "was chosen by this project"


def unusable_python(python: str) -> str | None:
    """Return why a Python cannot run hindnote, as what is said of it; None when it can.

    Args:
        python: An absolute path.
    """
    try:
        done = subprocess.run(
            # As the hosts run it: neither a project's own files nor those that PYTHONPATH
            # names are modules then.
            [python, *ISOLATED, "-c", _HAS_HINDNOTE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run: {error}"
    return "has no hindnote" if done.returncode != 0 else None


def version_in(said: tuple[str, str] | None) -> tuple[int, ...] | None:
    """Return the first version number in what ``told_version`` returned; None without one."""
    found = next(filter(None, map(_VERSION.search, said or ())), None)
    return tuple(int(number) for number in found[0].split(".")) if found else None


def dotted(version: tuple[int, ...]) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))
