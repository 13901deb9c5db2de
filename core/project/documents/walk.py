"""Walk the roots: every Markdown file below them, without following links.

A process caches the entries of each folder until the folder itself changes, so a repeated walk
only has to check the files.
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
"""Maximum depth of folders below the workspace."""

SUFFIXES = (".md", ".markdown")

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_SETTLED_NS = 2_000_000_000
"""Minimum age of a folder's last change for its entries to be cached: some file systems record
times in seconds, and a younger folder may change again without a new time."""

_REMEMBERED = 20_000
"""Maximum number of folders whose entries are cached."""


class Listing(NamedTuple):
    """The entries of a folder."""

    folders: tuple[str, ...]
    """Sorted."""

    documents: frozenset[str]
    """Names of documents. Anything with such a name that is not a folder is included."""


_LISTINGS: dict[tuple[int, int], tuple[tuple[int, int], Listing]] = {}
"""By device and inode, with the folder's times; adding or removing an entry changes these."""


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder with documents; its handle is open during its step of the walk."""

    prefix: str
    """Prefix of the documents' workspace-relative paths."""

    scope: Scope
    handle: int
    names: frozenset[str]
    """Entries with a document's name, whose types are not checked yet."""

    def read(self, name: str) -> bytes:
        """Return a document's content.

        Raises:
            OSError: It does not exist, is unreadable or is not a regular file.
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
    """One walk over both roots; only roots that the call selects may cause an error."""

    workspace: Workspace
    scopes: tuple[Scope, ...]
    anew: bool = False
    """Whether to ignore cached folder entries."""

    unreadable: int = 0
    roots: list[dict[str, str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Folder]:
        """Yield every folder once; a folder below both roots belongs to the inner root.

        Raises:
            Declined: ``root_unreadable``, or ``root_missing`` for a root that the call named.
        """
        self.unreadable = 0
        self.roots = []
        docs, todos = self.workspace.docs, self.workspace.todos
        # If both are the same folder, it counts as the todos root.
        for root in (todos,) if docs.parts == todos.parts else (docs, todos):
            other = todos if root is docs else docs
            handle = self._open(root)
            if handle is not None:
                yield from self._below(handle, root.parts, root.scope, other.parts)

    def prefixes(self) -> tuple[str, ...]:
        """Return the prefixes of all paths that the walk covers."""
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
