"""A folder of ours inside a host's directory: put in place, kept current, taken away.

A manifest in the folder says what was written there. A file that is not in it, or is
no longer as it was written, belongs to somebody else and is never touched.

Everything below the folder is reached through one handle and never through a link, so a
folder that is exchanged for a link meanwhile leads nowhere else.
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
"""Usual name of the manifest: which files were written, with their digests."""

MANIFEST_LIMIT = 1024 * 1024
"""Bytes of a manifest that are read at most; ours have a few thousand."""

FILE_LIMIT = 16 * 1024 * 1024
"""Bytes of an installed file that are read at most; a larger one is not ours."""

_UNFINISHED = ".hindnote-"
"""What the name of a file begins with while it is written; whatever interrupts that leaves it."""

FOREIGN = "was not written by hindnote, or was changed before it was uninstalled"
"""What is known of a folder in our place that has no manifest."""


class NotOurs(Exception):
    """Something is in the way that hindnote did not write. The message says what to do."""


@dataclass
class ManagedFolder:
    """One folder and what is done to it.

    Args:
        folder: The folder, absolute; it need not exist.
        names: Matches the whole name of every file that this hindnote or an older one writes
            there, relative to the folder, ``/``-separated. A manifest that names others is
            refused as a whole.
        dry_run: Say what would be done, and do nothing.
        manifest: Name of the manifest in the folder.
        top: For a folder in a tree that others may have written: the upper end of that tree.
            No link is followed below it, and neither it nor a folder around it is ever made or
            removed. None: the folder lies in the person's own configuration, on the way to which
            links are the person's and are followed; the folder itself may still be none.
    """

    folder: Path
    names: re.Pattern[str]
    dry_run: bool = False
    manifest: str = MANIFEST
    top: Path | None = None
    _gone: set[Path] = field(default_factory=set)
    """What was removed, or would have been."""

    def written(self) -> Record | None:
        """Return what is installed there, None when nothing is.

        Raises:
            NotOurs: The folder is a link, or its manifest cannot be taken for hindnote's.
        """
        with self._opened(self.folder) as there:
            return self._record(there)

    def is_taken(self) -> bool:
        """Return whether something of somebody else's is there; an empty folder is nobody's.

        Raises:
            NotOurs: The manifest cannot be taken for hindnote's.
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
        """Return the files that are no longer as they were written, missing ones included."""
        with self._opened(self.folder) as there:
            record = self._record(there)
            known = record.files if record else {}
            return [
                self.folder / name for name in known if _digest_at(there, name) not in known[name]
            ]

    def holds(self, files: Mapping[str, bytes]) -> bool:
        """Return whether these files are there with these contents."""
        with self._opened(self.folder) as there:
            return all(_digest_at(there, name) == _digest(data) for name, data in files.items())

    def wrote(self, files: Mapping[str, bytes]) -> bool:
        """Return whether exactly these contents were written there, whatever was changed since.

        Raises:
            NotOurs: The manifest cannot be taken for hindnote's.
        """
        record = self.written()
        return record is not None and record.files == {
            name: [_digest(data)] for name, data in files.items()
        }

    def put(
        self, files: Mapping[str, bytes], facts: Mapping[str, str] | None = None
    ) -> Iterator[str]:
        """Make the folder hold these files; yield a line for each one touched.

        Args:
            files: Contents by path relative to the folder, ``/``-separated.
            facts: What else the manifest is to tell.

        Raises:
            NotOurs: The folder, or a file of these names, is somebody else's.
        """
        with self._opened(self.folder) as there:
            before = self._checked(there, files)
        wanted = {name: [_digest(data)] for name, data in files.items()}
        after = Record(wanted, before.made if before else self._missing(), dict(facts or {}))
        if before is None:
            yield from self._make_around()
        with self._opened(self.folder) as there:
            # Looked at again through the handle that is written through: another folder may
            # have come into this place.
            self._checked(there, files)
            yield from self._fill(there, files, before, after)

    def take_away(self) -> Iterator[str]:
        """Remove what was written and is unchanged; yield a line for each file looked at.

        Raises:
            NotOurs: The folder is a link, or its manifest cannot be taken for hindnote's.
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

    # -- looking -----------------------------------------------------------------

    @contextmanager
    def _opened(self, folder: Path) -> Iterator[int | None]:
        """Open the folder or one around it; None when there is none.

        Raises:
            NotOurs: It is a link where none may be.
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
        """Return what is installed, having seen that nothing else is in the way."""
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
        """Return whether anything is in a folder that is there to stay."""
        return any(path / name not in self._gone for name in names_in(folder))

    # -- the folder and those around it --------------------------------------------

    def _around(self) -> list[Path]:
        """Return the folder and those around it that may be made for it, from the inside out."""
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
        """Remove the folder and those around it that hold nothing.

        Args:
            there: Handle of the folder; what has come into its place since stays.
            folders: What was made for it, from the inside out.
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

    # -- files and folders in it -----------------------------------------------------

    def _fill(
        self, there: int | None, files: Mapping[str, bytes], before: Record | None, after: Record
    ) -> Iterator[str]:
        if before is None:
            yield from self._write(there, self.manifest, after.encoded())
        elif before.files != after.files:
            # Whatever interrupts this, the next one knows old and new files for ours.
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
        """Remove an installation that ended while its manifest was written."""
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
        """Remove a folder that is there when it holds nothing."""
        with closing(open_below(parent, [folder.name])) as handle:
            if self._holds_more(handle, folder):
                return
        self._gone.add(folder)
        if not self.dry_run:
            # Never removes what holds something, and never a link.
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
                # An installed file is read like any other, whatever the umask.
                handle = os.open(temporary, CREATE, 0o644, dir_fd=folder)
                with os.fdopen(handle, "wb") as stream:
                    os.fchmod(handle, 0o644)
                    stream.write(data)
                os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                remove(folder, temporary)
                raise

    def _take_file(self, there: int, name: str, known: list[str]) -> Iterator[str]:
        """Remove a file that is as it was written."""
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
        """Remove what was being written in one of the folders when a process was killed."""
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
    """Return the folders between ours and these files, from the inside out."""
    inner = {str(folder) for name in names for folder in PurePosixPath(name).parents} - {"."}
    return sorted(inner, reverse=True)


def _folder_in(there: int, name: str) -> bool:
    """Return whether a folder of this name is there, and no link on the way to it."""
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
    """Return the digest of a file; None when there is none, empty for what is no file of ours."""
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
    """Let an error name the whole path; what happens through handles knows names alone."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise
