"""The look at a notes home: links, names, encodings, frontmatter and leftovers."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from hindnote.core.doctor import Finding, can_write
from hindnote.core.text import clean

STORE = ".hindnote"
"""Folder of what the store keeps beside the notes."""


def examine_home(home: Path) -> Iterator[Finding]:
    """Look at a notes home and every note in it. Nothing is written."""
    subject = f"notes home {home}"
    if not os.path.lexists(home):
        yield Finding("ok", subject, "does not exist yet; the first note makes it")
        return
    if not home.is_dir():
        yield Finding(
            "error", subject, "is no directory", "move it away, or set HINDNOTE_HOME to a directory"
        )
        return
    notes = 0
    wrong = 0
    for finding in _walk(home.resolve()):
        if finding is None:
            notes += 1
            continue
        wrong += finding.level == "error"
        yield finding
    if not can_write(home):
        yield Finding("error", subject, "cannot be written", "give yourself the right to write")
    yield Finding("ok", subject, f"{notes} notes, {wrong} of them or of their folders in trouble")


def _walk(home: Path) -> Iterator[Finding | None]:
    """Yield what is wrong below ``home``, and None for each note."""
    folders = [home]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            yield _about(folder, f"cannot be listed: {error.strerror}", "check its permissions")
            continue
        entries = [entry for entry in entries if not entry.name.startswith(".")]
        yield from _collisions(folder, [entry.name for entry in entries])
        for entry in entries:
            path = folder / entry.name
            if entry.is_symlink():
                yield from _link(home, path)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.name.endswith(".md"):
                yield None
                yield from _note(path)


def _collisions(folder: Path, names: list[str]) -> Iterator[Finding]:
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[unicodedata.normalize("NFC", name).casefold()].append(name)
    for several in alike.values():
        if len(several) > 1:
            yield _about(
                folder,
                f"holds names that are one name on other systems: {', '.join(several)}",
                "rename all but one of them",
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
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        yield _about(
            path, f"is not UTF-8 (byte {error.start}), so it cannot be read", "convert it to UTF-8"
        )
        return
    except OSError as error:
        yield _about(path, f"cannot be read: {error.strerror}", "check its permissions")
        return
    del text


def _about(path: Path, message: str, advice: str, *, level: str = "error") -> Finding:
    return Finding("warning" if level == "warning" else "error", clean(str(path)), message, advice)
