r"""Determine the file and line to which each printed line of a search belongs.

``PATH:LINE: TEXT`` and ``PATH-LINE- TEXT`` cannot be split line by line, since paths and texts may
contain what looks like a separator. So every possible split of every line is a candidate, and the
reading of the whole result with the lowest cost is found by dynamic programming (the cost of a
reading is the sum over its lines):

- continuing a block with the next line of the same file costs nothing;
- a new block costs a little, a new file more;
- output that the search would not print costs most: a line number that goes back, a block
  without a match, more or fewer lines around a match than requested, a match without the
  searched text, a file that was not requested.

Among readings with equal costs, a path that other lines may have too is preferred, then one that
looks like a file name, then the shortest. A path that could be replaced by another one at no cost
is marked as a guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hindnote.core.presentation.query import Query
from hindnote.core.presentation.splits import (
    SEPARATOR,
    Split,
    is_spaced,
    named,
    splits,
    unnamed,
)

CUT = "... [truncated]"

# The costs that make one reading more likely than another. Preferences, below one unit, decide
# between readings that are otherwise equal.
_UNIT = 1_000_000
_NEW_BLOCK = _UNIT
_NEW_FILE = 10 * _UNIT
_GOES_BACK = 50 * _UNIT
_WRONG_CONTEXT = 50 * _UNIT
_WRONG_TEXT = 100 * _UNIT
_WRONG_FILE = 100 * _UNIT
_UNREAD = 100 * _UNIT
_NO_MATCH = 10_000 * _UNIT
_ALONE = 200
_NO_FILE_NAME = 100

_STATES = 6
"""Maximum number of states that are followed for one split."""

_FAR = 1 << 60


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of a whole result."""

    splits: tuple[Split | None, ...]
    """One per printed line; None for a line that does not belong to a file."""

    spaced: bool
    """Whether there is a space before each text."""

    guessed: frozenset[int] = frozenset()
    """Lines that could equally belong to another file."""


def resolve(lines: Sequence[str], query: Query) -> Reading | None:
    """Return the most consistent reading of a search's printed lines.

    Args:
        lines: The lines, separators included, without notices.
        query: The known facts about the search.

    Returns:
        None when no line looks like a line of a file.
    """
    spaced = is_spaced([line for line in lines if line != SEPARATOR])
    best = _best(lines, query, spaced)
    alone = None if spaced else unnamed(lines)
    # Old results have no space there, but their texts may all begin with one.
    doubtful = spaced and best is not None and (best.strained or best.divisible)
    old = _best(lines, query, spaced=False) if doubtful else None
    if best and old and old.units < best.units:
        best, old, spaced = old, None, False
    for blank in (spaced, False) if query.name else ():
        only = _only(lines, query, blank)
        if only and (best is None or alone or only.units <= best.units):
            return Reading(tuple(only.chosen()), blank)
    if alone or best is None:
        return Reading(tuple(alone), spaced) if alone else None
    chosen = best.chosen()
    guessed = set(best.rivals(chosen))
    if old and old.units <= best.units:
        guessed.update(set(old.rivals(chosen)).intersection(best.divided()))
    return Reading(tuple(chosen), spaced, frozenset(guessed))


def _best(lines: Sequence[str], query: Query, spaced: bool) -> _Readings | None:
    options = [splits(line, spaced) if line != SEPARATOR else [] for line in lines]
    if query.context == 0 and all(
        any(split.match for split in found) for found in options if found
    ):
        options = [[split for split in found if split.match] for found in options]
    return _Readings(lines, options, query) if any(options) else None


def _only(lines: Sequence[str], query: Query, spaced: bool) -> _Readings | None:
    """Return the reading in which all lines belong to the one file that was searched."""
    name = query.name or ""
    found = [named(line, name, spaced) if line != SEPARATOR else None for line in lines]
    if not all(split or line == SEPARATOR for split, line in zip(found, lines, strict=True)):
        return None
    return _Readings(lines, [[split] if split else [] for split in found], query)


@dataclass(frozen=True, slots=True)
class _State:
    """A way to read a line: its split, and the position in its block."""

    rank: int
    """Index of the split among the line's splits."""

    matched: bool
    """Whether the block has a match so far."""

    distance: int
    """Number of lines since that match, or since the block began; 0 where it does not matter."""


@dataclass(slots=True)
class _Line:
    """A printed line with all its possible splits."""

    found: list[Split]
    fixed: list[int]
    """Cost of each split that does not depend on its surroundings."""

    taste: list[int]
    """Preference cost of beginning a file with each split."""

    broken: bool
    """Whether the line before it is a separator or unreadable."""

    costs: dict[_State, int]
    """Lowest cost of reaching each state."""

    before: dict[_State, _State | None]


class _Readings:
    """All readings of a result that are considered."""

    def __init__(
        self, lines: Sequence[str], options: Sequence[Sequence[Split]], query: Query
    ) -> None:
        self._query = query
        self._options = options
        self._lines: list[_Line] = []
        support = Counter(split.path for found in options for split in found)
        last_readable = max(index for index, found in enumerate(options) if found)
        # After the last match that the limit allows, further matches are shown as context.
        late = last_readable - (query.context or 0) if query.limited else last_readable
        broken = False
        for index, found in enumerate(options):
            if found:
                fixed = [self._fixed(lines[index], split, index > late) for split in found]
                taste = [_taste(split, support) + rank for rank, split in enumerate(found)]
                self._lines.append(_Line(list(found), fixed, taste, broken, {}, {}))
                self._follow()
            broken = not found
        self._ends = {
            state: cost + (0 if query.unfinished else self._final(state))
            for state, cost in self._lines[-1].costs.items()
        }
        self.total = min(self._ends.values())
        self._unread = sum(
            not found and line != SEPARATOR for found, line in zip(options, lines, strict=True)
        )

    @property
    def units(self) -> int:
        """Cost of the cheapest reading in units, without preferences."""
        return (self.total + _UNREAD * self._unread) // _UNIT

    @property
    def strained(self) -> bool:
        """Whether even the cheapest reading contains something that a search would not print."""
        chain = [split for split in self.chosen() if split]
        cost = _NEW_FILE + sum(
            _NEW_FILE if split.path != last.path else _NEW_BLOCK * (split.line != last.line + 1)
            for last, split in pairwise(chain)
        )
        return self.total // _UNIT > cost // _UNIT

    @property
    def divisible(self) -> bool:
        """Whether a path contains a separator that would count if no space were required."""
        return next(self.divided(), None) is not None

    def divided(self) -> Iterator[int]:
        """Yield the lines with such a path."""
        paths = {split.path for split in self.chosen() if split and split.path}
        divided = {path for path in paths if splits(path, spaced=False)}
        for index, split in enumerate(self.chosen()):
            if split and split.path in divided:
                yield index

    def chosen(self) -> list[Split | None]:
        """Return the cheapest reading."""
        state: _State | None = min(self._ends, key=self._ends.__getitem__)
        chain = []
        for line in reversed(self._lines):
            assert state is not None
            chain.append(line.found[state.rank])
            state = line.before[state]
        return [chain.pop() if found else None for found in self._options]

    def rivals(self, chosen: Sequence[Split | None]) -> Iterator[int]:
        """Yield the lines for which another path would cost no more than the chosen one."""
        places = [index for index, found in enumerate(self._options) if found]
        left = {state: cost - self._lines[-1].costs[state] for state, cost in self._ends.items()}
        for index in range(len(self._lines) - 1, -1, -1):
            line = self._lines[index]
            ours = chosen[places[index]]
            if len(line.found) > 1 and any(
                (cost + left.get(state, _FAR)) // _UNIT <= self.total // _UNIT
                for state, cost in line.costs.items()
                if ours and line.found[state.rank].path != ours.path
            ):
                yield places[index]
            if index:
                left = self._left(self._lines[index - 1], line, left)

    def _fixed(self, line: str, split: Split, late: bool) -> int:
        """Return the cost of a split that does not depend on its surroundings."""
        cost = 0
        text = line[split.start :]
        if not text.endswith(CUT):
            holds = self._query.holds(text)
            if holds is not None and holds is not split.match and not (late and holds):
                cost += _WRONG_TEXT
        glob = self._query.glob
        if glob and not glob.match(re.split(r"[/\\]", split.path or "")[-1]):
            cost += _WRONG_FILE
        return cost

    def _follow(self) -> None:
        """Find the cheapest ways to read one more line."""
        line = self._lines[-1]
        if len(self._lines) == 1:
            for rank in range(len(line.found)):
                state, cost = self._enter(line, rank)
                line.costs[state], line.before[state] = cost, None
            return
        last = self._lines[-2]
        ends = _two_cheapest(
            (cost + self._final(state), last.found[state.rank].path, state)
            for state, cost in last.costs.items()
        )
        by_path: dict[str | None, list[_State]] = {}
        for state in last.costs:
            by_path.setdefault(last.found[state.rank].path, []).append(state)
        for rank, split in enumerate(line.found):
            ways: dict[_State, tuple[int, _State]] = {}
            state, cost = self._enter(line, rank)
            for end, path, before in ends:
                if path != split.path:
                    ways[state] = end + cost, before
                    break
            for before in by_path.get(split.path, ()):
                state, cost = self._go_on(last, before, line, rank)
                cost += last.costs[before]
                if state not in ways or cost < ways[state][0]:
                    ways[state] = cost, before
            for state in sorted(ways, key=lambda state: ways[state][0])[:_STATES]:
                line.costs[state], line.before[state] = ways[state]

    def _left(self, last: _Line, line: _Line, left: dict[_State, int]) -> dict[_State, int]:
        """Return the remaining cost from each state of a line, given that of the next line."""
        entries = []
        for rank, split in enumerate(line.found):
            state, cost = self._enter(line, rank)
            if state in left:
                entries.append((cost + left[state], split.path, state))
        entries = list(_two_cheapest(entries))
        ranks: dict[str | None, list[int]] = {}
        for rank, split in enumerate(line.found):
            ranks.setdefault(split.path, []).append(rank)
        remaining = {}
        for state in last.costs:
            path = last.found[state.rank].path
            costs = [self._final(state) + cost for cost, other, _ in entries if other != path][:1]
            for rank in ranks.get(path, ()):
                following, cost = self._go_on(last, state, line, rank)
                if following in left:
                    costs.append(cost + left[following])
            remaining[state] = min(costs, default=_FAR)
        return remaining

    def _enter(self, line: _Line, rank: int) -> tuple[_State, int]:
        """Return the state of a line that begins a file, and its cost."""
        state, cost = self._begin(line.found[rank], rank)
        return state, _NEW_FILE + line.taste[rank] + line.fixed[rank] + cost

    def _begin(self, split: Split, rank: int) -> tuple[_State, int]:
        around = self._query.context
        if split.match:
            return _State(rank, True, 0), self._lead(split, 0)
        return _State(rank, False, 0 if around is None else 1), 0

    def _lead(self, match: Split, shown: int) -> int:
        """Return the cost of a block's first match with this many lines before it."""
        around = self._query.context
        if around is None or shown == min(around, match.line - 1):
            return 0
        return _WRONG_CONTEXT

    def _go_on(self, last: _Line, state: _State, line: _Line, rank: int) -> tuple[_State, int]:
        """Return the state of a line in the same file as the previous one, and its cost."""
        before, split = last.found[state.rank], line.found[rank]
        around = self._query.context
        if split.line != before.line + 1 or line.broken:
            following, cost = self._begin(split, rank)
            cost += _NEW_BLOCK if split.line > before.line else _GOES_BACK
            cost += self._final(state)
            # Only the end of a file can leave fewer lines after a match.
            if around is not None and state.matched and state.distance < around:
                cost += _WRONG_CONTEXT
            return following, cost + line.fixed[rank]
        distance = state.distance + 1 if around is not None else 0
        cost = line.fixed[rank]
        if split.match:
            cost += 0 if state.matched else self._lead(split, state.distance)
            return _State(rank, True, 0), cost
        if around is not None and distance > (2 * around if state.matched else around):
            cost += _WRONG_CONTEXT
        return _State(rank, state.matched, distance), cost

    def _final(self, state: _State) -> int:
        """Return the cost of ending a block here."""
        if not state.matched:
            return _NO_MATCH
        around = self._query.context
        return _WRONG_CONTEXT if around is not None and state.distance > around else 0


def _two_cheapest(
    ways: Iterable[tuple[int, str | None, _State]],
) -> list[tuple[int, str | None, _State]]:
    """Return the cheapest way, and the cheapest way with another path."""
    cheapest: dict[str | None, tuple[int, str | None, _State]] = {}
    for way in ways:
        held = cheapest.get(way[1])
        if held is None or way[0] < held[0]:
            cheapest[way[1]] = way
    return sorted(cheapest.values(), key=lambda way: way[0])[:2]


def _taste(split: Split, support: Counter[str | None]) -> int:
    alone = _ALONE if support[split.path] == 1 else 0
    return alone + (0 if _looks_like_a_file(split.path or "") else _NO_FILE_NAME)


_EXTENSION = re.compile(r"\.[A-Za-z0-9_]{1,12}$")
_WORD = re.compile(r"^[A-Z][A-Za-z]*$")


def _looks_like_a_file(path: str) -> bool:
    """Return whether a path looks like a file name: an extension, or a word like ``Makefile``."""
    name = re.split(r"[/\\]", path)[-1]
    return bool(_EXTENSION.search(name) or _WORD.match(name))
