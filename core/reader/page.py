"""One session as a person reads it: pages of events, with marks between them.

The events of a page are in order. A long text is cut here, with the number of code points that are
left out; the terminal and the HTML page decide what is folded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from hindnote.core.errors import Refused
from hindnote.core.history.projection import Sided, SlotKind
from hindnote.core.history.timeline import ROLE_OF, Timeline
from hindnote.core.presentation.collect import Shown, shown_at
from hindnote.core.presentation.summary import summary
from hindnote.core.text.messages import first_words

if TYPE_CHECKING:
    from hindnote.core.history.document import Event
    from hindnote.core.history.projection import Projection
    from hindnote.core.history.timeline import Role

PAGE = 100
"""Maximum number of events of a page."""

TEXT_LIMIT = 20_000
"""Maximum number of code points of an event that are shown, unless the whole event is requested."""

PAGE_CHARS = 200_000
"""Maximum number of code points of all events of a page; a page with long events has fewer of
them."""

BEYOND_SHOWN = 3
"""Maximum number of prompts that the mark of an abandoned branch shows."""


class Said(Struct, frozen=True):
    """A message of a person, the model or the host."""

    seq: int
    role: Role
    created_at: str | None
    text: str
    omitted: int = 0
    """Number of code points that are left out after ``text``."""


class Done(Struct, frozen=True):
    """A tool call with its result."""

    seq: int
    created_at: str | None
    shown: Shown
    summary: str
    """A summary of its arguments, on one line."""

    nested: int = 0
    """Number of calls that it made itself and that the host recorded."""

    omitted: int = 0
    """Number of code points of its document that are left out."""


class Mark(Struct, frozen=True):
    """A mark between events: a new window, or an abandoned branch."""

    kind: Literal["window", "branch"]
    seq: int
    """Seq at which the window begins, or the first seq of the abandoned branch."""

    last_seq: int = 0
    number: int = 0
    """Number of the window, from 2."""

    prompts: tuple[str, ...] = ()
    """Beginnings of the first prompts of the abandoned branch."""

    events: int = 0
    """Number of events of the abandoned branch; 0 when the host does not tell it."""


Item: TypeAlias = Said | Done | Mark


class Page(Struct, frozen=True):
    """Some of a session's events, in order."""

    items: tuple[Item, ...]
    first_seq: int | None
    """Seq of the first event; None for an empty page."""

    last_seq: int | None
    older: bool
    """Whether there are events before this page."""

    newer: bool

    def events(self) -> Iterator[Said | Done]:
        """Yield the events, without the marks between them."""
        for item in self.items:
            if not isinstance(item, Mark):
                yield item


class Reading:
    """Reads a session page by page, in its state when the object was created.

    Args:
        projection: The session.
        limit: Maximum number of code points of an event; None for no limit.
    """

    def __init__(self, projection: Projection, *, limit: int | None = TEXT_LIMIT) -> None:
        self.projection = projection
        self.timeline = Timeline(projection)
        self.windows: Sequence[int] = tuple(projection.windows)
        self._limit = limit

    def newest(self, limit: int = PAGE) -> Page:
        """Return the last events."""
        return self.before(None, limit)

    def everything(self) -> Page:
        """Return all events."""
        return self._page(list(self.timeline.events(range(self.timeline.size))))

    def before(self, seq: int | None, limit: int = PAGE) -> Page:
        """Return the last events before a seq; None for the last of all."""
        timeline = self.timeline
        stop = timeline.size if seq is None else timeline.before(seq)
        found = islice(timeline.events(range(stop - 1, -1, -1)), limit)
        return self._page(self._fitting(found)[::-1])

    def after(self, seq: int, limit: int = PAGE) -> Page:
        """Return the first events after a seq."""
        timeline = self.timeline
        found = islice(timeline.events(range(timeline.after(seq), timeline.size)), limit)
        return self._page(self._fitting(found))

    def around(self, seq: int, limit: int = PAGE) -> Page:
        """Return an event with the events before and after it.

        Raises:
            Refused: ``unknown_seq``, ``not_on_branch``, ``not_an_event``.
        """
        timeline = self.timeline
        place = timeline.locate(seq)
        half = limit // 2
        older = self._fitting(islice(timeline.events(range(place - 1, -1, -1)), half), half=True)
        newer = self._fitting(islice(timeline.events(range(place, timeline.size)), limit - half))
        return self._page([*older[::-1], *newer])

    def one(self, seq: int) -> Page:
        """Return one event.

        Raises:
            Refused: ``unknown_seq``, ``not_on_branch``, ``not_an_event``.
        """
        return self._page([self.timeline.locate(seq)])

    def _fitting(self, places: Iterable[int], *, half: bool = False) -> list[int]:
        """Return the first events of a list that fit on a page; at least one."""
        if self._limit is None:
            return list(places)
        room = PAGE_CHARS // (2 if half else 1)
        fitting: list[int] = []
        for place in places:
            room -= min(len(self.timeline.event(place).document), self._limit)
            if room < 0 and fitting:
                break
            fitting.append(place)
        return fitting

    def _page(self, places: list[int]) -> Page:
        """Return the page of consecutive events."""
        timeline = self.timeline
        if not places:
            return Page((), None, None, older=False, newer=False)
        first, last = places[0], places[-1]
        before = next(timeline.events(range(first - 1, -1, -1)), None)
        items: list[Item] = []
        # Marks before the first event belong to the page that begins with it.
        for old, place in zip([before, *places], places, strict=False):
            items += self._marks(old, place)
            items.append(self._item(place))
        older = before is not None
        newer = next(timeline.events(range(last + 1, timeline.size)), None) is not None
        ended = timeline.seq(timeline.size - 1)
        if not newer and ended < self.projection.last_seq:
            items += self._left(ended + 1, self.projection.last_seq)
        return Page(tuple(items), timeline.seq(first), timeline.seq(last), older, newer)

    def _item(self, place: int) -> Said | Done:
        timeline = self.timeline
        event, role = timeline.event(place), timeline.role(place)
        if role == "tool":
            return self._done(place, event)
        text, omitted = self._cut(event.document)
        return Said(event.seq, role, event.created_at, text, omitted)

    def _done(self, place: int, event: Event) -> Done:
        shown = shown_at(self.timeline, place)
        nested = 0 if event.nested is None else len(event.nested.records)
        line = summary(shown.tool, shown.arguments)
        omitted = 0 if self._limit is None else max(0, len(event.document) - self._limit)
        return Done(event.seq, event.created_at, shown, line, nested, omitted)

    def _cut(self, text: str) -> tuple[str, int]:
        if self._limit is None or len(text) <= self._limit:
            return text, 0
        return text[: self._limit], len(text) - self._limit

    # -- marks -----------------------------------------------------------------

    def _marks(self, old: int | None, place: int) -> Iterator[Mark]:
        """Yield the marks between two events: abandoned branches, then a new window."""
        timeline = self.timeline
        seqs = timeline.branch.seqs
        start = -1 if old is None else old
        low = 0 if old is None else seqs[old]
        if seqs[place] - low != place - start:
            for at in range(start + 1, place + 1):
                previous = seqs[at - 1] if at else 0
                if seqs[at] - previous > 1:
                    yield from self._left(previous + 1, seqs[at] - 1)
        for number in range(
            bisect_right(self.windows, low), bisect_right(self.windows, seqs[place])
        ):
            if number:
                yield Mark("window", self.windows[number], number=number + 1)

    def _left(self, first: int, last: int) -> Iterator[Mark]:
        """Yield the mark of an abandoned branch, unless its slots contain no event."""
        session = self.projection
        if not isinstance(session, Sided):
            yield Mark("branch", first, last)
            return
        prompts: list[str] = []
        events = 0
        for seq in range(first, last + 1):
            kind = session.kind_at(seq)
            if kind is None or kind not in ROLE_OF or kind == SlotKind.RESULT:
                continue
            events += 1
            if kind == SlotKind.USER and len(prompts) < BEYOND_SHOWN:
                try:
                    words = first_words(session.facts(seq).text)
                except Refused:
                    words = None
                prompts += [words] if words else []
        if events:
            yield Mark("branch", first, last, prompts=tuple(prompts), events=events)
