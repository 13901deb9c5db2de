"""Find what changed since the index was last updated.

A repeated search spends most of its time here, so the loop over documents does as little as
possible: folders in which nothing changed are taken over as a whole.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hindnote.core.project.documents.document import Document, read_document
from hindnote.core.project.state import digest

if TYPE_CHECKING:
    from hindnote.core.project.contract.documents import Scope
    from hindnote.core.project.documents.walk import DocumentWalk, Folder

Signature = tuple[int, int, int]
"""Size in bytes, modification time in nanoseconds, inode."""

Row = tuple[int, int, int, str]
"""Signature and content hash of an indexed document."""

Known = dict[str, dict[str, Row]]
"""Indexed documents by folder (with its trailing slash) and name."""

_RACY_NS = 50_000_000
"""Minimum age of a file's last change; a younger file may change again without a new time."""

_NOTHING: dict[str, Row] = {}


def split(path: str) -> tuple[str, str]:
    """Return a path's folder (with its trailing slash) and name."""
    folder, slash, name = path.rpartition("/")
    return folder + slash, name


class Covered(Mapping[str, "Scope"]):
    """The documents found, as a mapping from path to scope."""

    def __init__(self) -> None:
        self.folders: dict[str, tuple[Scope, Collection[str]]] = {}

    def __getitem__(self, path: str) -> Scope:
        """Return the scope of a document."""
        folder, name = split(path)
        scope, names = self.folders[folder]
        if name not in names:
            raise KeyError(path)
        return scope

    def __iter__(self) -> Iterator[str]:
        """Yield every path."""
        for folder, (_, names) in self.folders.items():
            yield from (folder + name for name in names)

    def __len__(self) -> int:
        """Return the number of documents."""
        return sum(len(names) for _, names in self.folders.values())


@dataclass(slots=True)
class Change:
    """One document to write to the index; without ``document``, only its signature."""

    path: str
    signature: Signature
    hash: str
    document: Document | None


@dataclass(slots=True)
class Refreshed:
    """The result of checking all documents."""

    covered: Covered = field(default_factory=Covered)
    changes: list[Change] = field(default_factory=list)
    unreadable: int = 0
    others: bool = False
    """Whether the index may contain other documents than those found."""

    changed: bool = False
    """Whether the index was written."""

    @property
    def refreshed(self) -> int:
        """Number of documents that were read again."""
        return sum(change.document is not None for change in self.changes)

    def gone(self, known: Known, below: tuple[str, ...]) -> Iterator[str]:
        """Yield the indexed documents below some prefixes that were not found."""
        for folder, rows in known.items():
            _, names = self.covered.folders.get(folder, (None, ()))
            if names is not rows and folder.startswith(below):
                yield from (folder + name for name in rows if name not in names)


def compare(walk: DocumentWalk, known: Known, *, strict: bool) -> Refreshed:
    """Check every document of a walk, and read those that may have changed.

    Args:
        walk: The walk over the roots.
        known: The indexed documents.
        strict: Whether to read all documents and compare contents.
    """
    result = Refreshed()
    for folder in walk:
        rows = known.get(folder.prefix, _NOTHING)
        doubtful = folder.names if strict else _doubtful(folder, rows)
        names = _looked(folder, doubtful, rows, result)
        result.covered.folders[folder.prefix] = (folder.scope, names)
    return result


def _doubtful(folder: Folder, rows: dict[str, Row]) -> Collection[str]:
    """Return the names of documents in a folder that are new or may have changed."""
    found = list(folder.names.difference(rows))
    handle, look = folder.handle, os.lstat
    for name, (size, mtime, inode, _) in rows.items():
        try:
            now = look(name, dir_fd=handle)
        except OSError:
            found.append(name)
            continue
        if now.st_mtime_ns != mtime or now.st_size != size or now.st_ino != inode:
            found.append(name)
    return folder.names.intersection(found)


def _looked(
    folder: Folder, doubtful: Collection[str], rows: dict[str, Row], result: Refreshed
) -> Collection[str]:
    """Check the possibly changed documents.

    Return all names, or ``rows`` itself if they are equal.
    """
    unlike: list[str] = []
    for name in sorted(doubtful):
        try:
            now = os.lstat(name, dir_fd=folder.handle)
            if not stat.S_ISREG(now.st_mode):
                unlike.append(name)
                continue
            signature = (now.st_size, now.st_mtime_ns, now.st_ino)
            change = _look(folder, name, signature, rows.get(name))
        except (OSError, UnicodeError):
            result.unreadable += 1
            unlike.append(name)
            continue
        if change is not None:
            result.changes.append(change)
    names = folder.names.difference(unlike) if unlike else folder.names
    return rows if names == rows.keys() else names


def _look(folder: Folder, name: str, signature: Signature, was: Row | None) -> Change | None:
    """Read a document; return what to write to the index, or None.

    Raises:
        OSError: It cannot be read.
        UnicodeError: Its path or its content is not UTF-8.
    """
    started = time.time_ns()
    path = folder.prefix + name
    path.encode()
    content = folder.read(name)
    told = digest(content)
    size, mtime, inode = signature
    # An unreliable modification time is replaced, so that it never equals the next one.
    kept = (size, -1 if mtime > started - _RACY_NS else mtime, inode)
    if was is not None and was[3] == told:
        return None if was[:3] == kept else Change(path, kept, told, None)
    return Change(path, kept, told, read_document(path, content.decode()))
