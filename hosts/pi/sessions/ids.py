"""Look up entries by their ids, using a fraction of the memory of a dict of the ids."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MANY = 64
"""Number of look-ups from which on a table is faster."""


class Ids:
    """Positions of entries by id, stored in one byte string.

    A dict of the ids would be larger than the rest of the index. The parent of nearly every entry
    is the entry before it and needs no look-up. For many look-ups, a dict is built and used until
    the index is up to date.
    """

    def __init__(self) -> None:
        self.count = 0
        self._blob = bytearray(b"\n")
        self._lookups = 0
        self._table: dict[bytes, int] | None = None

    def append(self, entry_ids: list[str]) -> None:
        """Add the ids of the next entries."""
        if not entry_ids:
            return
        text = "\n".join(entry_ids)
        if text.count("\n") >= len(entry_ids):
            text = "\n".join(entry_id.replace("\n", "\\n") for entry_id in entry_ids)
        added = text.encode("utf-8", "replace") + b"\n"
        if self._table is not None:
            self._table.update(zip(added[:-1].split(b"\n"), count(self.count), strict=False))
        self._blob += added
        self.count += len(entry_ids)

    def find(self, entry_id: str, fresh: Sequence[str] = ()) -> int | None:
        """Return the position of the latest entry with this id.

        Args:
            entry_id: The id.
            fresh: Ids of the next entries, which have not been appended yet.
        """
        if not entry_id:
            return None
        for place in range(len(fresh) - 1, -1, -1):
            if fresh[place] == entry_id:
                return self.count + place
        key = _key(entry_id)
        self._lookups += 1
        if self._lookups > _MANY and self._table is None:
            keys = bytes(self._blob[1:-1]).split(b"\n")
            self._table = {known: place for place, known in enumerate(keys)}
        if self._table is not None:
            return self._table.get(key)
        place = self._blob.rfind(b"\n" + key + b"\n")
        return None if place < 0 else self._blob.count(b"\n", 0, place)

    def settle(self) -> None:
        """Free the table for many look-ups."""
        self._table = None
        self._lookups = 0


def _key(entry_id: str) -> bytes:
    return entry_id.encode("utf-8", "replace").replace(b"\n", b"\\n")
