"""The lock that lets one command at a time install into hosts or uninstall from them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hindnote.core.fs.handles import closing, open_root
from hindnote.core.fs.locks import HeldError, locked_file

WAIT_SECONDS = 60.0
"""How long to wait for another; it may run commands of the host itself."""


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
    file = lock_file()
    with ExitStack() as stack:
        folder = stack.enter_context(closing(open_root(file.parent)))
        try:
            stack.enter_context(locked_file(folder, file.name, seconds=WAIT_SECONDS))
        except HeldError:
            raise Busy(
                "another hindnote has been installing or uninstalling for "
                f"{WAIT_SECONDS:g} seconds; nothing was changed, try again when it has ended"
            ) from None
        except OSError as error:
            error.filename = str(file)
            raise
        yield
