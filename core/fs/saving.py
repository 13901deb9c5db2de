"""Replacing a file that people edit with programs of their own, and losing nothing they save.

A file is read, changed and written back. Somebody may save it in between, up to the very last
moment, and a rename would overwrite that. So the new file and the old one change names in one
step (``exchange``). Then what came out is looked at: is it not what was read, or is a program
still writing to it, then both change names once more and nothing was done.

The name under which the old file comes out says which bytes were read and which were to be
written. A process that is killed in between leaves it, and ``recover`` tells by it whether the
file holds something that nobody has read yet.

Where the file system has no such exchange, the file is looked at immediately before the rename.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import signal
import stat
import time
from contextlib import suppress
from typing import NamedTuple

from hindnote.core.fs import atomic, exchange
from hindnote.core.fs.handles import (
    NotRegularError,
    closing,
    look,
    names_in,
    open_file,
    read_all,
    remove,
    sync,
)
from hindnote.core.fs.stamps import stamp_of

_DIGITS = 16
_DISPLACED = re.compile(
    rf"\.([0-9a-f]{{{_DIGITS}}})-([0-9a-f]{{{_DIGITS}}})-([0-9a-f]{{{_DIGITS}}})"
    + re.escape(atomic.TEMPORARY_SUFFIX)
)
_ROUNDS = 100
"""Saves of others, one directly after the other, after which giving a name back is left to
``recover``."""

_COMPARED_BYTES = 64 * 1024 * 1024
"""Size from which a file is told from another one by its inode alone."""

_NAME_BYTES = 200
"""Bytes of a name that the name of a recovered file repeats, at most."""

_PATIENCE_SECONDS = 0.05
"""How long a file of ours may be open for writing: another thread that starts a program
inherits the handle to it for a moment."""


class ChangedError(Exception):
    """Somebody else changed the file after it was read; nothing was written."""


class Version(NamedTuple):
    """One state of a file."""

    status: os.stat_result
    data: bytes | None
    """None for what is no regular file, or too large to be compared."""


def save(folder: int, name: str, data: bytes, before: Version, *, mtime_ns: int) -> None:
    """Replace a file, atomically and durably, if it is still as it was read.

    Its permission bits stay, and its owner when we are root. The caller keeps other writers of
    ours out, and has called ``recover``.

    Args:
        folder: Handle of the folder.
        name: The file's name.
        data: All of the new file.
        before: The file as it was read.
        mtime_ns: Modification time of the new file.

    Raises:
        ChangedError: It is not as it was read.
        OSError: It cannot be written; the old file is whole.
    """
    status = before.status
    # Only root may give a file away; for others an owner stays when it is themselves.
    owner = {"owner": status.st_uid, "group": status.st_gid} if os.geteuid() == 0 else {}
    with atomic.temporary(folder, data, mode=status.st_mode, mtime_ns=mtime_ns, **owner) as made:
        new = Version(os.stat(made, dir_fd=folder, follow_symlinks=False), data)
        _check(folder, name, status)
        displaced = _displaced_name(name, before.data or b"", data)
        os.rename(made, displaced, src_dir_fd=folder, dst_dir_fd=folder)
        try:
            atomic.settle(lambda: exchange.exchange(folder, displaced, name))
        except exchange.UnsupportedError:
            _replace(folder, displaced, name, status)
        except FileNotFoundError:
            remove(folder, displaced)
            raise ChangedError from None
        except OSError:
            remove(folder, displaced)
            raise
        else:
            _judge(folder, displaced, name, new, before)
    sync(folder)


def move(folder: int, name: str, new_folder: int, new_name: str, before: Version) -> None:
    """Rename a file to a name that must be free, if it is still as it was read.

    Raises:
        ChangedError: It is not as it was read.
        FileExistsError: The new name is taken.
        OSError: It cannot be renamed; ``EXDEV`` when the folders lie on different file systems.
    """
    _check(folder, name, before.status)
    try:
        atomic.settle(lambda: exchange.move(folder, name, new_folder, new_name))
    except exchange.UnsupportedError:
        # Killed in between, both are names of one file, and the next rename removes the old one.
        os.link(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)
        now = look(folder, name)
        if now is None or not os.path.samestat(now, before.status):
            os.unlink(new_name, dir_fd=new_folder)
            raise ChangedError from None
        os.unlink(name, dir_fd=folder)
    if not _holds(new_folder, new_name, before):
        with suppress(exchange.UnsupportedError, FileExistsError, FileNotFoundError):
            exchange.move(new_folder, new_name, folder, name)
            raise ChangedError
        # The old name was taken again, or it cannot be given back: each save is a file.
    sync(new_folder)
    sync(folder)


def take_away(folder: int, name: str, before: Version) -> None:
    """Remove a file that is still as it was read.

    Raises:
        ChangedError: It is not.
        OSError: It cannot be removed.
    """
    _check(folder, name, before.status)
    aside = _displaced_name(name, before.data or b"", before.data or b"")
    try:
        exchange.move(folder, name, folder, aside)
    except exchange.UnsupportedError:
        os.unlink(name, dir_fd=folder)
    else:
        # Somebody may have saved it since the look; then it gets its name back.
        if not _holds(folder, aside, before):
            with suppress(FileExistsError):
                exchange.move(folder, aside, folder, name)
            raise ChangedError
        remove(folder, aside)
    sync(folder)


def recover(folder: int) -> None:
    """Clean up after writers that were killed. The caller keeps other writers of ours out.

    What somebody saved and a killed writer had displaced gets its name back. When that holds
    something else by now, it becomes a file beside it, ``plan.recovered-1a2b3c4d.md``.

    Raises:
        OSError: The folder cannot be listed, or a file not be renamed or removed.
    """
    names = names_in(folder)
    for displaced in names:
        if found := _DISPLACED.fullmatch(displaced):
            target, read, written = found.groups()
            name = next((each for each in names if _digest(os.fsencode(each)) == target), None)
            _recover(folder, displaced, name, read, written)
    if any(each.endswith(atomic.TEMPORARY_SUFFIX) for each in names):
        atomic.sweep(folder)
        sync(folder)


# -- one exchange ------------------------------------------------------------------


def _judge(folder: int, displaced: str, name: str, new: Version, before: Version) -> None:
    """Look at what an exchange brought out: remove it, or give it its name back."""
    if _holds(folder, displaced, before, patience=0.0):
        remove(folder, displaced)
        return
    _give_back(folder, displaced, name, new)
    raise ChangedError


def _give_back(folder: int, displaced: str, name: str, inside: Version | None) -> None:
    """Let a displaced file have its name again, unless a newer one has it by now.

    Each exchange must bring out what the one before it put in. Whatever else comes out was
    saved in between, so it is newer than what went in, and goes in next.

    Args:
        folder: Handle of the folder.
        displaced: The name under which it lies.
        name: Its own name.
        inside: What has that name, as far as we know.
    """
    for _ in range(_ROUNDS):
        going_in = _version(folder, displaced)
        try:
            exchange.exchange(folder, displaced, name)
        except FileNotFoundError:
            # Somebody removed the file meanwhile. Is that half of a save, the other half wins.
            with suppress(FileExistsError):
                exchange.move(folder, displaced, folder, name)
                return
            continue
        if inside is not None and _holds(folder, displaced, inside):
            remove(folder, displaced)
            return
        inside = going_in


def _replace(folder: int, made: str, name: str, status: os.stat_result) -> None:
    """Rename without an exchange, directly after a last look."""
    try:
        _check(folder, name, status)
        atomic.settle(lambda: os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder))
    except BaseException:
        remove(folder, made)
        raise


def _check(folder: int, name: str, status: os.stat_result) -> None:
    now = look(folder, name)
    if now is None or stamp_of(now) != stamp_of(status):
        raise ChangedError


# -- states of a file --------------------------------------------------------------


def _version(folder: int, name: str) -> Version | None:
    """Return what has a name; None when nothing has."""
    try:
        handle, status = open_file(folder, name)
    except FileNotFoundError:
        return None
    except NotRegularError:
        found = look(folder, name)
        return None if found is None else Version(found, None)
    with closing(handle):
        large = status.st_size > _COMPARED_BYTES
        return Version(status, None if large else read_all(handle, status.st_size))


def _holds(folder: int, name: str, version: Version, patience: float = _PATIENCE_SECONDS) -> bool:
    """Return whether a name belongs to a file in exactly this state, and nobody writes to it.

    Neither times nor sizes are compared: a program may write twice within one tick of the
    file system's clock, and a rename changes the change time.
    """
    try:
        handle, status = open_file(folder, name)
    except (FileNotFoundError, NotRegularError):
        found = look(folder, name)
        return (
            found is not None and version.data is None and os.path.samestat(found, version.status)
        )
    with closing(handle):
        if not os.path.samestat(status, version.status) or _is_written(handle, patience):
            return False
        if version.data is None:
            return not stat.S_ISREG(status.st_mode) or status.st_size > _COMPARED_BYTES
        # After the lease, so that nobody writes any more.
        size = os.fstat(handle).st_size
        return size == len(version.data) and read_all(handle, size) == version.data


def _is_written(handle: int, patience: float) -> bool:
    """Return whether a program has an open file open for writing; Linux alone can tell.

    Many editors save by emptying the file and writing it again. What they write after it was
    displaced would be lost with it.
    """
    set_lease = getattr(fcntl, "F_SETLEASE", None)
    if set_lease is None:
        return False
    # The system tells the holder of a lease by a signal that somebody wants to write. SIGIO, its
    # usual choice, would end this process; SIGURG is ignored.
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(handle, set_lease, fcntl.F_RDLCK)
        except OSError as error:
            if error.errno != errno.EAGAIN:
                # Somebody else's file, or a file system without leases.
                return False
        else:
            fcntl.fcntl(handle, set_lease, fcntl.F_UNLCK)
            return False
        if time.monotonic() >= deadline:
            return True
        time.sleep(0.001)


# -- after a kill ------------------------------------------------------------------


def _displaced_name(name: str, read: bytes, written: bytes) -> str:
    """Return the name under which a file waits for its exchange, and the old one comes out."""
    parts = (_digest(os.fsencode(name)), _digest(read), _digest(written))
    return f".{'-'.join(parts)}{atomic.TEMPORARY_SUFFIX}"


def _recover(folder: int, displaced: str, name: str | None, read: str, written: str) -> None:
    version = _version(folder, displaced)
    if version is None:
        return
    known = version.data is not None and _digest(version.data) in {read, written}
    if known and _holds(folder, displaced, version):
        # The new file before an exchange, or the old one after it, as it was read.
        remove(folder, displaced)
        return
    inside = None if name is None else _version(folder, name)
    if name is not None and inside is not None and _digest(inside.data or b"") == written:
        _give_back(folder, displaced, name, inside)
        return
    stem, dot, suffix = (name or "note.md").rpartition(".")
    stem = stem.encode(errors="surrogateescape")[:_NAME_BYTES].decode(errors="ignore")
    kept = f"{stem}.recovered-{os.urandom(4).hex()}{dot}{suffix}"
    os.rename(displaced, kept, src_dir_fd=folder, dst_dir_fd=folder)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]
