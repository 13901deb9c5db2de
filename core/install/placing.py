"""A folder of ours inside a host's directory: put in place, kept current, taken away.

A manifest in the folder says what was written there. A file that is not in it, or is
no longer as it was written, belongs to somebody else and is never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

MANIFEST = ".hindnote.json"
"""Usual name of the manifest: which files were written, with their digests."""

_UNFINISHED = ".hindnote-"
"""What the name of a file begins with while it is written; whatever interrupts that leaves it."""

Digests = dict[str, list[str]]
"""By file, relative to the folder: the digests it may have; two while it is replaced."""


FOREIGN = "was not written by hindnote, or was changed before it was uninstalled"
"""What is known of a folder in our place that has no manifest."""


class NotOurs(Exception):
    """Something is in the way that hindnote did not write. The message says what to do."""


@dataclass(frozen=True)
class Record:
    """What the manifest tells of an installation."""

    files: Digests
    made: list[str]
    """The folder and those around it that were made for it, relative to it, from the inside out."""

    facts: dict[str, str]
    """What else the host wants to know of it."""

    def encoded(self) -> bytes:
        """Return the bytes of the manifest."""
        told = {**self.facts, "files": dict(sorted(self.files.items())), "made": self.made}
        return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()

    @classmethod
    def decoded(cls, data: bytes) -> Record:
        """Return what a manifest tells.

        Raises:
            ValueError: It is none.
        """
        try:
            told = json.loads(data)
            files = {str(name): list(map(str, known)) for name, known in told.pop("files").items()}
            made = list(map(str, told.pop("made")))
            return cls(files, made, {str(name): str(fact) for name, fact in told.items()})
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError("no manifest") from error


@dataclass
class Place:
    """One folder and what is done to it.

    Args:
        folder: The folder; it need not exist.
        dry_run: Say what would be done, and do nothing.
        manifest: Name of the manifest in the folder.
    """

    folder: Path
    dry_run: bool = False
    manifest: str = MANIFEST
    _gone: set[Path] = field(default_factory=set)
    """What was removed, or would have been."""

    def written(self) -> Record | None:
        """Return what is installed there, None when nothing is.

        Raises:
            NotOurs: The manifest cannot be read.
        """
        path = self.folder / self.manifest
        try:
            return Record.decoded(path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError:
            raise NotOurs(f"{path} is damaged; move {self.folder} away and install again") from None

    def is_taken(self) -> bool:
        """Return whether something of somebody else's is there; an empty folder is nobody's."""
        if self.written() is not None or not os.path.lexists(self.folder):
            return False
        if self.folder.is_symlink() or not self.folder.is_dir():
            return True
        return any(not path.name.startswith(_UNFINISHED) for path in self.folder.iterdir())

    def changed(self) -> list[Path]:
        """Return the files that are no longer as they were written, missing ones included."""
        record = self.written()
        written = record.files if record else {}
        return [
            self.folder / name for name in written if self._digest_of(name) not in written[name]
        ]

    def holds(self, files: Mapping[str, bytes]) -> bool:
        """Return whether these files are there with these contents."""
        return all(self._digest_of(name) == _digest(data) for name, data in files.items())

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
        before = self._checked(files)
        wanted = {name: [_digest(data)] for name, data in files.items()}
        after = Record(wanted, before.made if before else self._missing(), dict(facts or {}))
        if before is None:
            yield from self._make(reversed(self._around()))
            yield from self._write(self.manifest, after.encoded())
        elif before.files != wanted:
            # Whatever interrupts this, the next one knows old and new files for ours.
            known = before.files
            both = {name: known.get(name, []) + wanted.get(name, []) for name in known | wanted}
            self._store(self.manifest, replace(before, files=both).encoded())
        yield from self._make(reversed(self._inner(files)))
        for name, data in files.items():
            if self._digest_of(name) not in wanted[name]:
                yield from self._write(name, data)
        if before is not None:
            stale = [name for name in before.files if name not in files]
            for name in stale:
                yield from self._remove(name)
            yield from self._remove_folders(self._inner(stale))
            if before != after:
                yield from self._write(self.manifest, after.encoded())

    def take_away(self) -> Iterator[str]:
        """Remove what was written and is unchanged; yield a line for each file looked at."""
        record = self.written()
        if record is None:
            yield from self._take_away_started()
            return
        for name in sorted(record.files):
            if self._digest_of(name) in record.files[name]:
                yield from self._remove(name)
            elif self._digest_of(name) is not None:
                yield f"left {self.folder / name}: it was changed since hindnote wrote it"
        inner = self._inner(record.files)
        for folder in (*inner, self.folder):
            yield from self._remove_unfinished(folder)
        yield from self._remove_folders(inner)
        yield from self._remove(self.manifest)
        if self._holds_more(self.folder):
            yield f"left {self.folder}: it holds files that hindnote did not write"
        yield from self._remove_folders(
            [folder for folder in self._around() if self._relative(folder) in record.made]
        )

    def _take_away_started(self) -> Iterator[str]:
        """Remove an installation that ended while its manifest was written."""
        if self.is_taken():
            return
        removed = list(self._remove_unfinished(self.folder))
        if removed:
            yield from removed
            yield from self._remove_folders([self.folder])

    def _checked(self, files: Mapping[str, bytes]) -> Record | None:
        """Return what is installed, having seen that nothing else is in the way."""
        record = self.written()
        if record is None:
            if self.folder.is_symlink():
                raise NotOurs(
                    f"{self.folder} is a link that hindnote did not make; remove it first"
                )
            if self.is_taken():
                raise NotOurs(f"{self.folder} {FOREIGN}; move it away first")
            return None
        for name in sorted({*record.files, *files}):
            known = [None, *record.files.get(name, []), _digest(files.get(name, b""))]
            if self._digest_of(name) not in known:
                raise NotOurs(
                    f"{self.folder / name} is not as hindnote wrote it; move it away first"
                )
        return record

    # -- folders -----------------------------------------------------------------

    def _around(self) -> list[Path]:
        """Return the folder and all that it lies in, from the inside out."""
        return [self.folder, *self.folder.parents]

    def _relative(self, folder: Path) -> str:
        return os.path.relpath(folder, self.folder)

    def _missing(self) -> list[str]:
        return [self._relative(folder) for folder in self._around() if not folder.exists()]

    def _inner(self, names: Iterable[str]) -> list[Path]:
        """Return the folders between ours and these files, from the inside out."""
        inner = {folder for name in names for folder in Path(name).parents} - {Path()}
        return [self.folder / folder for folder in sorted(inner, reverse=True)]

    def _make(self, folders: Iterable[Path]) -> Iterator[str]:
        for folder in folders:
            if not folder.exists():
                if not self.dry_run:
                    folder.mkdir()
                yield f"{'would make' if self.dry_run else 'made'} {folder}"

    def _holds_more(self, folder: Path) -> bool:
        """Return whether anything is in a folder that is there to stay."""
        return folder.is_dir() and any(path not in self._gone for path in folder.iterdir())

    def _remove_folders(self, folders: Iterable[Path]) -> Iterator[str]:
        """Remove the folders that hold nothing."""
        for folder in folders:
            if folder.is_dir() and not folder.is_symlink() and not self._holds_more(folder):
                yield self._removed(folder, folder.rmdir)

    # -- files -------------------------------------------------------------------

    def _digest_of(self, name: str) -> str | None:
        """Return the digest of a file; None when there is none, empty for what is no file."""
        path = self.folder / name
        try:
            return _digest(path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return "" if path.is_symlink() else None
        except IsADirectoryError:
            return ""

    def _write(self, name: str, data: bytes) -> Iterator[str]:
        self._store(name, data)
        yield f"{'would write' if self.dry_run else 'wrote'} {self.folder / name}"

    def _store(self, name: str, data: bytes) -> None:
        if self.dry_run:
            return
        path = self.folder / name
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=_UNFINISHED, delete=False
        ) as stream:
            temporary = Path(stream.name)
            try:
                stream.write(data)
                stream.flush()
                # A temporary file is its maker's alone; an installed one is read like any other.
                temporary.chmod(0o644)
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise

    def _remove(self, name: str) -> Iterator[str]:
        path = self.folder / name
        if path.exists():
            yield self._removed(path, path.unlink)

    def _remove_unfinished(self, folder: Path) -> Iterator[str]:
        for path in sorted(folder.glob(f"{_UNFINISHED}*")):
            if path.is_file():
                yield self._removed(path, path.unlink)

    def _removed(self, path: Path, remove: Callable[[], None]) -> str:
        self._gone.add(path)
        if self.dry_run:
            return f"would remove {path}"
        # A person may be taking the same away.
        with suppress(FileNotFoundError):
            remove()
        return f"removed {path}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
