"""Putting a whole new file in a note's place, or leaving the old one whole."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from hindnote.core.notes.files import names_in, stamp_of, sync_folder

if TYPE_CHECKING:
    from hindnote.core.notes.tree import Place

RETRY_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Pauses before a rename is tried again that a reader on another system made fail."""

TEMPORARY_SUFFIX = ".hindnote-tmp"
"""How the names end under which a note is written before it gets its own."""

_TEMPORARY = re.compile(rf"\.[0-9a-f]{{16}}{re.escape(TEMPORARY_SUFFIX)}")
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


class ChangedMeanwhile(Exception):
    """Somebody else changed the file after it was read; nothing was written."""


def put(
    place: Place,
    data: bytes,
    *,
    expected: os.stat_result | None,
    mtime_ns: int,
    mode: int | None = None,
) -> None:
    """Put a new file in its place, atomically and durably.

    Args:
        place: Where it goes.
        data: All of the file.
        expected: Status of the file as it was read; None when there must be none.
        mtime_ns: Modification time that it gets.
        mode: Permission bits that it gets; None for those of the file that was there,
            or of a new one.

    Raises:
        ChangedMeanwhile: The file is not as expected.
        OSError: It cannot be written; the old file is whole.
    """
    if mode is None and expected is not None:
        mode = expected.st_mode
    temporary = f".{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"
    try:
        _write(place.folder, temporary, data, mtime_ns, mode)
        if expected is None:
            _settle(lambda: _publish(place, temporary))
        else:
            _settle(lambda: _exchange(place, temporary, expected))
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=place.folder)
    sync_folder(place.folder)


def take_away(place: Place, expected: os.stat_result) -> None:
    """Remove a file that is still as it was read.

    Raises:
        ChangedMeanwhile: It is not.
    """
    _check(place, expected)
    os.unlink(place.name, dir_fd=place.folder)
    sync_folder(place.folder)


def sweep(folder: int) -> None:
    """Remove temporary files that a killed writer left; the caller holds the lock."""
    for name in names_in(folder):
        if _TEMPORARY.fullmatch(name):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def _write(folder: int, name: str, data: bytes, mtime_ns: int, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o666, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None:
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
        os.utime(file.fileno(), ns=(mtime_ns, mtime_ns))
        os.fsync(file.fileno())


def _publish(place: Place, temporary: str) -> None:
    """Give a new file its name, unless somebody else took it."""
    try:
        os.link(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except FileExistsError:
        raise ChangedMeanwhile from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: look, then rename.
        if _status(place) is not None:
            raise ChangedMeanwhile from None
        os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)


def _exchange(place: Place, temporary: str, expected: os.stat_result) -> None:
    _check(place, expected)
    os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)


def _check(place: Place, expected: os.stat_result) -> None:
    status = _status(place)
    if status is None or stamp_of(status) != stamp_of(expected):
        raise ChangedMeanwhile


def _status(place: Place) -> os.stat_result | None:
    try:
        return os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _settle(action: Callable[[], None]) -> None:
    for pause in RETRY_SECONDS:
        try:
            return action()
        except OSError as error:
            if not isinstance(error, PermissionError) and error.errno != errno.EBUSY:
                raise
        time.sleep(pause)
    return action()
