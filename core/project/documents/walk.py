"""Walking the roots: every Markdown file below them, found without following a link.

A process remembers what each folder lists until the folder itself has changed, so that a
walk over folders it knows is left with looking at the files.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hindnote.core.project.contract.documents import Scope
from hindnote.core.project.outcome import Declined
from hindnote.core.project.workspace import Root, Workspace

DEPTH_LIMIT = 64
"""Levels of folders below the workspace that are entered."""

SUFFIXES = (".md", ".markdown")

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_SETTLED_NS = 2_000_000_000
"""A folder changed more shortly than this before it was listed may change again unnoticed:
some file systems count times in seconds."""

_REMEMBERED = 20_000
"""Folders whose listings are remembered."""


class Listing(NamedTuple):
    """What lies in a folder."""

    folders: tuple[str, ...]
    """Sorted."""

    documents: frozenset[str]
    """Names of documents. What they are besides no folders is not looked at."""


_LISTINGS: dict[tuple[int, int], tuple[tuple[int, int], Listing]] = {}
"""By device and inode, with the folder's times; no entry comes or goes without changing these."""


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder with documents, open while the walk stands at it."""

    prefix: str
    """What stands before the documents' names in their paths below the workspace."""

    scope: Scope
    handle: int
    names: frozenset[str]
    """Entries with a document's name. What they are is not looked at yet."""

    def read(self, name: str) -> bytes:
        """Return a document's bytes.

        Raises:
            OSError: It is gone, unreadable or no regular file.
        """
        handle = os.open(name, _FILE, dir_fd=self.handle)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, "not a regular file", name)
            # One call is enough for nearly every document.
            content = os.read(handle, found.st_size + 1)
            while len(content) > found.st_size and (more := os.read(handle, 1 << 20)):
                content += more
            return content
        finally:
            os.close(handle)


@dataclass(slots=True)
class DocumentWalk:
    """One pass over both roots; only those that the call asks for may fail it."""

    workspace: Workspace
    scopes: tuple[Scope, ...]
    anew: bool = False
    """Whether to list every folder, remembered or not."""

    unreadable: int = 0
    roots: list[dict[str, str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Folder]:
        """Yield every folder once; one below both roots belongs to the inner one.

        Raises:
            Declined: ``root_unreadable``, or ``root_missing`` for a root that the
                call named.
        """
        self.unreadable = 0
        self.roots = []
        docs, todos = self.workspace.docs, self.workspace.todos
        # One folder for both is the todos'.
        for root in (todos,) if docs.parts == todos.parts else (docs, todos):
            other = todos if root is docs else docs
            handle = self._open(root)
            if handle is not None:
                yield from self._below(handle, root.parts, root.scope, other.parts)

    def prefixes(self) -> tuple[str, ...]:
        """Return the beginnings of all paths that the walk covers."""
        roots = (self.workspace.docs, self.workspace.todos)
        return tuple("".join(f"{part}/" for part in root.parts) for root in roots)

    def _open(self, root: Root) -> int | None:
        told = {"scope": root.scope, "path": root.relative, "availability": "present"}
        asked = root.scope in self.scopes
        try:
            handle = self.workspace.open(root.parts)
        except OSError as error:
            if not asked:
                return None
            if not isinstance(error, FileNotFoundError):
                raise _unreadable(root, error) from error
            if root.given:
                raise Declined(
                    "root_missing",
                    f"{root.scope}_root does not exist; name an existing folder",
                    root={"path": root.relative, "availability": "missing"},
                ) from None
            self.roots.append({**told, "availability": "missing"})
            return None
        if asked:
            self.roots.append(told)
        return handle

    def _below(
        self, handle: int, parts: tuple[str, ...], scope: Scope, other: tuple[str, ...]
    ) -> Iterator[Folder]:
        try:
            folders, documents = self._listed(handle, parts, scope)
            if documents:
                yield Folder("".join(f"{part}/" for part in parts), scope, handle, documents)
            for name in folders:
                inner = (*parts, name)
                below = None if inner == other else self._enter(handle, inner)
                if below is not None:
                    yield from self._below(below, inner, scope, other)
        finally:
            os.close(handle)

    def _listed(self, handle: int, parts: tuple[str, ...], scope: Scope) -> Listing:
        try:
            found = os.fstat(handle)
            place, times = (found.st_dev, found.st_ino), (found.st_ctime_ns, found.st_mtime_ns)
            remembered = None if self.anew else _LISTINGS.get(place)
            if remembered is not None and remembered[0] == times:
                return remembered[1]
            started = time.time_ns()
            listing = _list(handle)
        except OSError as error:
            raise _unreadable(Root(scope, parts, given=False), error) from error
        if max(times) < started - _SETTLED_NS:
            if len(_LISTINGS) >= _REMEMBERED:
                _LISTINGS.clear()
            _LISTINGS[place] = times, listing
        return listing

    def _enter(self, handle: int, inner: tuple[str, ...]) -> int | None:
        if len(inner) <= DEPTH_LIMIT:
            try:
                return os.open(inner[-1], _FOLDER, dir_fd=handle)
            except OSError:
                pass
        self.unreadable += 1
        return None


def _list(handle: int) -> Listing:
    folders: list[str] = []
    documents: list[str] = []
    with os.scandir(handle) as found:
        for item in found:
            name = item.name
            if name[0] == ".":
                continue
            if item.is_dir(follow_symlinks=False):
                folders.append(name)
            elif name[-3:] == ".md" or name.lower().endswith(SUFFIXES):
                documents.append(name)
    return Listing(tuple(sorted(folders)), frozenset(documents))


def _unreadable(root: Root, error: OSError) -> Declined:
    return Declined(
        "root_unreadable",
        f"{root.relative} cannot be read: {error.strerror}",
        root={"path": root.relative, "availability": "unknown"},
    )
