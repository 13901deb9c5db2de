"""Times of notes: ISO 8601 with the local offset and milliseconds, compared as instants."""

from __future__ import annotations

import time
from datetime import datetime

MILLISECOND_NS = 1_000_000
_LAST_MS = 253_402_128_000_000
"""The day before the last that has a date in every time zone."""


def now_ms() -> int:
    """Return the present, in milliseconds since the epoch."""
    return time.time_ns() // MILLISECOND_NS


def format_ms(instant: int) -> str:
    """Return an instant as text."""
    local = datetime.fromtimestamp(instant // 1000).astimezone()
    return local.replace(microsecond=instant % 1000 * 1000).isoformat(timespec="milliseconds")


def parse_ms(text: object) -> int | None:
    """Return a recorded time as an instant; a time without offset is local.

    None for anything that is no time since the epoch.
    """
    if not isinstance(text, str):
        return None
    try:
        instant = round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
    return instant if 0 <= instant <= _LAST_MS else None
