"""Other programs on this machine: what they say of their version."""

from __future__ import annotations

import subprocess

PATIENCE = 30.0
"""Seconds for which a program may take to tell its version."""


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


def dotted(version: tuple[int, ...]) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))
