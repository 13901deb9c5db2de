"""The function that resolves the working directory of a call.

Only the core resolves it: plugins are not asked, and loading refuses one that offers its own.
Everything that depends on a call's directory (``@project``, globs, receipts, the owner of a new
session note) uses the bound call, for which this function ran once.
"""

from __future__ import annotations

from pathlib import Path

from hindnote.core.errors import Refused
from hindnote.core.text.messages import quote


def resolve_cwd(base: Path, cwd: str | None) -> Path:
    """Return the working directory of one call.

    Args:
        base: The host's base directory, absolute; returned without ``cwd``, even if it does not
            exist.
        cwd: The call's own ``cwd``: absolute, relative to ``base``, or ``None``.

    Raises:
        Refused: ``invalid_cwd`` when ``cwd`` is not an existing directory.
    """
    if cwd is None:
        return base
    advice = "give an existing directory, absolute or relative to the session's, or leave cwd out"
    if not cwd:
        raise Refused("invalid_cwd", f"cwd is empty; {advice}")
    try:
        path = base / cwd
        if not path.is_dir():
            found = "is not a directory" if path.exists() else "does not exist"
            raise Refused("invalid_cwd", f"cwd {quote(cwd)} {found}; {advice}")
        return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise Refused(
            "invalid_cwd", f"cwd {quote(cwd)} cannot be used ({_reason(error)}); {advice}"
        ) from error


def no_project(otherwise: str) -> Refused:
    """Return the refusal of a call that needs a project when the session's directory was deleted.

    Args:
        otherwise: What the caller can do instead.
    """
    return Refused(
        "invalid_cwd", f"the session's directory does not exist, so it has no project; {otherwise}"
    )


def _reason(error: Exception) -> str:
    """Return the reason without the path, which may be longer than a message."""
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__
