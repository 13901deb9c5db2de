"""When the slots of a transcript were written, worked out when someone asks for the first time."""

from __future__ import annotations

from array import array
from collections import deque
from datetime import datetime
from math import nan
from threading import Lock
from typing import TYPE_CHECKING, Annotated

import msgspec

from hindnote.core.history.instants import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    Stamp = str | float | None
    """A time as a row has it."""

_MILLISECONDS = 1e11
"""Numbers above this count milliseconds, and not seconds."""

_Moment = Annotated[datetime, msgspec.Meta(tz=True)]
_MOMENTS = msgspec.json.Decoder(list[_Moment])
_STAMPS = msgspec.json.Decoder(list[str | float | None])


class Times:
    """Instants in the order in which their records were added.

    Only a bound on time needs them, and working them all out takes a tenth as long as
    reading the whole file. Thread-safe.
    """

    def __init__(self) -> None:
        self._recorded: deque[bytes] = deque()
        """Lists of what was recorded, encoded: strings of their own weigh three times as much."""
        self._known = array("d")
        self._lock = Lock()

    def extend(self, stamps: Sequence[Stamp]) -> None:
        """Add what further slots have recorded."""
        self._recorded.append(msgspec.json.encode(stamps))

    def at(self, place: int) -> float:
        """Return an instant by its place, NaN when none was recorded."""
        if place >= len(self._known):
            with self._lock:
                while self._recorded:
                    self._known.fromlist(_instants(self._recorded.popleft()))
        return self._known[place]


def _instants(recorded: bytes) -> list[float]:
    try:
        # Nearly every row has a time with an offset, and so does this whole list.
        return list(map(datetime.timestamp, _MOMENTS.decode(recorded)))
    except msgspec.ValidationError:
        return list(map(_instant, _STAMPS.decode(recorded)))


def _instant(stamp: Stamp) -> float:
    if isinstance(stamp, str):
        try:
            return msgspec.convert(stamp, _Moment).timestamp()
        except msgspec.ValidationError:
            return instant(stamp)
    if stamp is None:
        return nan
    return stamp / 1000 if abs(stamp) > _MILLISECONDS else stamp
