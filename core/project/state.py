"""Derived state under ``<workspace>/.hindnote/``, the root lock, and durable small files.

Everything here works through directory handles; nothing is written through a link.
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
"""How long one waits for readers of the todos root, and for another workspace over it."""

LITTER_SECONDS = 60.0
"""Age from which an unfinished file counts as that of a writer that was killed."""

OTHER = "other"
"""Stands for the content hash of something that is no regular file."""

NOT_A_FILE = frozenset({errno.ELOOP, errno.EINVAL, errno.EISDIR, errno.ENXIO})
"""Error numbers of opening a link, a folder, a pipe or a socket as a file."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def digest(content: bytes) -> str:
    """Return a content hash as the contract writes it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def open_state(workspace: Workspace) -> int:
    """Return a handle of the state folder, made with its ``.gitignore`` when missing.

    Raises:
        Declined: ``unsafe_state`` when it is a link or no folder.
    """
    return open_state_of(workspace.handle)


def open_state_of(folder: int) -> int:
    """Return a handle of the state folder in an open folder, made when it is missing.

    Raises:
        Declined: ``unsafe_state`` when it is a link or no folder.
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
    """Hold a folder inside the state folder open, made when missing.

    Raises:
        Declined: ``unsafe_state`` when it is a link or no folder.
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
    """Hold the workspace's one todo lock. It is freed when its holder dies.

    Raises:
        Declined: ``locked`` when another mutation holds it too long;
            ``unsafe_state`` when the lock is no regular file.
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
    """Hold the lock of an open folder; the context tells whether it was had in time.

    It keeps readers out of the middle of a transition, and apart two workspaces
    that share one todos root.
    """
    held = lock_folder(folder, exclusive=exclusive, seconds=seconds)
    try:
        yield held
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_UN)


@contextmanager
def changing_folder(folder: int) -> Iterator[None]:
    """Hold the exclusive lock of an open folder whose files are to change.

    Raises:
        Declined: ``locked`` when others hold it for too long.
    """
    with folder_lock(folder, exclusive=True, seconds=FOLDER_LOCK_SECONDS) as held:
        if not held:
            raise Declined(
                "locked", "another workspace is busy in the same todos root; try again later"
            )
        yield


def lock_folder(folder: int, *, exclusive: bool, seconds: float) -> bool:
    """Lock an open folder itself, writing nothing; return False when others hold it for too long.

    The lock ends when the handle is closed. A file system that cannot lock is passed over.
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
    """Return the bytes of a regular file; None when there is nothing of that name.

    Raises:
        OSError: It is a link (``ELOOP``), no regular file (``EINVAL``) or unreadable.
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
    """Return the content hash of a file, None when it is observed absent."""
    content = read_regular(folder, name)
    return None if content is None else digest(content)


def seen(folder: int, name: str) -> str | None:
    """Return what is at a name: a content hash, None for nothing, ``OTHER`` for no regular file."""
    try:
        return hash_of(folder, name)
    except OSError as error:
        if error.errno in NOT_A_FILE:
            return OTHER
        raise


def write_new(folder: int, name: str, content: bytes, mode: int = 0o666) -> None:
    """Write a file that must not exist yet, and make it durable.

    Raises:
        FileExistsError: The name is taken.
        OSError: It could not be written; what was written of it is gone again.
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
    """Write a file of ours atomically and make it durable."""
    temporary = f"{name}.tmp"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=folder)
    write_new(folder, temporary, content)
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def remove(folder: int, name: str) -> None:
    """Remove a file of ours durably; one that is gone already is fine."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
        os.fsync(folder)
