"""When the slots of a transcript were written, worked out when someone asks for the first time."""

from __future__ import annotations

from array import array
from datetime import datetime
from math import nan
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from hindnote.hosts.claude.rows import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

_DECODER = msgspec.msgpack.Decoder(list[datetime | float | None])


class Times:
    """Instants in the order in which their records were added.

    Only a bound on time needs them, and working them all out takes a twentieth as long as
    reading the whole file. Thread-safe.
    """

    def __init__(self) -> None:
        self._recorded = bytearray()
        """Lists of what was recorded, as MessagePack: ten bytes for each time."""
        self._sizes = array("i")
        """Bytes of each list."""
        self._known = array("d")
        self._lock = Lock()

    def extend(self, recorded: Sequence[datetime | float | None]) -> None:
        """Add what further slots have recorded."""
        with self._lock:
            try:
                data = msgspec.msgpack.encode(recorded)
            except OverflowError:
                # An offset takes one of them off either end of the calendar.
                self._work_out()
                self._known.fromlist(_instants(recorded))
                return
            self._recorded += data
            self._sizes.append(len(data))

    def at(self, place: int) -> float:
        """Return an instant by its place, NaN when none was recorded."""
        if place >= len(self._known):
            with self._lock:
                self._work_out()
        return self._known[place]

    def _work_out(self) -> None:
        start = 0
        for size in self._sizes:
            recorded = _DECODER.decode(self._recorded[start : start + size])
            self._known.fromlist(_instants(recorded))
            start += size
        self._recorded.clear()
        del self._sizes[:]


def _instants(recorded: Sequence[datetime | float | None]) -> list[float]:
    try:
        # Nearly every row has a time with an offset, and so does this whole list.
        return list(map(datetime.timestamp, recorded))  # type: ignore[arg-type]
    except TypeError:
        return list(map(_instant, recorded))


def _instant(time: datetime | float | None) -> float:
    if isinstance(time, datetime):
        return time.timestamp()
    return nan if time is None else seconds(time)
