"""Walking the roots: every Markdown file below them, found without following a link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from hindnote.core.project.contract.documents import Scope
from hindnote.core.project.outcome import Declined
from hindnote.core.project.roots import Root, Workspace

DEPTH_LIMIT = 64
"""Levels of folders below the workspace that are entered."""

SUFFIXES = (".md", ".markdown")

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder with documents, open while the walk stands at it."""

    prefix: str
    """What stands before the documents' names in their paths below the workspace."""

    scope: Scope
    handle: int
    items: list[os.DirEntry[str]]
    """Entries with a document's name, in no order. What they are is not looked at yet."""

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
class Walk:
    """One pass over both roots; only those that the call asks for may fail it."""

    workspace: Workspace
    scopes: tuple[Scope, ...]
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
            folders, documents = self._parted(handle, parts, scope)
            if documents:
                yield Folder("".join(f"{part}/" for part in parts), scope, handle, documents)
            for name in folders:
                inner = (*parts, name)
                below = None if inner == other else self._enter(handle, inner)
                if below is not None:
                    yield from self._below(below, inner, scope, other)
        finally:
            os.close(handle)

    def _parted(
        self, handle: int, parts: tuple[str, ...], scope: Scope
    ) -> tuple[list[str], list[os.DirEntry[str]]]:
        folders: list[str] = []
        documents: list[os.DirEntry[str]] = []
        try:
            with os.scandir(handle) as found:
                for item in found:
                    name = item.name
                    if name[0] == ".":
                        continue
                    if item.is_dir(follow_symlinks=False):
                        folders.append(name)
                    elif name[-3:] == ".md" or name.lower().endswith(SUFFIXES):
                        documents.append(item)
        except OSError as error:
            raise _unreadable(Root(scope, parts, given=False), error) from error
        return sorted(folders), documents

    def _enter(self, handle: int, inner: tuple[str, ...]) -> int | None:
        if len(inner) <= DEPTH_LIMIT:
            try:
                return os.open(inner[-1], _FOLDER, dir_fd=handle)
            except OSError:
                pass
        self.unreadable += 1
        return None


def _unreadable(root: Root, error: OSError) -> Declined:
    return Declined(
        "root_unreadable",
        f"{root.relative} cannot be read: {error.strerror}",
        root={"path": root.relative, "availability": "unknown"},
    )
