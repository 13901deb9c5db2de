"""Select the events of a list: filters, and iteration from either end."""

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
    """One event that the filters accept."""

    position: int
    event: Event | None = None
    """The event, if the query had to decode it."""

    match: tuple[int, int] | None = None
    """Start and end of the query's first match in the document."""

    lookups: int = 0
    """Number of matching look-ups that were left out before this event."""


class Filters(Struct, frozen=True):
    """The conditions that an event must satisfy."""

    roles: frozenset[Role] = frozenset()
    """Empty: all roles."""

    matcher: Matcher | None = None
    since: float | None = None
    until: float | None = None

    @property
    def folds(self) -> bool:
        """Whether a list of one session folds runs of tool and context events."""
        return not self.roles and self.matcher is None

    def kinds(self) -> frozenset[int]:
        """Return the slot kinds of the selected roles."""
        return frozenset(
            kind for kind, role in ROLE_OF.items() if not self.roles or role in self.roles
        )

    def in_time(self, instant: float) -> bool:
        """Return whether an instant is within the bounds; NaN is not within any bound."""
        if self.since is not None and not instant >= self.since:
            return False
        return self.until is None or instant < self.until


class EventWalk(Struct):
    """One iteration over a range of positions that yields the events accepted by the filters."""

    timeline: Timeline
    filters: Filters
    lookups: Lookups
    omitted: int = 0
    """Number of matching look-ups left out so far."""

    def over(self, positions: range) -> Iterator[Hit]:
        """Yield the accepted events among ``positions``, in their order; the step is 1 or -1."""
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
        """Return a function that tells whether an event's raw lines rule out a match."""
        timeline, session, matcher = self.timeline, self.timeline.projection, self.filters.matcher
        if matcher is None or not isinstance(session, Scannable):
            return lambda position: False
        # Imported here, since only searches need it.
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
    """Caches the answers for the last two lines, since consecutive events may share a line."""

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
    """A part of a page that is kept whole: a visible row and the folded run after it.

    This is why a run at the edge of a page belongs to the older page.
    """

    visible: Hit | None
    """None for a run that has no visible row before it."""

    run: tuple[int, ...] = ()
    """Positions of the run's tool and context events, ascending."""

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
    """Yield the selected events in groups, in their order.

    Args:
        chosen: The selected events, from the end where the page starts.
        timeline: The timeline that contains them.
        fold: Whether runs of tool and context events are folded.
        newest: Whether the order is newest first.
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
