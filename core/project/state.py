"""Derived state in ``<workspace>/.hindnote/``, the root lock, and durable small files.

All functions work through directory handles; nothing is written through a link.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hindnote.core.fs import state as fs_state
from hindnote.core.fs.handles import NotRegularError
from hindnote.core.fs.locks import HeldError, acquire, locked_file
from hindnote.core.project.outcome import Declined
from hindnote.core.project.workspace import STATE_DIRECTORY, Workspace

if TYPE_CHECKING:
    from hindnote.core.project.effects import EffectLog

LOCK_NAME = "todo.lock"
LOCK_SECONDS = 15.0
"""How long a mutation waits for another one."""

FOLDER_LOCK_SECONDS = 5.0
"""How long a mutation waits for readers of the todos root, and for another workspace using it."""

LITTER_SECONDS = 60.0
"""Age in seconds from which an unfinished file belongs to a killed writer."""

OTHER = "other"
"""Used in place of a content hash for anything that is not a regular file."""

NOT_A_FILE = frozenset({errno.ELOOP, errno.EINVAL, errno.EISDIR, errno.ENXIO})
"""Error numbers for opening a link, a folder, a pipe or a socket as a file."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def digest(content: bytes) -> str:
    """Return a content hash in the contract's form."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def open_state(workspace: Workspace) -> int:
    """Return a handle of the state folder, creating it with its ``.gitignore`` when missing.

    Raises:
        Declined: ``unsafe_state`` when it is a link or a file.
    """
    return open_state_of(workspace.handle)


def open_state_of(folder: int) -> int:
    """Return a handle of the state folder inside an open folder, creating it when missing.

    Raises:
        Declined: ``unsafe_state`` when it is a link or a file.
    """
    try:
        return fs_state.open_state(folder)
    except fs_state.NoFolderError as error:
        raise Declined(
            "unsafe_state",
            f"{STATE_DIRECTORY} is a link or no folder; remove it",
            path=STATE_DIRECTORY,
        ) from error


@contextmanager
def state_folder(state: int, name: str) -> Iterator[int]:
    """Open a folder inside the state folder for the context, creating it when missing.

    Raises:
        Declined: ``unsafe_state`` when it is a link or a file.
    """
    try:
        handle = fs_state.open_own(state, name)
    except fs_state.NoFolderError as error:
        raise Declined(
            "unsafe_state",
            f"{STATE_DIRECTORY}/{name} is a link or no folder; remove it",
            path=f"{STATE_DIRECTORY}/{name}",
        ) from error
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def root_lock(state: int, effects: EffectLog) -> Iterator[None]:
    """Lock the workspace's todos. The system releases the lock when its holder dies.

    Raises:
        Declined: ``locked`` when the lock is not free in time; ``unsafe_state`` when the lock file
            is not a regular file.
    """
    shown = f"{STATE_DIRECTORY}/{LOCK_NAME}"
    effects.may_touch_cache()
    lock = locked_file(state, LOCK_NAME, seconds=LOCK_SECONDS)
    try:
        lock.__enter__()
    except NotRegularError:
        raise Declined(
            "unsafe_state", f"{shown} is no regular file; remove it", path=shown
        ) from None
    except HeldError:
        raise Declined(
            "locked",
            f"another change of todos holds the lock for over {LOCK_SECONDS:.0f} seconds; "
            "nothing was done, try again later",
            path=shown,
        ) from None
    try:
        effects.touched_cache()
        yield
    finally:
        lock.__exit__(None, None, None)


@contextmanager
def folder_lock(folder: int, *, exclusive: bool, seconds: float) -> Iterator[bool]:
    """Lock an open folder; the context tells whether the lock was obtained in time.

    It prevents reading during a transition, and simultaneous changes by two workspaces that share
    one todos root.
    """
    held = lock_folder(folder, exclusive=exclusive, seconds=seconds)
    try:
        yield held
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_UN)


@contextmanager
def changing_folder(folder: int) -> Iterator[None]:
    """Lock an open folder exclusively, to change its files.

    Raises:
        Declined: ``locked`` when the lock is not free in time.
    """
    with folder_lock(folder, exclusive=True, seconds=FOLDER_LOCK_SECONDS) as held:
        if not held:
            raise Declined(
                "locked", "another workspace is busy in the same todos root; try again later"
            )
        yield


def lock_folder(folder: int, *, exclusive: bool, seconds: float) -> bool:
    """Lock an open folder without writing anything; return False when that fails in time.

    The lock ends when the handle is closed. On a file system without locks this does nothing.
    """
    try:
        acquire(folder, seconds=seconds, shared=not exclusive)
    except HeldError:
        return False
    except OSError:
        return True
    return True


# -- files through handles ----------------------------------------------------------


def read_regular(folder: int, name: str) -> bytes | None:
    """Return the content of a regular file; None when the name does not exist.

    Raises:
        OSError: It is a link (``ELOOP``), not a regular file (``EINVAL``) or unreadable.
    """
    try:
        handle = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        return file.read()


def hash_of(folder: int, name: str) -> str | None:
    """Return the content hash of a file; None when it does not exist."""
    content = read_regular(folder, name)
    return None if content is None else digest(content)


def seen(folder: int, name: str) -> str | None:
    """Return a name's content hash; None when it does not exist, ``OTHER`` for non-files."""
    try:
        return hash_of(folder, name)
    except OSError as error:
        if error.errno in NOT_A_FILE:
            return OTHER
        raise


def write_new(folder: int, name: str, content: bytes, mode: int = 0o666) -> None:
    """Write a file that must not exist yet, durably.

    Raises:
        FileExistsError: The name is taken.
        OSError: It cannot be written; no part of it remains.
    """
    handle = os.open(name, _CREATE, mode, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    os.fsync(folder)


def replace(folder: int, name: str, content: bytes) -> None:
    """Write one of our files atomically and durably."""
    temporary = f"{name}.tmp"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=folder)
    write_new(folder, temporary, content)
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def remove(folder: int, name: str) -> None:
    """Remove one of our files durably; does nothing when it does not exist."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
        os.fsync(folder)
