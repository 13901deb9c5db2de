"""Run other programs to get their version, and to check whether a Python has hindnote.

Never runs a program inside the current project. Programs run in the root directory, so that no
file of the current directory can affect them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from hindnote.core.system.programs import in_project

PATIENCE = 30.0
"""Time limit in seconds for a program to answer."""

ISOLATED = ("-E", "-P")
"""Options for running any Python: ignore ``PYTHON*`` variables, and do not import modules from the
current directory."""

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_HAS_HINDNOTE = "import importlib.util as u, sys; sys.exit(u.find_spec('hindnote.hosts') is None)"


def told_version(program: str) -> tuple[str, str] | None:
    """Return the output and the error output of a program's ``--version``.

    Args:
        program: An absolute path.

    Returns:
        None when it cannot be run, or does not end in time.
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
    """Return why a check must not run a Python, as part of a message; None when it may.

    Args:
        python: Path of the Python in an installation.
        own: Whether it comes from the person's own configuration, not from a project.
    """
    if python == sys.executable:
        return None
    if not Path(python).is_absolute():
        return "is no absolute path"
    if in_project(python):
        return "lies in this project"
    return None if own else "was chosen by this project"


def unusable_python(python: str) -> str | None:
    """Return why a Python cannot run hindnote, as part of a message; None when it can.

    Args:
        python: An absolute path.
    """
    try:
        done = subprocess.run(
            # The same options as the hosts use, so that neither files of a project nor those on
            # PYTHONPATH can be imported.
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
    """Return the first version number in the output of ``told_version``; None without one."""
    found = next(filter(None, map(_VERSION.search, said or ())), None)
    return tuple(int(number) for number in found[0].split(".")) if found else None


def dotted(version: tuple[int, ...]) -> str:
    """Return a version in its usual notation."""
    return ".".join(map(str, version))
