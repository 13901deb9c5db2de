"""Two renames that Linux and macOS offer and Python's ``os`` does not.

Linux: ``renameat2(2)``, in glibc since 2.28 and in musl since 1.2.5. macOS: ``renameatx_np``,
since 10.12. Many file systems support them (ext4, XFS, Btrfs, tmpfs, APFS), some do not (NFS,
FAT),
and then both functions raise ``UnsupportedError``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache

# Flag values from <linux/fs.h> and <sys/stdio.h>.
_CALL, _NO_REPLACE, _SWAP = (
    ("renameatx_np", 4, 2) if sys.platform == "darwin" else ("renameat2", 1, 2)
)
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


class UnsupportedError(OSError):
    """The system or this file system does not support the rename."""

    def __init__(self) -> None:
        super().__init__(errno.ENOTSUP, "this file system has no such rename")


def exchange(folder: int, one: str, other: str) -> None:
    """Swap the names of two files of one folder, atomically.

    Raises:
        UnsupportedError: The file system cannot do that.
        FileNotFoundError: One of them does not exist.
        OSError: They cannot be renamed.
    """
    _rename(folder, one, folder, other, _SWAP)


def move(folder: int, name: str, new_folder: int, new_name: str) -> None:
    """Rename a file atomically; the new name must be free.

    Raises:
        UnsupportedError: The file system cannot do that.
        FileExistsError: The name is taken.
        OSError: The file cannot be renamed; ``EXDEV`` for another file system.
    """
    _rename(folder, name, new_folder, new_name, _NO_REPLACE)


@cache
def _function() -> Callable[..., int] | None:
    function = getattr(ctypes.CDLL(None, use_errno=True), _CALL, None)
    if function is not None:
        function.argtypes = (
            ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint
        )  # fmt: skip
        function.restype = ctypes.c_int
    return function


def _rename(folder: int, name: str, new_folder: int, new_name: str, flag: int) -> None:
    function = _function()
    if function is None:
        raise UnsupportedError
    if function(folder, os.fsencode(name), new_folder, os.fsencode(new_name), flag) == 0:
        return
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        raise UnsupportedError
    raise OSError(number, os.strerror(number), name, None, new_name)
