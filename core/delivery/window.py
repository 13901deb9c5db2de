"""Reading windows: a contiguous, unmodified slice of a text, in code points.

The two read operations share the parameters, fields and selection in this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import Field

from hindnote.core.delivery.budget import longest, measure
from hindnote.core.errors import Refused
from hindnote.core.tools.operation import Params
from hindnote.core.tools.outcome import Result

if TYPE_CHECKING:
    from hindnote.core.delivery.budget import Budget

DEFAULT_LIMIT_CHARS = 12_000
MAX_LIMIT_CHARS = 50_000


class WindowParams(Params):
    """Parameters that both read operations have in addition to the one that names the text."""

    offset_chars: int = 0
    """Code point; negative: from the end."""

    limit_chars: Annotated[int, Field(ge=1, le=MAX_LIMIT_CHARS)] = DEFAULT_LIMIT_CHARS


class WindowResult(Result):
    """Fields that both read operations return in addition to identity and metadata."""

    text: str
    """A contiguous slice, unmodified and without markers."""

    total_chars: int
    """Code points of the whole text."""

    next_offset_chars: int | None
    """First code point not delivered; null at the true end."""


W = TypeVar("W", bound=WindowResult)


def start_of(total: int, offset: int) -> int:
    """Return the start position of a window; a negative offset counts from the end.

    Raises:
        Refused: ``invalid_offset`` when the offset is past the end.
    """
    if offset > total:
        raise Refused(
            "invalid_offset",
            f"offset_chars {offset} is past the end; the largest legal offset is {total}",
        )
    return max(0, total + offset) if offset < 0 else offset


def fit_window(
    source: str,
    params: WindowParams,
    budget: Budget,
    build: Callable[[str, int, int | None], W],
    render: Callable[[W], str],
) -> W:
    """Return the result with the longest beginning of the requested range that fits.

    Args:
        source: The whole text.
        params: The requested offset and limit.
        budget: The maximum size of both forms.
        build: Builds the result from ``text``, ``total_chars`` and ``next_offset_chars``.
        render: Renders the text of a result.

    Raises:
        Refused: ``invalid_offset``; ``output_too_large`` when not even one code point fits.
    """
    total = len(source)
    start = start_of(total, params.offset_chars)
    asked = min(params.limit_chars, total - start)

    def window(count: int) -> W:
        end = start + count
        return build(source[start:end], total, end if end < total else None)

    def fits(count: int) -> bool:
        result = window(count)
        return budget.fits(result, render(result))

    # The complete window has no continuation notice, so it may fit although a window with one code
    # point less does not. Only incomplete windows grow monotonically.
    if fits(asked):
        return window(asked)
    count = longest(max(asked - 1, 0), fits)
    if count == 0:
        least = window(1) if asked else window(0)
        crowded = budget.crowded_out(measure(least, render(least)))
        if crowded is not None:
            raise Refused("output_too_large", crowded)
        raise Refused(
            "output_too_large",
            "what surrounds the text (identity and metadata) leaves no room for one character "
            "of it in 32 KiB; no parameter of this read makes it smaller",
        )
    return window(count)


def continuation(next_offset: int | None) -> str:
    """Return the suffix of an incomplete read's text; empty at the end of the text."""
    return "" if next_offset is None else f"\n[truncated; continue at offset_chars={next_offset}]"
