"""The lock that lets one command at a time install into hosts or uninstall from them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT_SECONDS = 60.0
"""How long to wait for another; it may run commands of the host itself."""

_POLL_SECONDS = 0.05


class Busy(Exception):
    """Another command has been at work for too long. The message says what to do."""


def lock_file() -> Path:
    """Return the file that is locked: this user's, and in no host's folder."""
    return Path(tempfile.gettempdir()) / f"hindnote-install-{os.getuid()}.lock"


@contextmanager
def alone() -> Iterator[None]:
    """Keep this user's other installing and uninstalling commands out; they wait.

    Raises:
        Busy: Another one did not end in time.
        OSError: The lock's file cannot be used.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(
        lock_file(), timeout=WAIT_SECONDS, poll_interval=_POLL_SECONDS, fallback_to_soft=False
    )
    try:
        lock.acquire()
    except Timeout:
        raise Busy(
            f"another hindnote has been installing or uninstalling for {WAIT_SECONDS:g} seconds; "
            "nothing was changed, try again when it has ended"
        ) from None
    try:
        yield
    finally:
        lock.release()
