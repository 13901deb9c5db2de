"""Other programs on this machine: what they say of their version, and whether they have hindnote."""

from __future__ import annotations

import subprocess

PATIENCE = 30.0
"""Seconds that a program may take for its answer."""

_HAS_HINDNOTE = "import importlib.util as u, sys; sys.exit(u.find_spec('hindnote.hosts') is None)"


def told_version(program: str) -> tuple[str, str] | None:
    """Return what a program prints for ``--version``, its output and its errors.

    Args:
        program: A path, or a name to be found on the PATH.

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
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout, done.stderr


def unusable_python(python: str) -> str | None:
    """Return why a Python cannot run hindnote, as what is said of it; None when it can.

    Args:
        python: A path, or a name to be found on the PATH.
    """
    try:
        done = subprocess.run(
            # -P as the hosts run it: a project's own files are no modules then.
            [python, "-P", "-c", _HAS_HINDNOTE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run: {error}"
    return "has no hindnote" if done.returncode != 0 else None


def dotted(version: tuple[int, ...]) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))
