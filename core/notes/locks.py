"""The lock of a home of notes, across threads and processes, freed when its holder dies."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from hindnote.core.notes.files import ENTER
from hindnote.core.outcome import Refused, quote

STATE = ".hindnote"
"""Folder under the notes home for what is no note."""

WAIT_SECONDS = 10.0
POLL_SECONDS = 0.005
FILES = 64
"""Lock files at most; homes share them, so that sessions leave no litter."""

_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def state_folder(home: Path) -> Path:
    """Return the folder for what is no note, made if needed and hidden from Git.

    Raises:
        OSError: It cannot be made.
        Refused: ``outside_home`` when it is a link, ``io_error`` when it is no folder.
    """
    folder = _own_folder(home / STATE)
    if not os.path.lexists(folder / ".gitignore"):
        handle = os.open(folder, ENTER)
        try:
            with suppress(FileExistsError):
                made = os.open(".gitignore", _MAKE, 0o666, dir_fd=handle)
                with os.fdopen(made, "wb") as file:
                    file.write(b"*\n")
        finally:
            os.close(handle)
    return folder


def _own_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        if not folder.is_symlink():
            raise Refused(
                "io_error", f"{quote(str(folder))} is no folder; remove it and try again"
            ) from None
    if folder.is_symlink():
        raise Refused("outside_home", f"{folder} is a symbolic link; replace it by a folder")
    return folder


@contextmanager
def locked(home: Path, *folders: tuple[str, ...]) -> Iterator[None]:
    """Hold the locks of some homes of notes.

    A whole home is locked, not a note, since a new name must be compared with its
    siblings', and a rename touches two notes.

    Args:
        home: The notes home.
        folders: Segments of each home's folder under the notes home.

    Raises:
        Refused: ``locked``, after a bounded wait; ``io_error`` when a lock's file or the
            folder of the locks cannot be made or used; ``outside_home`` when that is a link.
    """
    from filelock import FileLock, Timeout

    try:
        locks = _own_folder(state_folder(home) / "locks")
    except OSError as error:
        # Before the caller reads it as news about the note.
        raise Refused(
            "io_error",
            f"the notes home {quote(str(home))} cannot be made or written "
            f"({error.strerror or error}); name another with HINDNOTE_HOME, or repair this one",
        ) from error
    # One order for all, so that two renames cannot wait for each other.
    names = sorted({_file_name(folder) for folder in folders})
    with ExitStack() as stack:
        for name in names:
            lock = FileLock(
                os.fspath(locks / name),
                timeout=WAIT_SECONDS,
                poll_interval=POLL_SECONDS,
                fallback_to_soft=False,
            )
            try:
                stack.enter_context(lock)
            except Timeout:
                raise Refused(
                    "locked",
                    f"another process has been writing notes of this home for {WAIT_SECONDS:g} "
                    "seconds; nothing was changed, try again",
                ) from None
            except OSError as error:
                raise _unusable(locks / name, error) from error
        yield


def _unusable(file: Path, error: OSError) -> Refused:
    """Return what to do about a lock; what is in its place may be another process's by now."""
    shown = quote(str(file))
    with suppress(OSError):
        if not stat.S_ISREG(file.lstat().st_mode):
            return Refused(
                "io_error",
                f"the lock {shown} is no regular file; nothing was changed, remove it and try again",
            )
    return Refused(
        "io_error",
        f"the lock {shown} cannot be had: {error.strerror or error}; nothing was changed, try again "
        "once that is repaired",
    )


def _file_name(folder: tuple[str, ...]) -> str:
    digest = hashlib.sha256("/".join(folder).encode()).digest()
    return f"{digest[0] % FILES:02d}.lock"
