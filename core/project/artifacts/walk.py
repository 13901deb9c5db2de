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
class Entry:
    """One Markdown file, valid to read while the walk stands at it."""

    path: str
    """Below the workspace."""

    scope: Scope
    folder: int
    name: str
    signature: tuple[int, int, int]
    """Size in bytes, time of change in nanoseconds, inode."""

    def read(self) -> bytes:
        """Return the file's bytes.

        Raises:
            OSError: It is gone, unreadable or no longer a regular file.
        """
        handle = os.open(self.name, _FILE, dir_fd=self.folder)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, "not a regular file", self.name)
            # One call is enough for nearly every document.
            content = os.read(handle, found.st_size + 1)
            while more := os.read(handle, 1 << 20):
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

    def __iter__(self) -> Iterator[Entry]:
        """Yield every document once; a file below both roots belongs to the inner one.

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

    def prefixes(self) -> list[str]:
        """Return the beginnings of all paths that the walk covers."""
        roots = (self.workspace.docs, self.workspace.todos)
        return ["".join(f"{part}/" for part in root.parts) for root in roots]

    def _open(self, root: Root) -> int | None:
        told = {"scope": root.scope, "path": root.relative, "availability": "present"}
        try:
            handle = self.workspace.open(root.parts)
        except FileNotFoundError:
            if root.scope not in self.scopes:
                return None
            if root.given:
                raise Declined(
                    "root_missing",
                    f"{root.scope}_root does not exist; name an existing folder",
                    root={"path": root.relative, "availability": "missing"},
                ) from None
            self.roots.append({**told, "availability": "missing"})
            return None
        except OSError as error:
            if root.scope not in self.scopes:
                return None
            raise _unreadable(root, error) from error
        if root.scope in self.scopes:
            self.roots.append(told)
        return handle

    def _below(
        self, handle: int, parts: tuple[str, ...], scope: Scope, other: tuple[str, ...]
    ) -> Iterator[Entry]:
        prefix = "".join(f"{part}/" for part in parts)
        folders: list[str] = []
        try:
            try:
                with os.scandir(handle) as found:
                    items = sorted(found, key=_name)
            except OSError as error:
                raise _unreadable(Root(scope, parts, given=False), error) from error
            for item in items:
                if item.name.startswith("."):
                    continue
                if item.is_dir(follow_symlinks=False):
                    folders.append(item.name)
                elif item.name.lower().endswith(SUFFIXES):
                    entry = self._entry(handle, item, prefix, scope)
                    if entry is not None:
                        yield entry
            for name in folders:
                inner = (*parts, name)
                if inner != other:
                    yield from self._inside(handle, name, inner, scope, other)
        finally:
            os.close(handle)

    def _inside(
        self,
        handle: int,
        name: str,
        inner: tuple[str, ...],
        scope: Scope,
        other: tuple[str, ...],
    ) -> Iterator[Entry]:
        if len(inner) > DEPTH_LIMIT:
            self.unreadable += 1
            return
        try:
            below = os.open(name, _FOLDER, dir_fd=handle)
        except OSError:
            self.unreadable += 1
            return
        yield from self._below(below, inner, scope, other)

    def _entry(
        self, handle: int, item: os.DirEntry[str], prefix: str, scope: Scope
    ) -> Entry | None:
        path = prefix + item.name
        try:
            found = item.stat(follow_symlinks=False)
            if not item.name.isascii():
                path.encode()
        except (OSError, UnicodeEncodeError):
            self.unreadable += 1
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        signature = (found.st_size, found.st_mtime_ns, found.st_ino)
        return Entry(path, scope, handle, item.name, signature)


def _name(item: os.DirEntry[str]) -> str:
    return item.name


def _unreadable(root: Root, error: OSError) -> Declined:
    return Declined(
        "root_unreadable",
        f"{root.relative} cannot be read: {error.strerror}",
        root={"path": root.relative, "availability": "unknown"},
    )
