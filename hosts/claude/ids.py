"""Numbers of things that have ids, at a fraction of what a dict of the ids would weigh."""

from __future__ import annotations

from array import array

_FREE = -1
_NO_HASH = 0
"""The hash of the empty text alone, which is no id."""


class Ids:
    """Numbers from 0 in the order in which ids were first added.

    Kept are 64 bits of each id, by a hash whose key differs with each process: that
    two ids of one file share them does not happen in practice, by chance or intent.
    """

    def __init__(self) -> None:
        self._hashes = array("q")
        self._table = array("i", [_FREE]) * 1024
        self._mask = len(self._table) - 1

    def find(self, name: str) -> int:
        """Return the number of an id, -1 when it was never added."""
        wanted = hash(name)
        table, hashes, mask = self._table, self._hashes, self._mask
        place = wanted & mask
        while (number := table[place]) != _FREE and hashes[number] != wanted:
            place = (place + 1) & mask
        return number

    def add(self, name: str) -> int:
        """Return the number of an id; it gets the next one unless it has one."""
        wanted = hash(name)
        table, hashes, mask = self._table, self._hashes, self._mask
        place = wanted & mask
        while (number := table[place]) != _FREE:
            if hashes[number] == wanted:
                return number
            place = (place + 1) & mask
        number = table[place] = len(hashes)
        hashes.append(wanted)
        if 2 * number > mask:
            self._grow()
        return number

    def skip(self) -> None:
        """Leave the next number to something without an id."""
        self._hashes.append(_NO_HASH)

    def _grow(self) -> None:
        size = 4 * len(self._table)
        table, mask = array("i", [_FREE]) * size, size - 1
        for number, known in enumerate(self._hashes):
            if known == _NO_HASH:
                continue
            place = known & mask
            while table[place] != _FREE:
                place = (place + 1) & mask
            table[place] = number
        self._table, self._mask = table, mask
