"""List every way to read a printed line of a search as path, line number and text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SEPARATOR = "--"

_SPLIT = re.compile(r"(?=([:-])([1-9][0-9]{0,8})\1)")
_UNNAMED = re.compile(r"([1-9][0-9]{0,8})([:-])")
_PATH_LIMIT = 4096
_NAME_LIMIT = 255
"""Maximum length of a file name, in bytes."""

_CANDIDATES = 32
"""Maximum number of splits of one line, which limits the time per line."""


@dataclass(frozen=True, slots=True)
class Split:
    """One way to split a printed line."""

    path: str | None
    line: int
    match: bool
    start: int
    """Position of the text in the printed line."""


def is_spaced(printed: Sequence[str]) -> bool:
    """Return whether there is a space before each text, as Pi prints it now."""
    spaced = [bool(splits(line, spaced=True)) for line in printed]
    return any(spaced) and all(
        spaced[index] or not splits(line, spaced=False) for index, line in enumerate(printed)
    )


def splits(line: str, spaced: bool) -> list[Split]:
    """Return every way to split a printed line, shortest path first."""
    found = []
    for match in _SPLIT.finditer(line, 1, _PATH_LIMIT):
        split = _split(line, match, spaced)
        if split is None or not _can_be_a_path(line[: match.start()], spaced):
            continue
        found.append(split)
        if len(found) == _CANDIDATES:
            break
    return found


def named(line: str, name: str, spaced: bool) -> Split | None:
    """Return the split of a line after a known path; None if it does not begin with the path."""
    match = _SPLIT.match(line, len(name)) if line.startswith(name) else None
    return _split(line, match, spaced) if match else None


def unnamed(lines: Sequence[str]) -> list[Split | None] | None:
    """Return the splits of lines that begin with their number: one file, without its name."""
    found: list[Split | None] = []
    last = 0
    for line in lines:
        match = _UNNAMED.match(line)
        if line == SEPARATOR:
            found.append(None)
        elif match is None or int(match.group(1)) <= last:
            return None
        else:
            last = int(match.group(1))
            found.append(Split(None, last, match.group(2) == ":", match.end()))
    return found if any(split and split.match for split in found) else None


def _split(line: str, match: re.Match[str], spaced: bool) -> Split | None:
    mark, number = match.group(1, 2)
    start = match.start() + len(number) + 2
    if spaced and line[start : start + 1] != " ":
        return None
    return Split(line[: match.start()], int(number), mark == ":", start + spaced)


def _can_be_a_path(path: str, spaced: bool) -> bool:
    # Without the space, a time of day would look like a path.
    if not spaced and path.strip().isdigit():
        return False
    if path[-1] == "/" or "\0" in path:
        return False
    # Pi prints paths without empty segments.
    if spaced and "//" in path:
        return False
    return len(path) <= _NAME_LIMIT // 4 or all(
        len(name.encode()) <= _NAME_LIMIT for name in re.split(r"[/\\]", path)
    )
