"""Collect sessions for the index, and write many of them at once."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from functools import partial
from itertools import chain

from msgspec import Struct

from hindnote.core.recall.index import Index
from hindnote.core.recall.numbers import numbers_of
from hindnote.core.recall.postings import MOST
from hindnote.core.recall.records import Entry, Held, Known

FULL = 3_000_000
"""Number of postings at which a batch is written."""

TAIL_MOST = 64
"""Number of passages in a tail above which those that will not change are moved to a segment of
their batch."""


class Passage(Struct):
    """A passage to be indexed."""

    seq: int
    kind: int
    time: float
    key: int
    pieces: list[bytes]


class Session(Struct):
    """The current state of a session."""

    name: str
    file: str
    stamp: str
    slots: int
    """Number of slots at the beginning of its branch that will not change, and their checksum."""

    sum: int
    size: int = 0
    """Bytes of its file, and their checksum."""

    file_sum: int = 0


class Batch:
    """Collects sessions for an index.

    Args:
        index: The index to which they are written.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._entries: list[Entry] = []
        self._base = _no_terms()
        self._passages = 0
        self._size = 0

    def add(self, session: Session, settled: Iterable[Passage], rest: Iterable[Passage]) -> None:
        """Add a whole session.

        Args:
            session: The session.
            settled: Its passages that will not change.
            rest: Further ones.
        """
        self._take(session, Held.empty(), settled, rest, None)

    def grow(
        self,
        known: Known,
        session: Session,
        settled: Iterable[Passage],
        rest: Iterable[Passage],
    ) -> None:
        """Add the new passages of a session that is in the index already.

        Args:
            known: The session as it is in the index.
            session: Its current state; its first slots are those in the index.
            settled: Passages after these slots that will not change.
            rest: Further ones.
        """
        settled = list(settled)
        if len(settled) < TAIL_MOST:
            settled, rest = [], [*settled, *rest]
            session.slots, session.sum = known.slots, known.sum
        self._take(session, self._index.held(known).first(known.settled), settled, rest, known)

    def _take(
        self,
        session: Session,
        before: Held,
        settled: Iterable[Passage],
        rest: Iterable[Passage],
        seen: Known | None,
    ) -> None:
        first, place = self._passages, len(before.seqs)
        new, size = _counted(settled, first, self._base)
        tail = _no_terms()
        last, tail_size = _counted(rest, 0, tail)
        self._entries.append(
            Entry(
                name=session.name,
                file=session.file,
                stamp=session.stamp,
                slots=session.slots,
                sum=session.sum,
                size=session.size,
                file_sum=session.file_sum,
                held=before + new + last,
                place=place,
                settled=place + len(new.seqs),
                first=first,
                tail=tail,
                seen=seen,
            )
        )
        self._passages += len(new.seqs)
        self._size += size + tail_size
        if self._size >= FULL:
            self.flush()

    def flush(self) -> None:
        """Write the collected sessions."""
        if self._entries:
            entries, base = self._entries, self._base
            self._entries, self._base = [], _no_terms()
            self._passages = self._size = 0
            self._index.write(entries, base)


class _LowestBits(dict[int, int]):
    """What a posting says of how often its term occurs, by that count."""

    def __missing__(self, count: int) -> int:
        bits = self[count] = min(count, MOST) - 1
        return bits


_LOWEST = _LowestBits()


def _no_terms() -> dict[int, array[int]]:
    # An array needs a ninth of the memory of a list.
    return defaultdict(partial(array, "I"))


def _counted(
    passages: Iterable[Passage], first: int, found: dict[int, array[int]]
) -> tuple[Held, int]:
    """Add the terms of passages to ``found``, and return the facts about the passages.

    Args:
        passages: The passages.
        first: Number of the first one.
        found: By term: the postings; makes an empty array for a new term.

    Returns:
        Facts of the passages, and how many postings there were.
    """
    held, kinds, size = Held.empty(), bytearray(), 0
    numbers, of_term, lowest_bits = numbers_of.__getitem__, found.__getitem__, _LOWEST.__getitem__
    for number, passage in enumerate(passages, start=first):
        counts = Counter(chain.from_iterable(map(numbers, passage.pieces)))
        postings = map((number << 2).__add__, map(lowest_bits, counts.values()))
        # A loop over the postings in Python takes nearly twice as long.
        deque(map(array.append, map(of_term, counts), postings), maxlen=0)
        size += len(counts)
        held.seqs.append(passage.seq)
        held.lengths.append(counts.total())
        held.times.append(passage.time)
        held.keys.append(passage.key)
        kinds.append(passage.kind)
    held.kinds = bytes(kinds)
    return held, size
