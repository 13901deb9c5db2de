"""The output budget: the maximum size of a result, both as JSON and as text.

A result can be delivered only when its compact JSON *and* its decorated text each fit into
``OUTPUT_BUDGET_BYTES``. One selection decides both, so code that selects (a window, a list, a
page) asks a ``Budget`` while it selects. Nothing is cut afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from hindnote.core.plugins.models import Decoration
from hindnote.core.tools.outcome import wire_json

if TYPE_CHECKING:
    from hindnote.core.tools.outcome import Result

OUTPUT_BUDGET_BYTES = 32_768
"""Maximum size in UTF-8 bytes of the compact JSON, and also of the decorated text."""


class Size(Struct, frozen=True):
    """UTF-8 size of both forms of a result, or of a part of one."""

    json: int
    text: int

    def __add__(self, other: Size) -> Size:
        """Return the combined size of two parts."""
        return Size(self.json + other.json, self.text + other.text)


class Budget(Struct, frozen=True):
    """The maximum size of one result; the host's decoration counts as part of the text."""

    decoration: Decoration = field(default_factory=Decoration)
    limit: int = OUTPUT_BUDGET_BYTES

    def crowded_out(self, size: Size) -> str | None:
        """Return a message if the decoration alone makes a result too large; else None."""
        frame = self._frame
        if not frame or max(size.json, size.text) > self.limit:
            return None
        return (
            f"the text that the host puts around each answer has {frame:,} bytes of the "
            f"{self.limit:,} that an answer may have, and leaves no room; its plugin "
            "(host_decoration) has to shorten it"
        )

    def allows(self, size: Size) -> bool:
        """Return whether both forms of this size fit, including the decoration."""
        return size.json <= self.limit and size.text + self._frame <= self.limit

    @property
    def _frame(self) -> int:
        return utf8_size(self.decoration.prefix) + utf8_size(self.decoration.suffix)

    def fits(self, result: Result, rendering: str) -> bool:
        """Return whether both forms of a result fit, including the decoration."""
        return self.allows(measure(result, rendering))


def utf8_size(text: str) -> int:
    """Return the number of UTF-8 bytes of ``text``."""
    return len(text.encode())


def measure(result: Result, rendering: str) -> Size:
    """Return the size of both forms of one result, without the decoration."""
    return Size(json=utf8_size(wire_json(result)), text=utf8_size(rendering))


def longest(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest ``n`` in ``0..limit`` for which ``fits(n)`` is true, by bisection.

    ``fits`` must be monotone: true up to some point, false after it. Returns 0 when nothing larger
    fits; the caller must check whether 0 itself fits.
    """
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def longest_rows(
    rows: Iterable[Size], total: int, frame: Size, fits: Callable[[int], bool], budget: Budget
) -> int:
    """Return how many of a result's rows fit, from the first one and whole.

    Row sizes are added up, so rows after the end are never generated. Then exact measurements
    correct the few bytes by which the sum may be off.

    Args:
        rows: Sizes of the rows in order: of each row's JSON, and of its text without the line
            break. Consumed only as far as needed.
        total: The number of rows.
        frame: Size of the result without rows.
        fits: Whether the result with the first ``n`` rows fits, measured exactly.
        budget: The maximum size of both forms.
    """
    size, count = frame, 0
    for row in rows:
        # A comma in JSON, a line break in the text.
        size = size + row + Size(1, 1)
        if not budget.allows(size):
            break
        count += 1
    while count and not fits(count):
        count -= 1
    while count < total and fits(count + 1):
        count += 1
    return count
