"""Number rows by their ids, using a fraction of the memory of a dict of the ids."""

from __future__ import annotations

from array import array
from itertools import count

_NO_HASH = 0
"""The hash of the empty string, which is never an id."""

_MANY = 64


class Ids:
    """Numbers from 0, in the order in which ids are added.

    Only 64 bits of each id are stored, by a hash whose key differs in each process, so collisions
    do not happen in practice, neither by chance nor by intent. Nearly every id that is looked up
    was added recently. When many older ones are looked up, a table is built and used until
    ``settle``.
    """

    def __init__(self) -> None:
        self._hashes = array("q")
        self._lately: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._seen: set[int] | None = None
        self._table: dict[int, int] | None = None
        self._searches = self._added = 0

    def find(self, name: str) -> int:
        """Return the number of an id; -1 when it was never added."""
        found = self._lately.get(name)
        if found is None:
            found = self._before.get(name)
        return self._search(hash(name)) if found is None else found

    def extend(self, names: list[str]) -> dict[str, int] | None:
        """Add ids if all are new, and return their numbers; else add nothing and return None."""
        numbers = dict(zip(names, count(len(self._hashes)), strict=False))
        hashes = list(map(hash, names))
        if len(numbers) < len(names) or not self._are_new(hashes):
            return None
        self._hashes.fromlist(hashes)
        self._before, self._lately = self._lately, numbers
        if self._table is not None:
            self._table.update(zip(hashes, numbers.values(), strict=True))
        return numbers

    def add(self, name: str) -> int:
        """Return the number of an id, adding it if it is new."""
        wanted = hash(name)
        found = self._search(wanted) if self._table is None else self._table.get(wanted, -1)
        return self._append(wanted) if found < 0 else found

    def skip(self) -> None:
        """Use up the next number for a row without its own id."""
        self._append(_NO_HASH)

    def settle(self) -> None:
        """Free the tables that speed up adding and finding many ids."""
        self._seen = self._table = None
        self._searches = self._added = 0

    def _are_new(self, hashes: list[int]) -> bool:
        if self._seen is None:
            self._added += len(hashes)
            if self._added < _MANY:
                return all(self._search(wanted) < 0 for wanted in hashes)
            self._seen = set(self._hashes)
        if not self._seen.isdisjoint(hashes):
            return False
        self._seen.update(hashes)
        return True

    def _append(self, known: int) -> int:
        number = len(self._hashes)
        if self._table is not None:
            self._table[known] = number
        if self._seen is not None:
            self._seen.add(known)
        self._hashes.append(known)
        return number

    def _search(self, wanted: int) -> int:
        if self._seen is not None and wanted not in self._seen:
            return -1
        if self._table is None:
            self._searches += 1
            if self._searches <= _MANY:
                return self._scan(wanted)
            self._table = dict(zip(self._hashes, count(), strict=False))
        return self._table.get(wanted, -1)

    def _scan(self, wanted: int) -> int:
        data, key = self._hashes.tobytes(), array("q", [wanted]).tobytes()
        place = data.find(key)
        while place % len(key) and place >= 0:
            place = data.find(key, place + 1)
        return place // len(key)
