"""Check a notes home: links, names, encodings, frontmatter, leftover files, locks.

Lists folders and reads files directly instead of through the store, so that it also finds what the
store ignores.
"""

from __future__ import annotations

import fcntl
import os
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hindnote.core.doctor.findings import Finding, Level, can_write
from hindnote.core.fs import handles
from hindnote.core.fs.atomic import TEMPORARY_SUFFIX
from hindnote.core.fs.names import same_elsewhere
from hindnote.core.fs.state import STATE
from hindnote.core.notes.address import SUFFIX, segment_problem
from hindnote.core.notes.note import READ_LIMIT, Note
from hindnote.core.text import clean

DEAD_SECONDS = 60.0
"""Age in seconds from which a temporary file is a leftover; a write takes far less."""


def examine_home(home: Path) -> Iterator[Finding]:
    """Check a notes home and every note in it. Nothing is written."""
    subject = f"notes home {home}"
    if not os.path.lexists(home):
        yield _not_yet(home, subject)
        return
    if not home.is_dir():
        yield Finding(
            "error", subject, "is no directory", "move it away, or set HINDNOTE_HOME to a directory"
        )
        return
    walk = _Examination(home.resolve())
    yield from walk.run()
    yield from _locks(home / STATE)
    if not can_write(home):
        yield Finding("error", subject, "cannot be written", "give yourself the right to write")
    yield Finding("ok", subject, f"holds {walk.notes} {'note' if walk.notes == 1 else 'notes'}")


def _not_yet(home: Path, subject: str) -> Finding:
    """Report a home that does not exist yet, and whether it can be created."""
    above = next(folder for folder in home.parents if os.path.lexists(folder))
    if above.is_dir() and can_write(above):
        return Finding("ok", subject, "does not exist yet; the first note makes it")
    told = f"does not exist, and cannot be made in {above}"
    return Finding("error", subject, told, "make it, or set HINDNOTE_HOME to another directory")


@dataclass
class _Examination:
    home: Path
    notes: int = 0

    def run(self) -> Iterator[Finding]:
        folders = [self.home]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(folder) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError as error:
                yield _about(folder, f"cannot be listed: {error.strerror}", "check its permissions")
                continue
            yield from _collisions(folder, [entry.name for entry in entries])
            for entry in entries:
                path = folder / entry.name
                if entry.name.startswith("."):
                    yield from _leftover(path)
                elif entry.is_symlink():
                    yield from _link(self.home, path)
                elif entry.is_dir(follow_symlinks=False):
                    yield from _name(path)
                    folders.append(path)
                elif entry.name.endswith(SUFFIX):
                    self.notes += 1
                    yield from _name(path)
                    yield from _note(path)


def _collisions(folder: Path, names: list[str]) -> Iterator[Finding]:
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[same_elsewhere(name)].append(name)
    for several in alike.values():
        if len(several) > 1:
            yield _about(
                folder,
                f"holds names that are one name on other systems: {', '.join(several)}",
                "rename all but one of them",
            )


def _name(path: Path) -> Iterator[Finding]:
    problem = segment_problem(unicodedata.normalize("NFC", clean(path.name)))
    if problem:
        yield _about(path, f"cannot be addressed: {problem}", "rename it", level="warning")


def _leftover(path: Path) -> Iterator[Finding]:
    if not path.name.endswith(TEMPORARY_SUFFIX):
        return
    try:
        age = time.time() - path.lstat().st_mtime
    except OSError:
        return
    if age > DEAD_SECONDS:
        yield _about(
            path,
            "was left by a writer that was killed",
            "the next write into its folder cleans it up",
            level="warning",
        )


def _link(home: Path, path: Path) -> Iterator[Finding]:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        yield _about(path, "is a link that leads nowhere", "remove it", level="warning")
        return
    if not target.is_relative_to(home):
        yield _about(
            path,
            f"is a link out of the notes home, to {target}; it is neither listed nor read",
            "move what it names into the home, or remove the link",
        )


def _note(path: Path) -> Iterator[Finding]:
    try:
        with handles.closing(handles.open_root(path.parent)) as folder:
            text = handles.read_file(folder, path.name, READ_LIMIT)[0].decode()
    except handles.TooLargeError as error:
        yield _about(path, f"has {error.size:,} bytes, too many to be read", "split it")
        return
    except handles.NotRegularError:
        yield _about(path, "is not a regular file, so it is no note", "move it away")
        return
    except UnicodeDecodeError as error:
        yield _about(path, f"is not UTF-8 (at byte {error.start})", "convert it to UTF-8")
        return
    except OSError as error:
        yield _about(path, f"cannot be read: {error.strerror}", "check its permissions")
        return
    problem = Note.parse(text).error
    if problem:
        yield _about(
            path,
            f"has frontmatter that cannot be read: {problem}",
            "correct it by hand; until then its metadata cannot be changed",
        )


def _locks(state: Path) -> Iterator[Finding]:
    """Report locks that are in use now; the system releases a lock when its process ends."""
    for path in sorted((state / "locks").glob("*.lock")):
        try:
            with handles.closing(handles.open_root(path.parent)) as folder:
                handle, _ = handles.open_file(folder, path.name)
            with handles.closing(handle):
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except handles.NotRegularError:
            yield _about(path, "is not a regular file, so it is no lock", "remove it")
        except BlockingIOError:
            yield _about(
                path,
                "is held by a process that runs",
                "if no agent is writing, look for a stopped process that has it open",
                level="warning",
            )
        except OSError as error:
            yield _about(path, f"cannot be opened: {error.strerror}", "check its permissions")


def _about(path: Path, message: str, advice: str, *, level: Level = "error") -> Finding:
    return Finding(level, clean(str(path)), clean(message), advice)
