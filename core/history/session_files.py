"""A catalogue of session files in some folders, each looked into once as long as it stays.

What was learnt of a file is remembered as long as its size, time and inode stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from hindnote.core.history.catalogue_cache import File, Look, Seen, entries, stamp_of
from hindnote.core.history.files import scan_folder
from hindnote.core.system.shortage import is_shortage

if TYPE_CHECKING:
    import os

    from hindnote.core.plugins.models import SessionEntry

_NO_STAMP = (-1, -1, -1)
"""The stamp of no file."""


class SessionFiles:
    """What the files of some folders say of their sessions. Thread-safe.

    Args:
        look: Returns what a file says, given its path and status; None when it is no session.
            Raises ``OSError`` when the file cannot be read.
        unread: Returns the entry of a file that cannot be read, which is then listed and looked
            at again the next time; None leaves it out.
        form: Names the host and the form of its entries: under it other processes remember
            what was learnt, and a change of ``look`` needs another one.
    """

    def __init__(
        self,
        look: Callable[[Path, os.stat_result], SessionEntry | None],
        unread: Callable[[Path, os.stat_result], SessionEntry | None],
        form: str,
    ) -> None:
        self._look = look
        self._unread = unread
        self._form = form
        self._lock = Lock()
        self._known: dict[str, dict[str, Seen]] = {}
        """By folder, then by file name."""

    def sessions(self, folders: Iterable[str], listed: Callable[[str], bool]) -> list[SessionEntry]:
        """Return the sessions, newest first.

        Args:
            folders: Absolute; each at most once.
            listed: Returns whether a file's bare name is one of a session.
        """
        with self._lock:
            folders = list(folders)
            new = [file for folder in folders for file in self._scanned(folder, listed)]
            self._learn(new)
            found = [
                seen.entry
                for folder in folders
                for seen in self._known[folder].values()
                if seen.entry is not None
            ]
        found.sort(key=attrgetter("modified"), reverse=True)
        return found

    def _scanned(self, folder: str, listed: Callable[[str], bool]) -> Iterator[File]:
        """Yield the files of a folder that are new or changed; the others stay known."""
        before = self._known.get(folder, {})
        known = self._known[folder] = {}
        for file in scan_folder(folder):
            if not listed(file.name):
                continue
            try:
                status = file.stat()
            except OSError as error:
                if is_shortage(error):
                    raise
                continue
            held = before.get(file.name)
            if held is not None and held.stamp == stamp_of(status):
                known[file.name] = held
            else:
                yield File(folder, file.name, status)

    def _learn(self, new: list[File]) -> None:
        found = entries(new, lambda path, file: self._look(path, file.status), self._remembered)
        for file, entry in zip(new, found, strict=True):
            known = self._known[file.folder]
            if isinstance(entry, Look):
                entry = self._unread(Path(file.path), file.status)
                known[file.name] = Seen(_NO_STAMP, entry)
            else:
                known[file.name] = Seen(file.stamp, entry)

    def _remembered(self) -> FileFacts:
        from hindnote.core.history.metadata_cache import FileFacts

        return FileFacts(self._form)


if TYPE_CHECKING:
    from hindnote.core.history.metadata_cache import FileFacts
