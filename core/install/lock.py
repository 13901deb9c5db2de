"""The lock that allows only one command at a time to install into hosts or uninstall from them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hindnote.core.fs.handles import closing, open_root
from hindnote.core.fs.locks import HeldError, locked_file

WAIT_SECONDS = 60.0
"""How long to wait for another command, which may run the host's own commands."""


class Busy(Exception):
    """Another command did not finish in time. The message says what to do."""


def lock_file() -> Path:
    """Return the lock file, which belongs to this user and is outside all hosts' folders."""
    return Path(tempfile.gettempdir()) / f"hindnote-install-{os.getuid()}.lock"


@contextmanager
def alone() -> Iterator[None]:
    """Lock out this user's other install and uninstall commands, which wait.

    Raises:
        Busy: Another command did not finish in time.
        OSError: The lock file cannot be used.
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
