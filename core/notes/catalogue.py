"""List the notes of homes; the facts of each note are cached while its file is unchanged."""

from __future__ import annotations

import os
import stat
import unicodedata
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from hindnote.core.errors import Refused
from hindnote.core.fs.handles import ENTER, names_in, open_file
from hindnote.core.fs.stamps import Stamp, settled, stamp_of
from hindnote.core.notes.address import PATH_LIMIT, SUFFIX, segment_problem
from hindnote.core.notes.facts import Facts, read_facts
from hindnote.core.text.messages import quote
from hindnote.core.text.slug import is_slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from hindnote.core.notes.address import Home
    from hindnote.core.notes.tree import Tree


class Contents(Struct):
    """The notes found in some homes, and what could not be read."""

    notes: list[Facts] = field(default_factory=list)
    unreadable: int = 0
    unavailable: list[str] = field(default_factory=list)
    """Names of homes that could not be opened."""


class _Folder(Struct):
    """Cached contents of one folder on disk."""

    stamp: Stamp | None = None
    """Stamp of the folder when its names were read."""

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    facts: dict[str, Facts] = field(default_factory=dict)
    """By file name, for the files that could be read."""


_KNOWN: dict[str, _Folder] = {}
"""Cached folders, by path and by the prefix of their notes' addresses."""


def contents(tree: Tree, homes: Iterable[Home]) -> Contents:
    """Return the notes of some homes; the result names homes that cannot be opened."""
    found = Contents()
    for home in homes:
        before = len(found.notes)
        _Listing(tree, home, found).run()
        if home.owner is not None:
            found.notes[before:] = inherited_only(home, found.notes[:before], found.notes[before:])
    return found


def inherited_only(home: Home, nearer: list[Facts], notes: list[Facts]) -> list[Facts]:
    """Return the notes of an ancestor's notebook that are not hidden by a nearer notebook.

    Args:
        home: The ancestor's notebook.
        nearer: Notes found in the fork's own notebook and in those of nearer ancestors.
        notes: Notes found in this ancestor's notebook.
    """
    known = {facts.path for facts in nearer if facts.home.kind == "session"}
    return [
        facts for facts in notes if facts.path not in known and home.passes_on(facts.created or 0)
    ]


def slugs(tree: Tree, kind: Literal["agents", "models"], unavailable: list[str]) -> list[str]:
    """Return the slugs of the agents or models that have a home.

    Args:
        tree: The notes home.
        kind: Which of the two to list.
        unavailable: Receives a name when their folder cannot be opened.
    """
    try:
        with tree.folder((kind,), f"@{kind}") as handle:
            return sorted(name for name in names_in(handle) if is_slug(name))
    except FileNotFoundError:
        return []
    except (OSError, Refused):
        unavailable.append(f"@{kind}")
        return []


def every(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all files below a folder, and of links to folders, which are not entered.

    Raises:
        Refused: ``io_error``; a folder cannot be listed.
    """
    pending: list[tuple[tuple[str, ...], Path]] = [((), folder)]
    while pending:
        segments, path = pending.pop()
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            raise Refused(
                "io_error", f"{quote(str(path))} cannot be listed: {error.strerror}"
            ) from error
        for entry in entries:
            inner = (*segments, entry.name)
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append((inner, folder.joinpath(*inner)))
            else:
                yield inner


class _Listing:
    """Lists one home recursively."""

    def __init__(self, tree: Tree, home: Home, found: Contents) -> None:
        self._tree = tree
        self._home = home
        self._found = found
        self._linked: set[tuple[int, int]] = set()

    def run(self) -> None:
        try:
            with self._tree.folder(self._home.folder, self._home.name) as handle:
                self._folder(handle, (), "", [])
        except FileNotFoundError:
            return
        except (OSError, Refused):
            self._found.unavailable.append(self._home.name)

    def _folder(
        self, handle: int, disk: tuple[str, ...], prefix: str, above: list[tuple[int, int]]
    ) -> None:
        """List one open folder and its subfolders.

        Args:
            handle: The folder.
            disk: Names on disk from the home down to this folder.
            prefix: Path of the folder within the home as addresses show it.
            above: Device and inode of the folders above, to stop at circular links.
        """
        # The same folder is @self/ for one agent and @agents/<slug>/ for another.
        owner = self._home.owner or ""
        key = "\0".join((owner, self._home.prefix, str(self._tree.home), *self._home.folder, *disk))
        folder = _KNOWN.setdefault(key, _Folder())
        status = os.fstat(handle)
        if folder.stamp is None or folder.stamp != stamp_of(status):
            folder.files, folder.folders, folder.links = _names(handle)
            folder.stamp = settled(status)
        folder.facts = self._files(handle, folder, prefix)
        self._found.notes.extend(folder.facts.values())
        above = [*above, (status.st_dev, status.st_ino)]
        for name in folder.folders:
            self._inner(handle, name, disk, prefix, above)
        for name in folder.links:
            self._link(name, disk, prefix, above)

    def _files(self, handle: int, folder: _Folder, prefix: str) -> dict[str, Facts]:
        """Return the facts of a folder's files, reading again only files that changed."""
        fresh: dict[str, Facts] = {}
        get, look = folder.facts.get, os.stat
        for name in folder.files:
            # The common case needs one system call per note, and little else.
            facts = get(name)
            try:
                same = facts is not None and facts.stamp == stamp_of(
                    look(name, dir_fd=handle, follow_symlinks=False)
                )
            except OSError:
                same = False
            if not same:
                facts = self._facts(handle, name, prefix + _nfc(name))
            if facts is not None:
                fresh[name] = facts
        if not "".join(fresh).isascii():
            _mark_shadowed(fresh)
        return fresh

    def _facts(self, folder: int, name: str, path: str) -> Facts | None:
        """Return the facts of a file in an open folder; count a file that cannot be read."""
        if not _addressable(path, _nfc(name)):
            self._found.unreadable += 1
            return None
        try:
            handle, _ = open_file(folder, name)
        except FileNotFoundError:
            return None
        except OSError:
            self._found.unreadable += 1
            return None
        try:
            return read_facts(handle, self._home, path)
        except OSError:
            self._found.unreadable += 1
            return None
        finally:
            os.close(handle)

    def _inner(
        self,
        handle: int,
        name: str,
        disk: tuple[str, ...],
        prefix: str,
        above: list[tuple[int, int]],
    ) -> None:
        if segment_problem(_nfc(name)) is not None or len(prefix) > PATH_LIMIT:
            self._found.unreadable += 1
            return
        try:
            inner = os.open(name, ENTER, dir_fd=handle)
        except FileNotFoundError:
            return
        except OSError:
            self._found.unreadable += 1
            return
        try:
            self._folder(inner, (*disk, name), f"{prefix}{_nfc(name)}/", above)
        except OSError:
            self._found.unreadable += 1
        finally:
            os.close(inner)

    def _link(
        self, name: str, disk: tuple[str, ...], prefix: str, above: list[tuple[int, int]]
    ) -> None:
        """Follow a link whose target is inside the notes home; ignore any other."""
        segments = (*self._home.folder, *disk, name)
        try:
            with self._tree.reading(segments, name) as place:
                if place.status is None:
                    return
                if stat.S_ISDIR(place.status.st_mode):
                    self._linked_folder(place.folder, place.name, (*disk, name), prefix, above)
                elif stat.S_ISREG(place.status.st_mode) and name.endswith(SUFFIX):
                    facts = self._facts(place.folder, place.name, prefix + _nfc(name))
                    self._found.notes.extend([] if facts is None else [facts])
        except OSError:
            self._found.unreadable += 1
        except Refused as refused:
            self._found.unreadable += refused.code == "io_error"

    def _linked_folder(
        self,
        handle: int,
        target: str,
        disk: tuple[str, ...],
        prefix: str,
        above: list[tuple[int, int]],
    ) -> None:
        inner = os.open(target, ENTER, dir_fd=handle)
        try:
            status = os.fstat(inner)
            identity = (status.st_dev, status.st_ino)
            if identity in above or identity in self._linked:
                return
            self._linked.add(identity)
            self._folder(inner, disk, f"{prefix}{_nfc(disk[-1])}/", above)
        finally:
            os.close(inner)


def _names(handle: int) -> tuple[list[str], list[str], list[str]]:
    """Return the names of a folder's notes, folders and links."""
    files, folders, links = list[str](), list[str](), list[str]()
    with os.scandir(handle) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith("."):
                continue
            if entry.is_symlink():
                links.append(name)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                files.append(name)
    return files, folders, links


def _addressable(path: str, name: str) -> bool:
    """Return whether a name on disk can be the last segment of an address."""
    return segment_problem(name) is None and (
        len(path) <= PATH_LIMIT // 4 or len(path.encode()) <= PATH_LIMIT
    )


def _nfc(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _mark_shadowed(fresh: dict[str, Facts]) -> None:
    """Mark files whose address belongs to a sibling that is named in NFC form."""
    for name, facts in fresh.items():
        if not name.isascii() and name != _nfc(name) and _nfc(name) in fresh:
            facts.problem = "shadowed"
            # The sibling may be deleted, and then this file is a normal note again.
            facts.stamp = None
