"""Times as hosts record them, and time bounds of callers.

Bounds compare instants, never texts: ``Z``, ``.000Z`` and ``+02:00`` make no difference. An
instant is a float, seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from math import inf, isnan, nan
from typing import Any, Literal

from hindnote.core.errors import Refused
from hindnote.core.text.messages import quote

_LAST_MOMENT = 253_402_300_800.0
"""Seconds from the epoch to the year 10000."""


def instant(created_at: str | None) -> float:
    """Return a recorded time as an instant; NaN when it is missing or invalid.

    A recorded time without an offset counts as UTC.
    """
    if not created_at:
        return nan
    try:
        moment = datetime.fromisoformat(created_at)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return nan


def known_instant(created_at: str | None) -> float | None:
    """Return the same as ``instant``, but None instead of NaN."""
    moment = instant(created_at)
    return None if isnan(moment) else moment


def instants(times: Sequence[datetime | float | None]) -> list[float]:
    """Return recorded times, as msgspec decodes them, as instants; NaN for missing ones."""
    try:
        # Fast path: usually every row has a time with an offset.
        return list(map(datetime.timestamp, times))  # type: ignore[arg-type]
    except TypeError:
        return list(map(_instant, times))


def _instant(time: datetime | float | None) -> float:
    if isinstance(time, datetime):
        return time.timestamp()
    # The instant of the time that results show.
    return instant(recorded(time))


def _seconds(number: float) -> float:
    """Return a recorded number as an instant; large ones are milliseconds.

    NaN when it is beyond the calendar.
    """
    moment = number / 1000 if abs(number) > 1e11 else number
    return moment if abs(moment) < _LAST_MOMENT else nan


def recorded(value: Any) -> str | None:
    """Return a recorded time in the form that results show; None when it is invalid."""
    if isinstance(value, str) and not isnan(instant(value)):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            moment = datetime.fromtimestamp(_seconds(value), UTC)
        except (ValueError, OverflowError, OSError):
            return None
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return None


def bound(name: Literal["since", "until"], value: str | None) -> float | None:
    """Return a caller's time bound as an instant; None when it was not given.

    A date without a time means local midnight for ``since``, and the end of that day for
    ``until``. A date-time without an offset is local.

    Raises:
        Refused: ``invalid_time`` when it is neither a date nor a date-time.
    """
    if value is None:
        return None
    moment = _moment(name, value)
    try:
        if isinstance(moment, datetime):
            return moment.timestamp()
        if name == "until":
            moment += timedelta(days=1)
        return datetime.combine(moment, time()).timestamp()
    except (ValueError, OverflowError, OSError):
        # The first and the last day of the calendar have no instant in some time zones.
        return -inf if moment.year < 1970 else inf


def _moment(name: str, value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise Refused(
            "invalid_time",
            f"{name} {quote(value)} is no ISO 8601 date or date-time; write it like 2026-11-30 or "
            "2026-11-30T09:57:58Z",
        ) from None
