"""Which events a list is about: filters, and the walk over them from either end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.history.projection import Scannable, SlotKind
from hindnote.core.history.timeline import ROLE_OF, Role

if TYPE_CHECKING:
    from hindnote.core.history.document import Event
    from hindnote.core.history.operations.lookups import Lookups
    from hindnote.core.history.timeline import Timeline
    from hindnote.core.text.matching import Matcher


class Hit(Struct):
    """One event of a selection."""

    position: int
    event: Event | None = None
    """The event, when the query had to look into it."""

    match: tuple[int, int] | None = None
    """Start and end of the query's first match in the document."""

    lookups: int = 0
    """Matching look-ups that the walk had left out when it came here."""


class Filters(Struct, frozen=True):
    """What an event must be like, wherever it lies."""

    roles: frozenset[Role] = frozenset()
    """Empty: any role."""

    matcher: Matcher | None = None
    since: float | None = None
    until: float | None = None

    @property
    def folds(self) -> bool:
        """Whether a list of one session folds runs of tool and context events."""
        return not self.roles and self.matcher is None

    def kinds(self) -> frozenset[int]:
        """Return the slot kinds that the roles let through."""
        return frozenset(
            kind for kind, role in ROLE_OF.items() if not self.roles or role in self.roles
        )

    def in_time(self, instant: float) -> bool:
        """Return whether an instant lies within the bounds; NaN never lies within any."""
        if self.since is not None and not instant >= self.since:
            return False
        return self.until is None or instant < self.until


class EventWalk(Struct):
    """One pass over a stretch of positions; yields the events that the filters let through."""

    timeline: Timeline
    filters: Filters
    lookups: Lookups
    omitted: int = 0
    """Matching look-ups left out so far."""

    def over(self, positions: range) -> Iterator[Hit]:
        """Yield what is chosen among ``positions``, in their order; their step is 1 or -1."""
        timeline = self.timeline
        timed = self.filters.since is not None or self.filters.until is not None
        lacks = self._ruling_out()
        for position in timeline.events(positions, self.filters.kinds()):
            if timed and not self.filters.in_time(timeline.instant(position)):
                continue
            if self.filters.matcher is None:
                yield Hit(position)
            elif lacks(position):
                continue
            elif (hit := self._hit(position, self.filters.matcher)) is not None:
                yield hit

    def _ruling_out(self) -> Callable[[int], bool]:
        """Return whether the lines of an event prove that it holds no match, where they can."""
        timeline, session, matcher = self.timeline, self.timeline.projection, self.filters.matcher
        if matcher is None or not isinstance(session, Scannable):
            return lambda position: False
        # Only searches need it.
        from hindnote.core.history.prefilter import Needles

        needles = Needles.of(matcher, session.added_words)
        if needles is None:
            return lambda position: False
        holds = _Remembering(needles.in_bytes)
        return lambda position: not any(map(holds.asked, timeline.raw(position, session)))

    def _hit(self, position: int, matcher: Matcher) -> Hit | None:
        event = self.timeline.event(position)
        match = matcher.first(event.document)
        if match is None:
            return None
        if "tool" not in self.filters.roles and self.lookups.includes(event, self._id(position)):
            self.omitted += 1
            return None
        return Hit(position, event, match, self.omitted)

    def _id(self, position: int) -> str | None:
        return self.timeline.call_id(position)


class _Remembering:
    """Answers about lines; of the last two it knows the answer, since events may share a line."""

    def __init__(self, ask: Callable[[bytes], bool]) -> None:
        self._ask = ask
        self._last: tuple[bytes, bool] = (b"", ask(b""))
        self._before = self._last

    def asked(self, line: bytes) -> bool:
        if line is self._before[0]:
            self._last, self._before = self._before, self._last
        elif line is not self._last[0]:
            self._last, self._before = (line, self._ask(line)), self._last
        return self._last[1]


class RowGroup(Struct, frozen=True):
    """What a page takes or leaves as a whole: a visible row and the run behind it.

    Keeping the two together is what puts a run at a page's edge on the older page.
    """

    visible: Hit | None
    """None for a run with no row of the conversation before it."""

    run: tuple[int, ...] = ()
    """Positions of tool and context events, ascending."""

    @property
    def first(self) -> int:
        """Position of the oldest event."""
        return self.visible.position if self.visible else self.run[0]

    @property
    def last(self) -> int:
        """Position of the newest event."""
        return self.run[-1] if self.run or self.visible is None else self.visible.position


def units(
    chosen: Iterable[Hit], timeline: Timeline, fold: bool, newest: bool
) -> Iterator[RowGroup]:
    """Yield the units of a walk, in its order.

    Args:
        chosen: Events from the end that the page starts at.
        timeline: Where they lie.
        fold: Whether runs of tool and context events are folded.
        newest: Whether the walk goes from newer to older.
    """
    if not fold:
        yield from map(RowGroup, chosen)
    elif newest:
        yield from _folded_backward(chosen, timeline)
    else:
        yield from _folded_forward(chosen, timeline)


_SPEAKS = (SlotKind.USER, SlotKind.ASSISTANT)


def _folded_backward(chosen: Iterable[Hit], timeline: Timeline) -> Iterator[RowGroup]:
    kinds = timeline.branch.kinds
    run: list[int] = []
    for one in chosen:
        if kinds[one.position] in _SPEAKS:
            yield RowGroup(one, tuple(reversed(run)))
            run = []
        else:
            run.append(one.position)
    if run:
        yield RowGroup(None, tuple(reversed(run)))


def _folded_forward(chosen: Iterable[Hit], timeline: Timeline) -> Iterator[RowGroup]:
    kinds = timeline.branch.kinds
    visible: Hit | None = None
    run: list[int] = []
    for one in chosen:
        if kinds[one.position] not in _SPEAKS:
            run.append(one.position)
            continue
        if visible is not None or run:
            yield RowGroup(visible, tuple(run))
        visible, run = one, []
    if visible is not None or run:
        yield RowGroup(visible, tuple(run))
