"""Read many bodies: opens each folder once, and parses as little metadata as possible."""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from hindnote.core.errors import Refused
from hindnote.core.fs.handles import READ, read_all
from hindnote.core.notes.address import Address
from hindnote.core.notes.note import READ_LIMIT, body_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from hindnote.core.notes.facts import Facts
    from hindnote.core.notes.tree import Tree

FOLDERS = 64
"""Maximum number of folders that are open at once."""


class Bodies:
    """Reads the bodies of listed notes; a context manager.

    Args:
        tree: The notes home.
        read: Reads the body of a note that cannot be read quickly.
    """

    def __init__(self, tree: Tree, read: Callable[[Address], str]) -> None:
        self._tree = tree
        self._read = read
        self._folders: dict[tuple[str, ...], int] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folders."""
        self._forget()

    def body(self, facts: Facts) -> str:
        """Return a note's body.

        Raises:
            Refused: ``not_found``, ``not_text``, ``too_large``, ``outside_home``, ``io_error``.
        """
        if facts.problem == "shadowed":
            raise Refused("io_error", "no address leads to this file")
        text = self._text(facts)
        if text is None:
            # A link, another spelling, or an error: the reader's slower code path handles these.
            address = Address(facts.home, tuple(facts.path.split("/")))
            return self._read(address)
        return body_of(text)

    def _text(self, facts: Facts) -> str | None:
        folder, _, name = facts.path.rpartition("/")
        try:
            handle = os.open(name, READ, dir_fd=self._folder(facts, folder))
        except (OSError, Refused):
            return None
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_size > READ_LIMIT:
                return None
            return read_all(handle, status.st_size).decode()
        except (OSError, UnicodeDecodeError):
            return None
        finally:
            os.close(handle)

    def _folder(self, facts: Facts, folder: str) -> int:
        inner = tuple(folder.split("/")) if folder else ()
        segments = (*facts.home.folder, *inner)
        if segments not in self._folders:
            if len(self._folders) == FOLDERS:
                self._forget()
            self._folders[segments] = self._open.enter_context(
                self._tree.folder(segments, facts.address)
            )
        return self._folders[segments]

    def _forget(self) -> None:
        self._folders.clear()
        self._open.close()
