"""Replace a file that people edit with other programs, without losing anything that they save.

A file is read, changed and written back. Somebody may save it in between, up to the last moment,
and a plain rename would overwrite that. So the new file and the old one swap names atomically
(``exchange``), and then the old file is compared with what was read. If it differs, or a program
is still writing to it, the names are swapped back and the save fails.

The temporary name of the old file contains hashes of what was read and of what is written. If the
process is killed in between, ``recover`` can tell from this name whether the file contains
something that nobody has read yet.

On file systems without this exchange, the file is checked immediately before the rename.
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
"""Maximum number of swaps while others keep saving; then the displaced file is left for
``recover``."""

_COMPARED_BYTES = 64 * 1024 * 1024
"""Files larger than this are compared by their inode alone."""

_NAME_BYTES = 200
"""Maximum number of bytes of the original name in the name of a recovered file."""

_PATIENCE_SECONDS = 0.05
"""How long to wait for our own file to be closed: a thread that starts a program may briefly pass
on a handle that is open for writing."""


class ChangedError(Exception):
    """Somebody else changed the file after it was read; nothing was written."""


class Version(NamedTuple):
    """One state of a file."""

    status: os.stat_result
    data: bytes | None
    """The content; None when it is not a regular file, or too large to be compared."""

    @property
    def mtime_ns(self) -> int:
        """The file's modification time."""
        return self.status.st_mtime_ns

    @property
    def born_ms(self) -> int | None:
        """The file's creation time in milliseconds since the epoch; None where none is kept."""
        born = getattr(self.status, "st_birthtime", None)
        return None if born is None else int(born * 1000)


def save(folder: int, name: str, data: bytes, before: Version, *, mtime_ns: int) -> None:
    """Replace a file, atomically and durably, if it is unchanged since it was read.

    Keeps its permission bits, and its owner when we are root. The caller must lock out our other
    writers, and must have called ``recover``.

    Args:
        folder: Handle of the folder.
        name: The file's name.
        data: The new content.
        before: The file as it was read.
        mtime_ns: Modification time of the new file.

    Raises:
        ChangedError: It changed since it was read.
        OSError: It cannot be written; the old file is unchanged.
    """
    status = before.status
    kept = atomic.attributes_of(status)
    with atomic.temporary(folder, data, mtime_ns=mtime_ns, **kept) as made:
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
    """Rename a file to a free name, if it is unchanged since it was read.

    Raises:
        ChangedError: It changed since it was read.
        FileExistsError: The new name is taken.
        OSError: It cannot be renamed; ``EXDEV`` when the folders are on different file systems.
    """
    _check(folder, name, before.status)
    try:
        atomic.settle(lambda: exchange.move(folder, name, new_folder, new_name))
    except exchange.UnsupportedError:
        # If we are killed in between, both names belong to one file, and the next rename removes
        # the old one.
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
        # The old name is taken again, or cannot be restored: both versions are kept as files.
    sync(new_folder)
    sync(folder)


def take_away(folder: int, name: str, before: Version) -> None:
    """Remove a file if it is unchanged since it was read.

    Raises:
        ChangedError: It changed since it was read.
        OSError: It cannot be removed.
    """
    _check(folder, name, before.status)
    aside = _displaced_name(name, before.data or b"", before.data or b"")
    try:
        exchange.move(folder, name, folder, aside)
    except exchange.UnsupportedError:
        os.unlink(name, dir_fd=folder)
    else:
        # Somebody may have saved it since the check; then its name is restored.
        if not _holds(folder, aside, before):
            with suppress(FileExistsError):
                exchange.move(folder, aside, folder, name)
            raise ChangedError
        remove(folder, aside)
    sync(folder)


def recover(folder: int) -> None:
    """Clean up after killed writers. The caller must lock out our other writers.

    If a killed writer displaced a version that somebody had saved, its name is restored. If the
    name has other content by now, it is kept next to it as ``plan.recovered-1a2b3c4d.md``.

    Raises:
        OSError: The folder cannot be listed, or a file cannot be renamed or removed.
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
    """Check the file that an exchange displaced: remove it, or restore its name."""
    if _holds(folder, displaced, before, patience=0.0):
        remove(folder, displaced)
        return
    _give_back(folder, displaced, name, new)
    raise ChangedError


def _give_back(folder: int, displaced: str, name: str, inside: Version | None) -> None:
    """Restore the name of a displaced file, unless a newer file has the name by now.

    Each swap should displace exactly the file that the previous swap put in. Any other file was
    saved in between, so it is newer, and the next swap puts it back.

    Args:
        folder: Handle of the folder.
        displaced: The temporary name of the displaced file.
        name: Its original name.
        inside: The file that should have that name now; None when unknown.
    """
    for _ in range(_ROUNDS):
        going_in = _version(folder, displaced)
        try:
            exchange.exchange(folder, displaced, name)
        except FileNotFoundError:
            # Somebody removed the file meanwhile. If that is the first half of a save, the second
            # half wins.
            with suppress(FileExistsError):
                exchange.move(folder, displaced, folder, name)
                return
            continue
        if inside is not None and _holds(folder, displaced, inside):
            remove(folder, displaced)
            return
        inside = going_in


def _replace(folder: int, made: str, name: str, status: os.stat_result) -> None:
    """Rename without an exchange, immediately after a last check."""
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
    """Return the current version of a name; None when it does not exist."""
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
    """Return whether a name belongs to a file in exactly this version that nobody is writing to.

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
        # Read it after the check for writers, so that it cannot change any more.
        size = os.fstat(handle).st_size
        return size == len(version.data) and read_all(handle, size) == version.data


def _is_written(handle: int, patience: float) -> bool:
    """Return whether a program has a file open for writing; only Linux can tell.

    Many editors save by truncating the file and writing it again. Whatever they write after the
    file was displaced would be lost.
    """
    set_lease = getattr(fcntl, "F_SETLEASE", None)
    if set_lease is None:
        return False
    # With a lease, Linux signals its holder when somebody wants to write. SIGIO, the default,
    # would kill this process; SIGURG is ignored.
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(handle, set_lease, fcntl.F_RDLCK)
        except OSError as error:
            if error.errno != errno.EAGAIN:
                # The file belongs to another user, or the file system does not support leases.
                return False
        else:
            fcntl.fcntl(handle, set_lease, fcntl.F_UNLCK)
            return False
        if time.monotonic() >= deadline:
            return True
        time.sleep(0.001)


# -- after a kill ------------------------------------------------------------------


def _displaced_name(name: str, read: bytes, written: bytes) -> str:
    """Return the temporary name of the new file before an exchange, and of the old one after it."""
    parts = (_digest(os.fsencode(name)), _digest(read), _digest(written))
    return f".{'-'.join(parts)}{atomic.TEMPORARY_SUFFIX}"


def _recover(folder: int, displaced: str, name: str | None, read: str, written: str) -> None:
    version = _version(folder, displaced)
    if version is None:
        return
    known = version.data is not None and _digest(version.data) in {read, written}
    if known and _holds(folder, displaced, version):
        # It is the new file before an exchange, or the old file after one, unchanged.
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
