"""One page of one session: as many rows as fit, and the parameters of the next pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hindnote.core.delivery.budget import Size, longest, measure, utf8_size
from hindnote.core.errors import Refused
from hindnote.core.history.operations.models import EventRow, FoldedRow, HistoryList, Page
from hindnote.core.history.operations.render import GAP, day_of, render_item, render_list
from hindnote.core.history.operations.selection import EventWalk, RowGroup, units
from hindnote.core.tools.outcome import wire_json

if TYPE_CHECKING:
    from hindnote.core.delivery.budget import Budget
    from hindnote.core.history.operations.lookups import Lookups
    from hindnote.core.history.operations.rows import Rows
    from hindnote.core.history.operations.selection import Filters

Item = EventRow | FoldedRow


class SizedRows(Struct, frozen=True):
    """Rows that a page contains or omits together, and their minimum size."""

    items: tuple[Item, ...]
    least: Size
    """Including separators, assuming the rows above let it omit everything it can."""

    @classmethod
    def of(cls, *items: Item) -> SizedRows:
        """Return a block of some rows."""
        json = sum(utf8_size(wire_json(item)) + len(",") for item in items)
        text = 0
        for item in items:
            text += utf8_size(render_item(item, day_of(item))) + len(GAP)
        return cls(items, Size(json, text))


def fit(
    blocks: list[SizedRows],
    budget: Budget,
    page: Callable[[list[SizedRows]], HistoryList],
    shrink: Callable[[int], SizedRows] | None,
    narrowing: str,
) -> HistoryList:
    """Return the page with as many blocks as fit from the start; the first one may be shortened.

    Args:
        blocks: The blocks, in order from the end where the page starts.
        budget: The maximum size of both forms.
        page: Builds the whole result from the first blocks.
        shrink: Builds the first block with a preview of at most that many code points.
        narrowing: Names of parameters that can exclude a row, for the message.

    Raises:
        Refused: ``page_too_large`` when not even one block fits.
    """

    def size(kept: list[SizedRows]) -> Size:
        result = page(kept)
        return measure(result, render_list(result))

    def fits(count: int) -> bool:
        return budget.allows(size(blocks[:count]))

    kept = _most(_at_most(blocks, budget), fits)
    if kept or not blocks:
        return page(blocks[:kept])

    def fits_cut(chars: int) -> bool:
        return shrink is not None and budget.allows(size([shrink(chars)]))

    if shrink is None or not fits_cut(0):
        crowded = budget.crowded_out(size([blocks[0] if shrink is None else shrink(0)]))
        if crowded is not None:
            raise Refused("page_too_large", crowded)
        raise Refused(
            "page_too_large",
            f"not even one row fits in 32 KiB, since what names it is too long; {narrowing} can "
            "leave that row out and list the others",
        )
    first = blocks[0].items[0]
    longest_preview = len(first.content) if isinstance(first, EventRow) else 0
    return page([shrink(longest(longest_preview, fits_cut))])


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to ``limit`` that fits, or 0; fast if it is near the limit."""
    kept, beyond, step = limit, limit + 1, 1
    while kept and not fits(kept):
        kept, beyond, step = max(0, kept - step), kept, step * 2
    while kept + 1 < beyond:
        middle = (kept + beyond) // 2
        if fits(middle):
            kept = middle
        else:
            beyond = middle
    return kept


def _at_most(blocks: list[SizedRows], budget: Budget) -> int:
    """Return how many blocks fit by themselves: an upper bound."""
    size = Size(0, 0)
    for count, block in enumerate(blocks):
        size += block.least
        if not budget.allows(size):
            return count
    return len(blocks)


class Pager(Struct, frozen=True):
    """Builds the pages of one session's list."""

    rows: Rows
    filters: Filters
    lookups: Lookups
    budget: Budget

    def page(self) -> HistoryList:
        """Return the requested page.

        Raises:
            Refused: ``page_too_large``.
        """
        walk = self._walk()
        taken, more = self._take(walk)
        if not taken:
            return self._empty(walk.omitted)
        back = self._beyond_near()

        def page(blocks: list[SizedRows]) -> HistoryList:
            goes_on = more or len(blocks) < len(taken)
            around = self._around(taken[: len(blocks)], goes_on, back, walk.omitted)
            items = [item for block in self._ascending(blocks) for item in block.items]
            return around.model_copy(update={"items": items})

        return fit(
            [block for _, block in taken],
            self.budget,
            page,
            self._shrink(*taken[0]),
            "before_seq, after_seq, since or until",
        )

    # -- rows ------------------------------------------------------------------

    def _take(self, walk: EventWalk) -> tuple[list[tuple[RowGroup, SizedRows]], bool]:
        """Return the row groups for the page before fitting, and whether more follow."""
        low, high = self._range()
        stretch = range(high - 1, low - 1, -1) if self._newest else range(low, high)
        found = self._units(walk, stretch)
        taken: list[tuple[RowGroup, SizedRows]] = []
        visible, size = 0, Size(0, 0)
        for unit in found:
            if visible == self.rows.params.rows:
                return taken, True
            visible += unit.visible is not None
            block = self._block(unit)
            taken.append((unit, block))
            size += block.least
            if not self.budget.allows(size):
                return taken, next(found, None) is not None
        return taken, False

    def _units(self, walk: EventWalk, stretch: range) -> Iterator[RowGroup]:
        chosen = walk.over(stretch)
        return units(chosen, self.rows.timeline, self.filters.folds, self._newest)

    def _block(self, unit: RowGroup) -> SizedRows:
        items: list[Item] = []
        if unit.visible is not None:
            items.append(self.rows.event(unit.visible))
        if unit.run:
            items.append(self.rows.folded(unit.run))
        return SizedRows.of(*items)

    def _shrink(self, unit: RowGroup, block: SizedRows) -> Callable[[int], SizedRows] | None:
        row, *run = block.items
        if unit.visible is None or not isinstance(row, EventRow):
            return None
        shrunk = self.rows.shrinking(row, unit.visible)
        return lambda chars: SizedRows.of(shrunk(chars), *run)

    def _ascending(self, blocks: list[SizedRows]) -> list[SizedRows]:
        return blocks[::-1] if self._newest else blocks

    # -- further pages ----------------------------------------------------------------

    @property
    def _newest(self) -> bool:
        return self.rows.params.from_ == "newest"

    def _walk(self) -> EventWalk:
        return EventWalk(self.rows.timeline, self.filters, self.lookups)

    def _range(self) -> tuple[int, int]:
        """Return the positions within the seq bounds, as a half-open range."""
        after, before = self.rows.params.after_seq, self.rows.params.before_seq
        timeline = self.rows.timeline
        low = 0 if after is None else timeline.after(after)
        high = timeline.size if before is None else timeline.before(before)
        return low, high

    def _any(self, positions: range) -> bool:
        return next(self._walk().over(positions), None) is not None

    def _older(self, seq: int | None) -> bool:
        """Return whether the selection has an event at ``seq`` or older, ignoring the bounds."""
        return seq is not None and self._any(range(self.rows.timeline.after(seq) - 1, -1, -1))

    def _newer(self, seq: int | None) -> bool:
        timeline = self.rows.timeline
        return seq is not None and self._any(range(timeline.before(seq), timeline.size))

    def _beyond_near(self) -> bool:
        """Return whether events exist beyond the near seq bound, so that a page back exists."""
        params = self.rows.params
        return self._newer(params.before_seq) if self._newest else self._older(params.after_seq)

    def _around(
        self, taken: list[tuple[RowGroup, SizedRows]], goes_on: bool, back: bool, omitted: int
    ) -> HistoryList:
        params, seq = self.rows.params, self.rows.timeline.seq
        edges = [taken[0][0], taken[-1][0]]
        oldest, newest = edges[::-1] if self._newest else edges
        first, last = seq(oldest.first), seq(newest.last)
        if self._newest:
            older = self._older_page(first, params.after_seq) if goes_on else None
            newer = self._newer_page(last, None) if back else None
        else:
            older = self._older_page(first, None) if back else None
            newer = self._newer_page(last, params.before_seq) if goes_on else None
        if goes_on and (visible := taken[-1][0].visible) is not None:
            omitted = visible.lookups
        return self._result(older, newer, omitted)

    def _empty(self, omitted: int) -> HistoryList:
        """Return an empty page; its parameters for further pages start at the bounds."""
        params = self.rows.params
        older = newer = None
        if params.after_seq is not None and self._older(params.after_seq):
            older = self._older_page(params.after_seq + 1, None)
        if params.before_seq is not None and self._newer(params.before_seq):
            newer = self._newer_page(params.before_seq - 1, None)
        return self._result(older, newer, omitted)

    def _older_page(self, before: int, far: int | None) -> Page:
        return self._recipe(before_seq=before, after_seq=far, end="newest")

    def _newer_page(self, after: int, far: int | None) -> Page:
        return self._recipe(before_seq=far, after_seq=after, end="oldest")

    def _recipe(self, before_seq: int | None, after_seq: int | None, end: str) -> Page:
        fields: dict[str, Any] = {"before_seq": before_seq, "after_seq": after_seq, "from": end}
        if self.rows.session is not None:
            fields = {"session": self.rows.session, **fields}
        return Page(**fields)

    def _result(self, older: Page | None, newer: Page | None, omitted: int) -> HistoryList:
        projection = self.rows.timeline.projection
        fields: dict[str, Any] = {}
        if self.rows.session is not None:
            fields["session"] = self.rows.session
        if projection.damaged:
            fields["damaged_lines"] = len(projection.damaged)
        if omitted:
            fields["lookups_omitted"] = omitted
        if projection.header.note is not None:
            fields["note"] = projection.header.note
        return HistoryList(items=[], page_older=older, page_newer=newer, **fields)
