"""A catalogue of the session files in some folders.

A file is examined once, and again only when its size, modification time or inode has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from hindnote.core.history.catalogue_cache import ListedFile, Look, Seen, entries, stamp_of
from hindnote.core.history.files import scan_folder
from hindnote.core.system.shortage import is_shortage

if TYPE_CHECKING:
    import os

    from hindnote.core.history.metadata_cache import FileFacts
    from hindnote.core.plugins.models import SessionEntry

_NO_STAMP = (-1, -1, -1)
"""The stamp of no file."""


class SessionFiles:
    """The entries of the session files in some folders. Thread-safe.

    Args:
        look: Returns the entry of a file, given its path, and its status with the entry that it
            had before it changed; None when it is not a session. Raises ``OSError`` when the
            file cannot be read.
        unread: Returns the entry of a file that cannot be read, which is examined again the next
            time; None leaves it out.
        cache: Opens the cache that processes share, used for many files; None: no shared cache.
    """

    def __init__(
        self,
        look: Callable[[Path, ListedFile], SessionEntry | None],
        unread: Callable[[Path, ListedFile], SessionEntry | None],
        cache: Callable[[], FileFacts] | None = None,
    ) -> None:
        self._look = look
        self._unread = unread
        self._cache = cache
        self._lock = Lock()
        self._known: dict[str, Seen] = {}
        """By path."""

    def sessions(self, folders: Iterable[str], listed: Callable[[str], bool]) -> list[SessionEntry]:
        """Return the sessions in some folders, newest first.

        Args:
            folders: Absolute; each at most once.
            listed: Returns whether a file's bare name is one of a session.
        """
        return self.of(
            (folder, file)
            for folder in folders
            for file in scan_folder(folder)
            if listed(file.name)
        )

    def of(self, files: Iterable[tuple[str, os.DirEntry[str]]]) -> list[SessionEntry]:
        """Return the sessions in some files, newest first.

        Args:
            files: Each with the folder in which it is listed. Those of which nothing can be told
                are left out.
        """
        with self._lock:
            known: dict[str, Seen] = {}
            new = list(self._changed(files, known))
            for file, entry in zip(new, entries(new, self._look, self._cache), strict=True):
                if isinstance(entry, Look):
                    known[file.path] = Seen(_NO_STAMP, self._unread(Path(file.path), file))
                else:
                    known[file.path] = Seen(file.stamp, entry)
            self._known = known
        found = [seen.entry for seen in known.values() if seen.entry is not None]
        found.sort(key=attrgetter("modified"), reverse=True)
        return found

    def _changed(
        self, files: Iterable[tuple[str, os.DirEntry[str]]], known: dict[str, Seen]
    ) -> Iterator[ListedFile]:
        """Yield the files that are new or changed; add the others to ``known``."""
        for folder, file in files:
            try:
                status = file.stat()
            except OSError as error:
                if is_shortage(error):
                    raise
                continue
            held = self._known.get(file.path)
            if held is None:
                yield ListedFile(folder, file.name, status)
            elif held.stamp == stamp_of(status):
                known[file.path] = held
            else:
                yield ListedFile(folder, file.name, status, held.of(status))
