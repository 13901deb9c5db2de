"""A folder of hindnote in a host's directory: write it, update it, remove it.

A manifest in the folder lists the files that were written. A file that is not listed, or was
changed since, belongs to somebody else and is never touched.

Everything in the folder is opened through one handle, without following links. So replacing the
folder with a link during the work has no effect.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from hindnote.core.fs.handles import (
    CREATE,
    LINK_ERRORS,
    NotRegularError,
    TooLargeError,
    closing,
    look,
    make_folder,
    names_in,
    open_below,
    open_root,
    read_file,
    remove,
)
from hindnote.core.install.record import ForgedError, Record

MANIFEST = ".hindnote.json"
"""Default name of the manifest, which lists the written files with their digests."""

MANIFEST_LIMIT = 1024 * 1024
"""Maximum size of a manifest in bytes; ours have a few thousand."""

FILE_LIMIT = 16 * 1024 * 1024
"""Maximum size of an installed file in bytes; a larger one is not ours."""

_UNFINISHED = ".hindnote-"
"""Prefix of a file's name while it is being written; interrupted writes leave such files."""

FOREIGN = "was not written by hindnote, or was changed before it was uninstalled"
"""Description of a folder in hindnote's place that has no manifest."""


class NotOurs(Exception):
    """Something that hindnote did not write is in the way. The message says what to do."""


@dataclass
class ManagedFolder:
    """One folder, and the operations on it.

    Args:
        folder: The folder, absolute; it need not exist.
        names: Matches the whole name, relative to the folder and ``/``-separated, of every file
            that any version of hindnote writes there. A manifest that lists another name is
            rejected.
        dry_run: Report what would be done, and change nothing.
        manifest: Name of the manifest in the folder.
        top: For a folder in a tree that others may have written: the root of that tree. Below it
            no link is followed, and neither it nor a folder above it is ever created or removed.
            None: the folder is in the person's own configuration; links on the way to it are the
            person's and are followed, but the folder itself must not be a link.
    """

    folder: Path
    names: re.Pattern[str]
    dry_run: bool = False
    manifest: str = MANIFEST
    top: Path | None = None
    _gone: set[Path] = field(default_factory=set)
    """Paths that were removed, or in a dry run would have been."""

    def written(self) -> Record | None:
        """Return the manifest of what is installed; None when nothing is.

        Raises:
            NotOurs: The folder is a link, or its manifest is not one of hindnote's.
        """
        with self._opened(self.folder) as there:
            return self._record(there)

    def is_taken(self) -> bool:
        """Return whether the place belongs to somebody else; an empty folder does not count.

        Raises:
            NotOurs: The manifest is not one of hindnote's.
        """
        with self._opened(self.folder.parent) as around:
            found = None if around is None else look(around, self.folder.name)
        if found is None:
            return False
        if not stat.S_ISDIR(found.st_mode):
            return True
        with self._opened(self.folder) as there:
            return there is not None and self._record(there) is None and self._holds_others(there)

    def changed(self) -> list[Path]:
        """Return the files that were changed or removed since they were written."""
        with self._opened(self.folder) as there:
            record = self._record(there)
            known = record.files if record else {}
            return [
                self.folder / name for name in known if _digest_at(there, name) not in known[name]
            ]

    def holds(self, files: Mapping[str, bytes]) -> bool:
        """Return whether these files exist with these contents."""
        with self._opened(self.folder) as there:
            return all(_digest_at(there, name) == _digest(data) for name, data in files.items())

    def wrote(self, files: Mapping[str, bytes]) -> bool:
        """Return whether exactly these contents were written there, even if changed since.

        Raises:
            NotOurs: The manifest is not one of hindnote's.
        """
        record = self.written()
        return record is not None and record.files == {
            name: [_digest(data)] for name, data in files.items()
        }

    def put(
        self, files: Mapping[str, bytes], facts: Mapping[str, str] | None = None
    ) -> Iterator[str]:
        """Write these files, and remove obsolete ones; yields a line for each change.

        Args:
            files: Contents by path relative to the folder, ``/``-separated.
            facts: Further fields for the manifest.

        Raises:
            NotOurs: The folder, or a file with one of these names, belongs to somebody else.
        """
        with self._opened(self.folder) as there:
            before = self._checked(there, files)
        wanted = {name: [_digest(data)] for name, data in files.items()}
        after = Record(wanted, before.made if before else self._missing(), dict(facts or {}))
        if before is None:
            yield from self._make_around()
        with self._opened(self.folder) as there:
            # Checked again through the handle that is used for writing, since another folder may
            # be in this place by now.
            self._checked(there, files)
            yield from self._fill(there, files, before, after)

    def take_away(self) -> Iterator[str]:
        """Remove the files that were written and are unchanged; yields a line for each file.

        Raises:
            NotOurs: The folder is a link, or its manifest is not one of hindnote's.
        """
        with self._opened(self.folder) as there:
            record = self._record(there)
            if there is None:
                return
            if record is None:
                yield from self._take_away_started(there)
                return
            for name in sorted(record.files):
                yield from self._take_file(there, name, record.files[name])
            inner = _inner(record.files)
            for name in (*inner, ""):
                yield from self._remove_unfinished(there, name)
            yield from self._remove_inner(there, inner)
            yield from self._remove(there, self.manifest)
            if self._holds_more(there, self.folder):
                yield f"left {self.folder}: it holds files that hindnote did not write"
            made = [folder for folder in self._around() if self._relative(folder) in record.made]
            yield from self._remove_around(there, made)

    # -- reading -----------------------------------------------------------------

    @contextmanager
    def _opened(self, folder: Path) -> Iterator[int | None]:
        """Open the folder or one above it; None when it does not exist.

        Raises:
            NotOurs: It is a link where none is allowed.
        """
        anchor = self.top or self.folder.parent
        names: tuple[str, ...] = ()
        if folder.is_relative_to(anchor):
            names = folder.relative_to(anchor).parts
        else:
            anchor = folder
        try:
            with closing(open_root(anchor)) as root:
                handle = open_below(root, names)
        except (FileNotFoundError, NotADirectoryError) as error:
            if isinstance(error, NotADirectoryError):
                self._refuse_links(anchor, names)
            handle = -1
        except OSError as error:
            if error.errno not in LINK_ERRORS:
                error.filename = str(folder)
                raise
            self._refuse_links(anchor, names)
            handle = -1
        if handle < 0:
            yield None
            return
        with closing(handle):
            yield handle

    def _refuse_links(self, anchor: Path, names: Iterable[str]) -> None:
        folder = anchor
        for name in names:
            folder /= name
            if folder.is_symlink():
                raise NotOurs(f"{folder} is a link that hindnote did not make; remove it first")

    def _record(self, there: int | None) -> Record | None:
        path = self.folder / self.manifest
        away = f"move {self.folder} away and install again"
        if there is None:
            return None
        try:
            data, _ = read_file(there, self.manifest, MANIFEST_LIMIT)
            return Record.decoded(data, self.names, [*map(self._relative, self._around())])
        except FileNotFoundError:
            return None
        except (NotRegularError, TooLargeError) as error:
            raise NotOurs(f"{path} is no manifest ({error.strerror}); {away}") from None
        except ForgedError as forged:
            told = f"{path} {forged}; nothing was touched. hindnote did not write it: {away}"
            raise NotOurs(told) from None
        except ValueError:
            raise NotOurs(f"{path} is damaged; {away}") from None

    def _checked(self, there: int | None, files: Mapping[str, bytes]) -> Record | None:
        """Return the manifest, after checking that nothing else is in the way."""
        record = self._record(there)
        if record is None:
            if self._holds_others(there) if there is not None else self.is_taken():
                raise NotOurs(f"{self.folder} {FOREIGN}; move it away first")
            return None
        for name in sorted({*record.files, *files}):
            known = [None, *record.files.get(name, []), _digest(files.get(name, b""))]
            if _digest_at(there, name) not in known:
                raise NotOurs(
                    f"{self.folder / name} is not as hindnote wrote it; move it away first"
                )
        return record

    def _holds_others(self, there: int) -> bool:
        return any(not name.startswith(_UNFINISHED) for name in names_in(there))

    def _holds_more(self, folder: int, path: Path) -> bool:
        """Return whether a folder contains anything that is not to be removed."""
        return any(path / name not in self._gone for name in names_in(folder))

    # -- the folder and those above it ----------------------------------------------

    def _around(self) -> list[Path]:
        """Return the folder and those above it that may be created for it, innermost first."""
        around = [self.folder, *self.folder.parents]
        if self.top is None:
            return around
        return [folder for folder in around if folder != self.top and self.top in folder.parents]

    def _relative(self, folder: Path) -> str:
        return os.path.relpath(folder, self.folder)

    def _missing(self) -> list[str]:
        return [self._relative(folder) for folder in self._around() if not folder.exists()]

    def _make_around(self) -> Iterator[str]:
        for folder in reversed(self._around()):
            if folder.exists():
                continue
            if not self.dry_run:
                with self._opened(folder.parent) as around, _naming(folder):
                    if around is None:
                        raise FileNotFoundError(2, "No such file or directory")
                    make_folder(around, folder.name)
            yield f"{'would make' if self.dry_run else 'made'} {folder}"

    def _remove_around(self, there: int, folders: Iterable[Path]) -> Iterator[str]:
        """Remove the folder and those above it, if they are empty.

        Args:
            there: Handle of the folder; a new folder in its place is kept.
            folders: Folders that were created for it, innermost first.
        """
        for folder in folders:
            with self._opened(folder.parent) as around:
                if around is None:
                    return
                found = look(around, folder.name)
                if found is None or not stat.S_ISDIR(found.st_mode):
                    return
                if folder == self.folder and not os.path.samestat(found, os.fstat(there)):
                    return
                yield from self._remove_folder(around, folder)

    # -- its files and subfolders ----------------------------------------------------

    def _fill(
        self, there: int | None, files: Mapping[str, bytes], before: Record | None, after: Record
    ) -> Iterator[str]:
        if before is None:
            yield from self._write(there, self.manifest, after.encoded())
        elif before.files != after.files:
            # If this is interrupted, the next run recognizes both old and new files as ours.
            known, wanted = before.files, after.files
            both = {name: known.get(name, []) + wanted.get(name, []) for name in known | wanted}
            self._store(there, self.manifest, replace(before, files=both).encoded())
        yield from self._make_inner(there, reversed(_inner(files)))
        for name, data in files.items():
            if _digest_at(there, name) not in after.files[name]:
                yield from self._write(there, name, data)
        if before is not None and there is not None:
            stale = [name for name in before.files if name not in files]
            for name in stale:
                yield from self._take_file(there, name, before.files[name])
            yield from self._remove_inner(there, _inner(stale))
            if before != after:
                yield from self._write(there, self.manifest, after.encoded())

    def _take_away_started(self, there: int) -> Iterator[str]:
        """Remove the remains of an installation that was interrupted while writing its manifest."""
        if self._holds_others(there):
            return
        removed = list(self._remove_unfinished(there, ""))
        if removed:
            yield from removed
            yield from self._remove_around(there, [self.folder])

    def _make_inner(self, there: int | None, inner: Iterable[str]) -> Iterator[str]:
        for name in inner:
            path = PurePosixPath(name)
            with _naming(self.folder / name):
                if there is not None and _folder_in(there, name):
                    continue
                if there is not None and not self.dry_run:
                    with closing(open_below(there, path.parent.parts)) as parent:
                        make_folder(parent, path.name)
            yield f"{'would make' if self.dry_run else 'made'} {self.folder / name}"

    def _remove_inner(self, there: int, inner: Iterable[str]) -> Iterator[str]:
        for name in inner:
            path = PurePosixPath(name)
            if _folder_in(there, name):
                with closing(open_below(there, path.parent.parts)) as parent:
                    yield from self._remove_folder(parent, self.folder / name)

    def _remove_folder(self, parent: int, folder: Path) -> Iterator[str]:
        """Remove an existing folder if it is empty."""
        with closing(open_below(parent, [folder.name])) as handle:
            if self._holds_more(handle, folder):
                return
        self._gone.add(folder)
        if not self.dry_run:
            # rmdir removes neither a folder with content nor a link.
            with _naming(folder), suppress(FileNotFoundError):
                os.rmdir(folder.name, dir_fd=parent)
        yield self._removed(folder)

    def _write(self, there: int | None, name: str, data: bytes) -> Iterator[str]:
        self._store(there, name, data)
        yield f"{'would write' if self.dry_run else 'wrote'} {self.folder / name}"

    def _store(self, there: int | None, name: str, data: bytes) -> None:
        if self.dry_run or there is None:
            return
        path = PurePosixPath(name)
        temporary = _UNFINISHED + secrets.token_hex(8)
        with _naming(self.folder / name), closing(open_below(there, path.parent.parts)) as folder:
            try:
                # Readable by all, like any other installed file, regardless of the umask.
                handle = os.open(temporary, CREATE, 0o644, dir_fd=folder)
                with os.fdopen(handle, "wb") as stream:
                    os.fchmod(handle, 0o644)
                    stream.write(data)
                os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                remove(folder, temporary)
                raise

    def _take_file(self, there: int, name: str, known: list[str]) -> Iterator[str]:
        """Remove a file if it is unchanged since it was written."""
        digest = _digest_at(there, name)
        if digest in known:
            yield from self._remove(there, name)
        elif digest is not None:
            yield f"left {self.folder / name}: it was changed since hindnote wrote it"

    def _remove(self, there: int, name: str) -> Iterator[str]:
        path = PurePosixPath(name)
        with _naming(self.folder / name), closing(open_below(there, path.parent.parts)) as folder:
            if look(folder, path.name) is None:
                return
            self._gone.add(self.folder / name)
            if not self.dry_run:
                remove(folder, path.name)
        yield self._removed(self.folder / name)

    def _remove_unfinished(self, there: int, inner: str) -> Iterator[str]:
        """Remove files in one of the folders that a killed process was writing."""
        if not _folder_in(there, inner):
            return
        with closing(open_below(there, PurePosixPath(inner).parts)) as folder:
            for name in sorted(names_in(folder)):
                found = look(folder, name) if name.startswith(_UNFINISHED) else None
                if found is not None and stat.S_ISREG(found.st_mode):
                    yield from self._remove(there, str(PurePosixPath(inner) / name))

    def _removed(self, path: Path) -> str:
        return f"{'would remove' if self.dry_run else 'removed'} {path}"


def _inner(names: Iterable[str]) -> list[str]:
    """Return the folders between ours and these files, innermost first."""
    inner = {str(folder) for name in names for folder in PurePosixPath(name).parents} - {"."}
    return sorted(inner, reverse=True)


def _folder_in(there: int, name: str) -> bool:
    """Return whether a folder with this name exists, with no link on the way to it."""
    try:
        os.close(open_below(there, PurePosixPath(name).parts))
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in LINK_ERRORS:
            raise
        return False
    return True


def _digest_at(there: int | None, name: str) -> str | None:
    """Return the digest of a file; None when it does not exist, empty when it is not ours."""
    if there is None:
        return None
    path = PurePosixPath(name)
    try:
        with closing(open_below(there, path.parent.parts)) as folder:
            return _digest(read_file(folder, path.name, FILE_LIMIT)[0])
    except FileNotFoundError:
        return None
    except (NotRegularError, TooLargeError):
        return ""
    except OSError as error:
        if error.errno not in LINK_ERRORS:
            raise
        return ""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Set the whole path in an error; operations through handles only know the name."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise
