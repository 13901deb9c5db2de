"""Times of notes: ISO 8601 with the local offset and milliseconds, compared as instants."""

from __future__ import annotations

import time
from datetime import datetime

MILLISECOND_NS = 1_000_000


def now_ms() -> int:
    """Return the present, in milliseconds since the epoch."""
    return time.time_ns() // MILLISECOND_NS


def format_ms(instant: int) -> str:
    """Return an instant as text."""
    local = datetime.fromtimestamp(instant // 1000).astimezone()
    return local.replace(microsecond=instant % 1000 * 1000).isoformat(timespec="milliseconds")


def parse_ms(text: object) -> int | None:
    """Return a recorded time as an instant; a time without offset is local.

    None for anything that is no time.
    """
    if not isinstance(text, str):
        return None
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
