"""Format times to the minute: for agents with their offset, for a person in local time."""

from __future__ import annotations

from datetime import UTC, datetime


def day_and_minute(recorded: str) -> tuple[str, str] | None:
    """Return an ISO 8601 time as two texts: ``2026-12-01`` and ``05:55Z`` or ``06:55+01:00``.

    A time without an offset counts as UTC. None when the text is not a time.
    """
    try:
        moment = datetime.fromisoformat(recorded)
    except ValueError:
        return None
    day, minute = moment.isoformat(timespec="minutes").split("T")
    if moment.tzinfo is None or minute.endswith("+00:00"):
        minute = f"{minute.removesuffix('+00:00')}Z"
    return day, minute


def to_the_minute(recorded: str) -> str:
    """Return an ISO 8601 time as one text; text that is not a time is returned unchanged."""
    told = day_and_minute(recorded)
    return recorded if told is None else " ".join(told)


def local_minute(recorded: str | None) -> str:
    """Return an ISO 8601 time in this machine's time zone, for a person: ``2026-12-01 06:55``.

    A time without an offset counts as UTC. Empty without a time; text that is not a time is
    returned unchanged.
    """
    if not recorded:
        return ""
    try:
        moment = datetime.fromisoformat(recorded)
        return (
            (moment if moment.tzinfo else moment.replace(tzinfo=UTC))
            .astimezone()
            .strftime("%Y-%m-%d %H:%M")
        )
    except (ValueError, OverflowError, OSError):
        # No time, or one whose local time no calendar holds.
        return recorded
