"""What lies in a home: the facts of each note, kept per process while files stay as they are."""

from __future__ import annotations

import os
import stat
import time
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from hindnote.core.notes import clock
from hindnote.core.notes.address import PATH_LIMIT, SUFFIX, segment_problem
from hindnote.core.notes.files import ENTER, READ, Tree, names_in
from hindnote.core.notes.note import READ_LIMIT, Note
from hindnote.core.outcome import Refused
from hindnote.core.slug import is_slug

if TYPE_CHECKING:
    from hindnote.core.notes.address import Home
    from hindnote.core.notes.models import Problem

SETTLED_NS = 50_000_000
"""A file that changed this shortly before it was read may change again within one tick
of the file system's clock, so what was read of it is not kept."""


@dataclass(slots=True)
class Facts:
    """What a list says of one note."""

    home: Home
    path: str
    """Within the home, NFC."""

    address: str
    """As results show it."""

    updated: int
    """Milliseconds since the epoch."""

    chars: int = 0
    archived_at: str | None = None
    problem: Problem | None = None
    _size: int = -1
    _mtime_ns: int = 0
    _ctime_ns: int = 0
    _inode: int = 0

    def still(self, status: os.stat_result) -> bool:
        """Return whether the file is as it was when these facts were read."""
        return (
            self._mtime_ns == status.st_mtime_ns
            and self._size == status.st_size
            and self._ctime_ns == status.st_ctime_ns
            and self._inode == status.st_ino
        )


@dataclass(slots=True)
class Contents:
    """What lies in some homes."""

    notes: list[Facts] = field(default_factory=list)
    unreadable: int = 0
    unavailable: list[str] = field(default_factory=list)
    """Names of homes that could not be opened."""


_KNOWN: dict[str, dict[str, Facts]] = {}
"""Facts by folder and file name; each walk of a folder replaces its part."""


def contents(tree: Tree, homes: Iterable[Home]) -> Contents:
    """Return what lies in some homes; one that cannot be opened is named."""
    found = Contents()
    for home in homes:
        _Walk(tree, home, found).run()
    return found


def newest_first(notes: list[Facts]) -> list[Facts]:
    """Return notes by time of their last update, then by address."""
    notes.sort(key=attrgetter("address"))
    notes.sort(key=attrgetter("updated"), reverse=True)
    return notes


def slugs(tree: Tree, kind: Literal["agents", "models"]) -> list[str]:
    """Return the agents or models that have a home."""
    try:
        with tree.folder((kind,), f"@{kind}") as handle:
            return sorted(name for name in names_in(handle) if is_slug(name))
    except (OSError, Refused):
        return []


class _Walk:
    """One walk through one home."""

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
        """Walk one open folder.

        Args:
            handle: The folder.
            disk: Names on disk from the home to here.
            prefix: Path of the folder within the home as addresses show it.
            above: Folders that this one lies in, to stop at circles of links.
        """
        # The same folder is @self/ to one agent and @agents/<slug>/ to another.
        key = "\0".join((self._home.prefix, str(self._tree.home), *self._home.folder, *disk))
        known, fresh = _KNOWN.get(key, {}), dict[str, Facts]()
        folders: list[str] = []
        links: list[str] = []
        with os.scandir(handle) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if entry.is_symlink():
                    links.append(name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif name.endswith(SUFFIX):
                    facts = self._facts(entry, handle, prefix, known.get(name))
                    if facts is not None:
                        fresh[name] = facts
        _KNOWN[key] = fresh
        self._found.notes.extend(fresh.values())
        _mark_shadowed(fresh)
        status = os.fstat(handle)
        above = [*above, (status.st_dev, status.st_ino)]
        for name in folders:
            self._inner(handle, name, disk, prefix, above)
        for name in links:
            self._link(name, disk, prefix, above)

    def _facts(
        self, entry: os.DirEntry[str], handle: int, prefix: str, known: Facts | None
    ) -> Facts | None:
        try:
            status = entry.stat(follow_symlinks=False)
            if known is not None and known.still(status):
                return known
            if not stat.S_ISREG(status.st_mode):
                return None
            if not self._addressable(prefix, entry.name):
                self._found.unreadable += 1
                return None
            return self._read(os.open(entry.name, READ, dir_fd=handle), prefix + _nfc(entry.name))
        except FileNotFoundError:
            return None
        except OSError:
            self._found.unreadable += 1
            return None

    def _read(self, handle: int, path: str) -> Facts:
        with os.fdopen(handle, "rb", buffering=0) as file:
            status = os.fstat(handle)
            data = file.read() if status.st_size <= READ_LIMIT else None
        facts = facts_of(data, status, self._home, path)
        if status.st_ctime_ns < time.time_ns() - SETTLED_NS:
            facts._size = status.st_size
            facts._mtime_ns = status.st_mtime_ns
            facts._ctime_ns = status.st_ctime_ns
            facts._inode = status.st_ino
        return facts

    def _inner(
        self,
        handle: int,
        name: str,
        disk: tuple[str, ...],
        prefix: str,
        above: list[tuple[int, int]],
    ) -> None:
        if segment_problem(_nfc(name)) is not None:
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
        """Follow a link whose target lies in the notes home; any other is left out."""
        segments = (*self._home.folder, *disk, name)
        try:
            with self._tree.reading(segments, name) as place:
                if place.status is None:
                    return
                if stat.S_ISDIR(place.status.st_mode):
                    self._linked_folder(place.folder, place.name, (*disk, name), prefix, above)
                elif stat.S_ISREG(place.status.st_mode) and name.endswith(SUFFIX):
                    if not self._addressable(prefix, name):
                        self._found.unreadable += 1
                        return
                    handle = os.open(place.name, READ, dir_fd=place.folder)
                    self._found.notes.append(self._read(handle, prefix + _nfc(name)))
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

    def _addressable(self, prefix: str, name: str) -> bool:
        name = _nfc(name)
        return segment_problem(name) is None and (
            len(prefix) + len(name) <= PATH_LIMIT // 4
            or len((prefix + name).encode()) <= PATH_LIMIT
        )


def facts_of(data: bytes | None, status: os.stat_result, home: Home, path: str) -> Facts:
    """Return the facts of one note.

    Args:
        data: The file's bytes; None when there are too many.
        status: The file's status.
        home: Where it lies.
        path: Within the home, NFC.
    """
    facts = Facts(home, path, home.prefix + path, status.st_mtime_ns // clock.MILLISECOND_NS)
    if data is None:
        facts.problem = "too_large"
        return facts
    try:
        note = Note.parse(data.decode())
    except UnicodeDecodeError:
        facts.problem = "not_text"
        return facts
    facts.chars = len(note.body)
    facts.updated = max(facts.updated, note.time_of("updatedAt") or 0)
    facts.archived_at = note.archived_at
    if note.error is not None:
        facts.problem = "invalid_frontmatter"
    return facts


def _nfc(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _mark_shadowed(fresh: dict[str, Facts]) -> None:
    """Mark a file whose address means a sibling, which has the NFC spelling as its name."""
    for name, facts in fresh.items():
        if not name.isascii() and name != _nfc(name) and _nfc(name) in fresh:
            facts.problem = "shadowed"
