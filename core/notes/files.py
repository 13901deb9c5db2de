"""A note's file name on disk, and translation of system errors into refusals."""

from __future__ import annotations

import errno
import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from hindnote.core.errors import Refused
from hindnote.core.fs.handles import look, names_in
from hindnote.core.text.messages import quote


def link_refusal(shown: str, *, loop: bool) -> Refused:
    """Return the refusal of a path that contains a symbolic link."""
    if loop:
        return Refused("outside_home", f"{quote(shown)} leads in a circle of symbolic links")
    return Refused(
        "outside_home",
        f"{quote(shown)} leads through a symbolic link, and nothing is written through one; "
        "use the address of its target",
    )


def lookup(folder: int, name: str) -> tuple[str, os.stat_result | None]:
    """Return how ``name`` is spelled in a folder, ignoring normalization, and its status."""
    status = look(folder, name)
    if status is not None:
        return name, status
    for each in names_in(folder):
        if each != name and unicodedata.normalize("NFC", each) == name:
            return each, os.stat(each, dir_fd=folder, follow_symlinks=False)
    return name, None


@contextmanager
def refusing(shown: str) -> Iterator[None]:
    """Translate system errors about a note into refusals."""
    try:
        yield
    except FileNotFoundError:
        raise Refused("not_found", f"there is no note {quote(shown)}") from None
    except NotADirectoryError:
        raise Refused(
            "not_found", f"there is no note {quote(shown)}: a part of its path is no folder"
        ) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise link_refusal(shown, loop=False) from error
        raise Refused(
            "io_error",
            f"{quote(shown)}: {error.strerror or error}; the note is as it was, try again once "
            "that is repaired",
        ) from error
