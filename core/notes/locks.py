"""Locks for homes of notes, across threads and processes; the system frees them on exit."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hindnote.core.errors import Refused
from hindnote.core.fs import handles
from hindnote.core.fs.locks import HeldError, locked_file
from hindnote.core.fs.state import STATE, NoFolderError, open_own, open_state
from hindnote.core.text.messages import quote

WAIT_SECONDS = 10.0
FILES = 64
"""Maximum number of lock files; homes share them, so they do not accumulate."""

_FOLDER = "locks"


@contextmanager
def locked(home: Path, *folders: tuple[str, ...]) -> Iterator[None]:
    """Lock some homes of notes for the duration of the context.

    The lock covers a whole home instead of a note, since a new name must be compared with its
    siblings, and a rename changes two notes.

    Args:
        home: The notes home; created when missing.
        folders: Path segments of each home's folder under the notes home.

    Raises:
        Refused: ``locked``, when the lock was not free in time; ``io_error`` when a lock file or
            the locks folder cannot be created or used; ``outside_home`` when that folder is a
            link.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(handles.closing(_open_locks(home)))
        # Always in the same order, so that two renames cannot deadlock.
        for name in sorted({_file_name(segments) for segments in folders}):
            try:
                stack.enter_context(locked_file(folder, name, seconds=WAIT_SECONDS))
            except HeldError:
                raise Refused(
                    "locked",
                    f"another process has been writing notes of this home for {WAIT_SECONDS:g} "
                    "seconds; nothing was changed, try again",
                ) from None
            except OSError as error:
                raise _unusable(home / STATE / _FOLDER / name, error) from error
        yield


def _open_locks(home: Path) -> int:
    """Return a handle of the folder that contains the lock files.

    Raises:
        Refused: ``outside_home``, ``io_error``.
    """
    path = home / STATE
    try:
        handles.make_private(home)
        with (
            handles.closing(handles.open_root(home)) as root,
            handles.closing(open_state(root)) as state,
        ):
            path /= _FOLDER
            return open_own(state, _FOLDER)
    except NoFolderError as error:
        if error.is_link:
            raise Refused(
                "outside_home", f"{quote(str(path))} is a symbolic link; replace it by a folder"
            ) from error
        raise Refused(
            "io_error", f"{quote(str(path))} is not a folder; remove it and try again"
        ) from error
    except OSError as error:
        raise Refused(
            "io_error",
            f"the notes home {quote(str(home))} cannot be made or written "
            f"({error.strerror or error}); name another with HINDNOTE_HOME, or repair this one",
        ) from error


def _unusable(file: Path, error: OSError) -> Refused:
    shown = quote(os.fspath(file))
    if isinstance(error, handles.NotRegularError):
        return Refused(
            "io_error",
            f"the lock {shown} is not a regular file; nothing was changed, remove it and try again",
        )
    return Refused(
        "io_error",
        f"the lock {shown} cannot be had: {error.strerror or error}; nothing was changed, try again "
        "once that is repaired",
    )


def _file_name(folder: tuple[str, ...]) -> str:
    digest = hashlib.sha256("/".join(folder).encode()).digest()
    return f"{digest[0] % FILES:02d}.lock"
