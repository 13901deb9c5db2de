"""The output budget: what both forms of one result may take together with their frame.

A result is deliverable only when its compact JSON *and* its decorated text each
fit ``OUTPUT_BUDGET_BYTES``. One selection decides both, so code that selects
(a window, a list, a page) asks a ``Budget`` while it selects; nothing clips
afterwards.
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
"""UTF-8 bytes of the compact JSON, and of the decorated text, each at most."""


class Size(Struct, frozen=True):
    """UTF-8 bytes of both forms of a result, or of a part of one."""

    json: int
    text: int

    def __add__(self, other: Size) -> Size:
        """Return the size of both parts one after the other."""
        return Size(self.json + other.json, self.text + other.text)


class Budget(Struct, frozen=True):
    """The room for one result; the host's decoration is counted against the text."""

    decoration: Decoration = field(default_factory=Decoration)
    limit: int = OUTPUT_BUDGET_BYTES

    def crowded_out(self, size: Size) -> str | None:
        """Return why a result of this size does not fit, where the decoration alone is the reason."""
        frame = self._frame
        if not frame or max(size.json, size.text) > self.limit:
            return None
        return (
            f"the text that the host puts around each answer has {frame:,} bytes of the "
            f"{self.limit:,} that an answer may have, and leaves no room; its plugin "
            "(host_decoration) has to shorten it"
        )

    def allows(self, size: Size) -> bool:
        """Return whether both forms of this size fit, decoration included."""
        return size.json <= self.limit and size.text + self._frame <= self.limit

    @property
    def _frame(self) -> int:
        return utf8_size(self.decoration.prefix) + utf8_size(self.decoration.suffix)

    def fits(self, result: Result, rendering: str) -> bool:
        """Return whether both forms of a result fit, decoration included."""
        return self.allows(measure(result, rendering))


def utf8_size(text: str) -> int:
    """Return the number of UTF-8 bytes of ``text``."""
    return len(text.encode())


def measure(result: Result, rendering: str) -> Size:
    """Return the size of both forms of one result, without decoration."""
    return Size(json=utf8_size(wire_json(result)), text=utf8_size(rendering))


def longest(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest ``n`` in ``0..limit`` for which ``fits(n)``, found by bisection.

    ``fits`` must be monotone: true up to some point, false behind it. Returns 0
    when nothing larger fits; whether 0 itself fits is the caller's question.
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
    """Return how many of a result's rows can be delivered, in order and whole.

    Row costs are added up, so that rows behind the end are never looked at; then
    exact measures settle the few bytes by which a sum may be off.

    Args:
        rows: Sizes of the rows in order: of each one's JSON, and of its text
            without a line break. Consumed as far as needed.
        total: How many rows there are.
        frame: Size of the result without rows.
        fits: Whether the result with the first ``n`` rows fits, measured exactly.
        budget: The room for both forms.
    """
    size, count = frame, 0
    for row in rows:
        # A comma in the one form, a line break in the other.
        size = size + row + Size(1, 1)
        if not budget.allows(size):
            break
        count += 1
    while count and not fits(count):
        count -= 1
    while count < total and fits(count + 1):
        count += 1
    return count
