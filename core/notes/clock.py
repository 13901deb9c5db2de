"""Times of notes: ISO 8601 with the local offset and milliseconds, compared as instants."""

from __future__ import annotations

import time
from datetime import datetime

MILLISECOND_NS = 1_000_000
_LAST_MS = 253_402_128_000_000
"""The latest time that is a valid date in every time zone, with a day to spare."""


def now_ms() -> int:
    """Return the current time in milliseconds since the epoch."""
    return time.time_ns() // MILLISECOND_NS


def format_ms(instant: int) -> str:
    """Return an instant as ISO 8601 text."""
    local = datetime.fromtimestamp(instant // 1000).astimezone()
    return local.replace(microsecond=instant % 1000 * 1000).isoformat(timespec="milliseconds")


def parse_ms(text: object) -> int | None:
    """Return a recorded time in milliseconds; a time without an offset is local.

    None for anything that is not a time since the epoch.
    """
    if not isinstance(text, str):
        return None
    try:
        instant = round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
    return instant if 0 <= instant <= _LAST_MS else None
