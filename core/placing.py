"""A folder of ours inside a host's directory: put in place, kept current, taken away.

A manifest in the folder says what was written there. A file that is not in it, or is
no longer as it was written, belongs to somebody else and is never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MANIFEST = ".hindnote.json"
"""Name of the manifest: which files were written, with their digests."""


Digests = dict[str, list[str]]
"""By file, relative to the folder: the digests it may have; two while it is replaced."""


class NotOurs(Exception):
    """Something is in the way that hindnote did not write. The message says what to do."""


@dataclass
class Place:
    """One folder and what is done to it.

    Args:
        folder: The folder; it need not exist.
        dry_run: Say what would be done, and do nothing.
    """

    folder: Path
    dry_run: bool = False

    def written(self) -> Digests | None:
        """Return which files were written, None when it is not installed.

        Raises:
            NotOurs: The manifest cannot be read.
        """
        try:
            told = json.loads((self.folder / MANIFEST).read_text("utf-8"))
            return {str(name): list(map(str, known)) for name, known in told["files"].items()}
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NotOurs(
                f"{self.folder / MANIFEST} is damaged; move {self.folder} away and install again"
            ) from None

    def changed(self) -> list[Path]:
        """Return the files that are no longer as they were written, missing ones included."""
        written = self.written() or {}
        return [self.folder / name for name in written if self._digest(name) not in written[name]]

    def _made(self) -> list[str]:
        """Return the folders around ours that were made with it, the innermost first."""
        try:
            told = json.loads((self.folder / MANIFEST).read_text("utf-8"))
            around = [str(parent) for parent in self.folder.parents]
            return [name for name in told.get("made", []) if name in around]
        except (FileNotFoundError, NotADirectoryError):
            return [str(parent) for parent in self.folder.parents if not parent.exists()]

    def put(self, files: Mapping[str, bytes]) -> Iterator[str]:
        """Make the folder hold these files; yield a line for each one touched.

        Args:
            files: Contents by path relative to the folder, ``/``-separated.

        Raises:
            NotOurs: The folder, or a file of these names, is somebody else's.
        """
        before = self._checked(files)
        made = self._made()
        wanted = {name: [_digest(data)] for name, data in files.items()}
        if before != wanted:
            # Whatever interrupts this, the next one knows old and new files for ours.
            both = {name: before.get(name, []) + wanted.get(name, []) for name in before | wanted}
            yield from self._write(MANIFEST, _manifest(both, made))
        for name, data in files.items():
            if self._digest(name) not in wanted[name]:
                yield from self._write(name, data)
        for name in before:
            if name not in files:
                yield from self._remove(name)
        if before not in (wanted, {}):
            self._store(MANIFEST, _manifest(wanted, made))

    def take_away(self) -> Iterator[str]:
        """Remove what was written and is unchanged; yield a line for each file looked at."""
        written = self.written()
        if written is None:
            return
        made = self._made()
        for name in sorted(written):
            if self._digest(name) in written[name]:
                yield from self._remove(name)
            elif self._digest(name) is not None:
                yield f"left {self.folder / name}: it was changed since hindnote wrote it"
        yield from self._remove(MANIFEST)
        if not self.dry_run:
            _prune(self.folder)
            if self.folder.exists():
                yield f"left {self.folder}: it holds files that hindnote did not write"
            else:
                _remove_empty(made)

    def _checked(self, files: Mapping[str, bytes]) -> Digests:
        """Return what was written before, having seen that nothing else is in the way."""
        if self.folder.is_symlink():
            raise NotOurs(f"{self.folder} is a link that hindnote did not make; remove it first")
        written = self.written()
        if written is None:
            if self.folder.exists():
                raise NotOurs(f"{self.folder} was not written by hindnote; move it away first")
            return {}
        for name in {*written, *files}:
            known = [None, *written.get(name, []), _digest(files.get(name, b""))]
            if self._digest(name) not in known:
                raise NotOurs(
                    f"{self.folder / name} is not as hindnote wrote it; move it away first"
                )
        return written

    def _digest(self, name: str) -> str | None:
        try:
            return _digest((self.folder / name).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _write(self, name: str, data: bytes) -> Iterator[str]:
        if self.dry_run:
            yield f"would write {self.folder / name}"
            return
        self._store(name, data)
        yield f"wrote {self.folder / name}"

    def _store(self, name: str, data: bytes) -> None:
        if self.dry_run:
            return
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
            stream.write(data)
        try:
            # A temporary file is its maker's alone; an installed one is read like any other.
            Path(stream.name).chmod(0o644)
            Path(stream.name).replace(path)
        except OSError:
            Path(stream.name).unlink(missing_ok=True)
            raise

    def _remove(self, name: str) -> Iterator[str]:
        path = self.folder / name
        if self.dry_run:
            yield f"would remove {path}"
            return
        if path.exists():
            path.unlink()
            yield f"removed {path}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _manifest(files: Digests, made: list[str]) -> bytes:
    told = {"files": dict(sorted(files.items())), "made": made}
    return (json.dumps(told, indent=2) + "\n").encode()


def _remove_empty(folders: list[str]) -> None:
    """Remove folders that hold nothing, the innermost first; stop at one in use."""
    for folder in folders:
        try:
            Path(folder).rmdir()
        except OSError:
            return


def _prune(folder: Path) -> None:
    """Remove the empty folders in ``folder``, and itself when nothing is left in it."""
    for below, _, _ in sorted(os.walk(folder), reverse=True):
        if not any(Path(below).iterdir()):
            Path(below).rmdir()
