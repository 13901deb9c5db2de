r"""Which file and line each printed line of a search belongs to.

``PATH:LINE: TEXT`` and ``PATH-LINE- TEXT`` cannot be split one by one, since paths
and texts may hold what looks like a separator. So every possible split of every
line is a candidate, and the cheapest reading of the whole result wins, found line
by line (the cost of a reading is the sum over its lines):

- going on in a block, the next line of the same file, costs nothing;
- a new block costs a little, a new file more;
- a line number that goes back within a file costs more than a new file, and a
  block without a match (only context) more than anything.

Where readings cost the same, a path that other lines could have too is preferred,
then one that looks like a file's name, then the shortest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

SEPARATOR = "--"

_SPLIT = re.compile(r"(?=([:-])([1-9][0-9]{0,8})\1)")
_UNNAMED = re.compile(r"([1-9][0-9]{0,8})([:-])")
_PATH_LIMIT = 4096
_CANDIDATES = 32
"""Splits of one line that are considered, so that no line takes more than its share."""

_NEW_BLOCK = 1_000
_NEW_FILE = 10_000
_GOES_BACK = 50_000
_NO_MATCH = 10_000_000
# Below a new block: these only decide between readings that are otherwise equal.
_ALONE = 200
_NO_FILE_NAME = 100


@dataclass(frozen=True, slots=True)
class Split:
    """One reading of a printed line."""

    path: str | None
    line: int
    match: bool
    start: int
    """Where the text begins in the printed line."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a whole result was read."""

    splits: tuple[Split | None, ...]
    """One per printed line; None for one that is no line of a file."""

    spaced: bool
    """Whether a blank stands before each text."""

    guessed: frozenset[int] = frozenset()
    """Lines that begin a file whose path could as well be another one."""


@dataclass(slots=True)
class _Step:
    """The cheapest reading of all lines up to one, given that line's split."""

    split: Split
    matched: bool
    """Whether the block that this line is in has a match so far."""

    cost: int
    before: _Step | None

    @property
    def final(self) -> int:
        """The cost if the block ends here."""
        return self.cost if self.matched else self.cost + _NO_MATCH


def resolve(lines: Sequence[str], name: str | None, *, context: bool) -> Reading | None:
    """Return the most consistent reading of a search's printed lines.

    Args:
        lines: The lines, separators included, without notices.
        name: The name of what was searched, when it is known: the only path there
            is if a single file was searched.
        context: Whether context lines may be there at all.

    Returns:
        None when not one line looks like a line of a file.
    """
    printed = [line for line in lines if line != SEPARATOR]
    spaced = _is_spaced(printed)
    if name and printed and all(_named(line, name, spaced) for line in printed):
        return Reading(tuple(_named(line, name, spaced) for line in lines), spaced)
    options = [_splits(line, spaced) if line != SEPARATOR else [] for line in lines]
    if not context and all(any(split.match for split in found) for found in options if found):
        options = [[split for split in found if split.match] for found in options]
    if not any(options):
        return _unnamed(lines)
    splits = _cheapest(options)
    return Reading(tuple(splits), spaced, frozenset(_guesses(splits, options)))


def _is_spaced(printed: Sequence[str]) -> bool:
    readable = [line for line in printed if _splits(line, spaced=False)]
    return bool(readable) and all(_splits(line, spaced=True) for line in readable)


def _splits(line: str, spaced: bool) -> list[Split]:
    """Return every way to read a printed line, the shortest path first."""
    found = []
    for match in _SPLIT.finditer(line, 1, _PATH_LIMIT):
        split = _split(line, match, spaced)
        # A time of day is no path, and neither is a folder.
        if (
            split is None
            or line[: match.start()].strip().isdigit()
            or line[match.start() - 1] == "/"
        ):
            continue
        found.append(split)
        if len(found) == _CANDIDATES:
            break
    return found


def _named(line: str, name: str, spaced: bool) -> Split | None:
    """Return the reading of a line under a known path, if it begins with it."""
    match = _SPLIT.match(line, len(name)) if line.startswith(name) else None
    return _split(line, match, spaced) if match else None


def _split(line: str, match: re.Match[str], spaced: bool) -> Split | None:
    mark, number = match.group(1, 2)
    start = match.start() + len(number) + 2
    if spaced and line[start : start + 1] != " ":
        return None
    return Split(line[: match.start()], int(number), mark == ":", start + spaced)


def _unnamed(lines: Sequence[str]) -> Reading | None:
    """Return the reading of lines that begin with their number: one file, not named."""
    splits: list[Split | None] = []
    last = 0
    for line in lines:
        match = _UNNAMED.match(line)
        if line == SEPARATOR:
            splits.append(None)
        elif match is None or int(match.group(1)) <= last:
            return None
        else:
            last = int(match.group(1))
            splits.append(Split(None, last, match.group(2) == ":", match.end()))
    return Reading(tuple(splits), spaced=False) if last else None


def _cheapest(options: Sequence[Sequence[Split]]) -> list[Split | None]:
    """Return the cheapest choice of one option per line."""
    support = Counter(split.path for found in options for split in found)
    steps: list[_Step] = []
    broken = False
    for found in options:
        if found:
            steps = _next_steps(steps, found, support, broken)
        # A separator, or a line in no known form, ends a block.
        broken = not found
    step: _Step | None = min(steps, key=lambda step: step.final)
    chain = []
    while step is not None:
        chain.append(step.split)
        step = step.before
    return [chain.pop() if found else None for found in options]


def _next_steps(
    steps: Sequence[_Step], found: Sequence[Split], support: Counter[str | None], broken: bool
) -> list[_Step]:
    """Return the cheapest ways to read one more line, two at most for each of its splits."""
    by_path: dict[str | None, list[_Step]] = {}
    for step in steps:
        by_path.setdefault(step.split.path, []).append(step)
    cheapest = min(steps, key=lambda step: step.final, default=None)
    before = cheapest.final if cheapest else 0
    following = []
    for rank, split in enumerate(found):
        entered = before + _NEW_FILE + _taste(split, support) + rank
        ways = [_Step(split, split.match, entered, cheapest)]
        for step in by_path.get(split.path, ()):
            if _goes_on(step.split, split) and not broken:
                ways.append(_Step(split, step.matched or split.match, step.cost, step))
            else:
                cost = step.final + _turn(step.split, split)
                ways.append(_Step(split, split.match, cost, step))
        for matched in (True, False):
            same = [way for way in ways if way.matched is matched]
            if same:
                following.append(min(same, key=lambda way: way.cost))
    return following


def _goes_on(last: Split, split: Split) -> bool:
    return split.line == last.line + 1


def _turn(last: Split, split: Split) -> int:
    """Return what a new block of the same file costs."""
    return _NEW_BLOCK if split.line > last.line else _GOES_BACK


def _taste(split: Split, support: Counter[str | None]) -> int:
    """Return what speaks against beginning a file with this path, all else being equal."""
    alone = _ALONE if support[split.path] == 1 else 0
    return alone + (0 if _looks_like_a_file(split.path or "") else _NO_FILE_NAME)


_EXTENSION = re.compile(r"\.[A-Za-z0-9_]{1,12}$")
_WORD = re.compile(r"^[A-Z][A-Za-z]*$")


def _looks_like_a_file(path: str) -> bool:
    """Return whether a path ends like a file's name: an extension, or a word like ``Makefile``."""
    name = re.split(r"[/\\]", path)[-1]
    return bool(_EXTENSION.search(name) or _WORD.match(name))


def _guesses(splits: Sequence[Split | None], options: Sequence[Sequence[Split]]) -> Iterable[int]:
    """Yield the first line of each file for which another path would be as consistent."""
    start = 0
    while start < len(splits):
        first = splits[start]
        stop = start + 1
        while first and stop < len(splits) and (more := splits[stop]) and more.path == first.path:
            stop += 1
        if first and _has_rival(first, splits[start:stop], options[start:stop]):
            yield start
        start = stop


def _has_rival(
    first: Split, splits: Sequence[Split | None], options: Sequence[Sequence[Split]]
) -> bool:
    rivals = {split.path for split in options[0]} - {first.path}
    ours = _cost_of([split for split in splits if split])
    for path in rivals:
        others = [split for found in options for split in found if split.path == path]
        if len(others) == len(splits) and _cost_of(others) <= ours:
            return True
    return False


def _cost_of(splits: Sequence[Split]) -> int:
    """Return what lines of one file cost as blocks."""
    cost, matched = 0, splits[0].match
    for last, split in pairwise(splits):
        if _goes_on(last, split):
            matched = matched or split.match
        else:
            cost += _turn(last, split) + (0 if matched else _NO_MATCH)
            matched = split.match
    return cost + (0 if matched else _NO_MATCH)
