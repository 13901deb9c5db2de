"""Errors because this process has no file descriptors or memory left.

The data that was being read is not the cause, so it must not be counted as damaged or missing: the
error is passed on, and the call ends with ``io_error``.
"""

from __future__ import annotations

import errno

from hindnote.core.errors import Refused

_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
_MEMORY = errno.ENOMEM


def is_shortage(error: BaseException) -> bool:
    """Return whether an error means that this process or the system is out of resources."""
    if isinstance(error, OSError):
        return error.errno in _DESCRIPTORS or error.errno == _MEMORY
    return isinstance(error, MemoryError)


def refusal(error: BaseException) -> Refused:
    """Return the ``io_error`` for a shortage, with advice."""
    if isinstance(error, OSError) and error.errno in _DESCRIPTORS:
        return Refused("io_error", f"too few file descriptors: {_descriptors(error)}")
    return Refused(
        "io_error",
        "too little memory to carry out this call; nothing was changed by the part that failed. "
        "Narrow the call, or free memory, and ask again",
    )


def _descriptors(error: OSError) -> str:
    if error.errno == errno.ENFILE:
        return "the system has no more of them; end programs that hold many, and ask again"
    return (
        f"this process may have {_limit()} and has none left; raise the limit (ulimit -n) of the "
        "program that started it, and ask again"
    )


def _limit() -> str:
    try:
        import resource
    except ImportError:
        return "only so many"
    return str(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
