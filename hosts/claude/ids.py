"""Numbers of things that have ids, at a fraction of what a dict of the ids would weigh."""

from __future__ import annotations

from array import array

_NO_HASH = 0
"""The hash of the empty text alone, which is no id."""

_MANY_SEARCHES = 64
_LATELY = 512


class Ids:
    """Numbers from 0, in the order in which ids are added.

    Kept are 64 bits of each id, by a hash whose key differs with each process: that
    two ids of one file share them does not happen in practice, by chance or intent.
    Nearly every id that is looked for was added lately. When many others are, a table
    serves until ``settle``.
    """

    def __init__(self) -> None:
        self._hashes = array("q")
        self._lately: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._seen: set[int] | None = None
        self._table: dict[int, int] | None = None
        self._searches = 0

    def find(self, name: str) -> int:
        """Return the number of an id, -1 when it was never added."""
        found = self._lately.get(name)
        if found is None:
            found = self._before.get(name)
        return self._search(hash(name)) if found is None else found

    def extend(self, names: list[str]) -> bool:
        """Add ids that are all new; return whether they are, with nothing added otherwise."""
        hashes = array("q", map(hash, names))
        known = len(self._hashes)
        if len(set(hashes)) != len(names) or not self._are_new(hashes):
            return False
        self._hashes.extend(hashes)
        numbers = range(known, known + len(names))
        self._before, self._lately = self._lately, dict(zip(names, numbers, strict=True))
        if self._table is not None:
            self._table.update(zip(hashes, numbers, strict=True))
        return True

    def add(self, name: str) -> int:
        """Return the number of an id; it gets the next one unless it has one."""
        found = self.find(name)
        if found >= 0:
            return found
        if len(self._lately) == _LATELY:
            self._before, self._lately = self._lately, {}
        number = self._lately[name] = len(self._hashes)
        self._append(hash(name))
        return number

    def skip(self) -> None:
        """Leave the next number to something without an id of its own."""
        self._append(_NO_HASH)

    def settle(self) -> None:
        """Give back what makes adding and finding many ids fast."""
        self._seen = self._table = None
        self._searches = 0

    def _are_new(self, hashes: array[int]) -> bool:
        if self._seen is None:
            if len(hashes) < _MANY_SEARCHES:
                return all(self._search(wanted) < 0 for wanted in hashes)
            self._seen = set(self._hashes)
        if not self._seen.isdisjoint(hashes):
            return False
        self._seen.update(hashes)
        return True

    def _append(self, known: int) -> None:
        if self._table is not None:
            self._table[known] = len(self._hashes)
        if self._seen is not None:
            self._seen.add(known)
        self._hashes.append(known)

    def _search(self, wanted: int) -> int:
        if self._seen is not None and wanted not in self._seen:
            return -1
        if self._table is None:
            self._searches += 1
            if self._searches <= _MANY_SEARCHES:
                return self._scan(wanted)
            self._table = {known: number for number, known in enumerate(self._hashes)}
        return self._table.get(wanted, -1)

    def _scan(self, wanted: int) -> int:
        data, key = self._hashes.tobytes(), array("q", [wanted]).tobytes()
        place = data.find(key)
        while place % len(key) and place >= 0:
            place = data.find(key, place + 1)
        return place // len(key)
