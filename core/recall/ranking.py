"""The formula: term statistics in, scores out.

A passage is scored three times by BM25: alone, with its two neighbors, and by its whole
session. Each of the three is standardized over the sessions that hold a word of the
question (mean 0, deviation 1), so that none outweighs the others by its scale, and the
three are added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from math import log, sqrt
from typing import NamedTuple

from msgspec import Struct

K1, B = 1.4, 0.5
"""Parameters of BM25: K1 limits the effect of repeated words, B sets the effect of length."""

TOLD = 0.3
"""Minimum share of the question's weight that the found words must have in all sessions together."""

DATED = 1.5
"""Bonus for an event of a time that the question names, in standard deviations."""

CLOSE = 128
"""Maximum number of sessions that are ranked."""

TOGETHER = 0.25
"""Minimum share of the question's weight that a single session must have."""


class Hit(NamedTuple):
    """Passages of a session that contain a term."""

    term: int
    """Its index in the question."""

    shift: int
    """Added to a posting's passage number, gives the passage's place in the session."""

    postings: Sequence[int]
    """Each is the passage number times four, plus the term's count minus one."""


class Session(Struct):
    """Occurrences of the question's words in one session."""

    words: int
    """Number of words in all its passages."""

    lengths: Sequence[int]
    """Number of words of each passage."""

    kinds: bytes
    """Kind of each passage."""

    hits: list[Hit]


class Statistics(Struct, frozen=True):
    """Figures about all sessions together."""

    idfs: Sequence[float]
    """Weight of each term, from the number of passages that contain it."""

    session_idfs: Sequence[float]
    """Weight of each term, from the number of sessions that contain it."""

    average: float
    """Average number of words of a passage."""

    session_average: float
    """Average number of words of a session."""

    weights: Sequence[float]
    """Weight of a passage by kind: a tool's output counts less than a message."""


def idf(holding: int, total: int) -> float:
    """Return the weight of a term that ``holding`` of ``total`` passages contain."""
    # A term in no passage counts like one in a single passage.
    holding = max(1, holding)
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


def bm25(
    counts: Mapping[int, float], length: float, average: float, idfs: Sequence[float]
) -> float:
    """Return the score of a text.

    Args:
        counts: Number of occurrences of each term.
        length: Its number of words.
        average: Average number of words of such texts.
        idfs: The terms' weights.
    """
    longer = K1 * (1 - B + B * length / average)
    return sum(idfs[term] * n * (K1 + 1) / (n + longer) for term, n in counts.items())


def rank(
    sessions: Mapping[int, Session],
    statistics: Statistics,
    most: int | None = None,
    raised: Callable[[int, int], float] | None = None,
) -> dict[tuple[int, int], float]:
    """Return the scores of the passages that contain a term, by session and passage.

    Args:
        sessions: The sessions that contain a term of the question.
        statistics: Figures about all searched sessions.
        most: Maximum number of passages per session that are scored, best first; None for all.
        raised: Returns a passage's bonus in standard deviations, by session and place.
    """
    alone: dict[int, dict[int, float]] = {}
    whole: dict[int, float] = {}
    for number, session in sessions.items():
        alone[number], summed = _each(session, statistics)
        whole[number] = bm25(
            summed, session.words, statistics.session_average, statistics.session_idfs
        )
    if len(sessions) > CLOSE:
        alone = {number: alone[number] for number in _closest(alone, whole, raised)}
        whole = {number: whole[number] for number in alone}
    around: dict[int, dict[int, float]] = {}
    for number, own in alone.items():
        if most is not None and len(own) > most:
            # If scores are equal, the later passage is kept.
            own = dict(nlargest(most, own.items(), key=lambda item: (item[1], item[0])))
            alone[number] = own
        around[number] = _windows(sessions[number], own, statistics)
    scores = _added(alone, around, whole)
    if raised is not None:
        scores = {key: score + raised(*key) for key, score in scores.items()}
    return scores


def _each(session: Session, statistics: Statistics) -> tuple[dict[int, float], dict[int, float]]:
    """Return the score of each passage alone, and the weighted count of each term in the session.

    This loop visits every posting, so ``bm25`` is written out here instead of called.
    """
    alone: dict[int, float] = {}
    summed: dict[int, float] = {}
    kinds, lengths, weights = session.kinds, session.lengths, statistics.weights
    short, slope = K1 * (1 - B), K1 * B / statistics.average
    for term, shift, postings in session.hits:
        top, total = statistics.idfs[term] * (K1 + 1), 0.0
        for posting in postings:
            place = (posting >> 2) + shift
            n, weight = (posting & 3) + 1, weights[kinds[place]]
            total += weight * n
            score = weight * top * n / (n + short + slope * lengths[place])
            alone[place] = alone[place] + score if place in alone else score
        summed[term] = summed.get(term, 0.0) + total
    return alone, summed


def _closest(
    alone: Mapping[int, Mapping[int, float]],
    whole: Mapping[int, float],
    raised: Callable[[int, int], float] | None,
) -> list[int]:
    best = {number: max(own.values()) for number, own in alone.items()}
    first, third = _standard(best), _standard(whole)

    def worth(number: int) -> tuple[float, int]:
        more = max((raised(number, place) for place in alone[number]), default=0) if raised else 0
        return first.of(best[number]) + third.of(whole[number]) + more, number

    return nlargest(CLOSE, alone, key=worth)


def _windows(
    session: Session, places: Mapping[int, float], statistics: Statistics
) -> dict[int, float]:
    """Return the score of each of some passages with its two neighbors."""
    last = len(session.lengths) - 1
    near = {at for place in places for at in (place - 1, place, place + 1) if 0 <= at <= last}
    counts: dict[int, list[tuple[int, float]]] = defaultdict(list)
    weight_of = statistics.weights
    for term, shift, postings in session.hits:
        for posting in postings:
            place = (posting >> 2) + shift
            if place in near:
                weight = weight_of[session.kinds[place]]
                counts[place].append((term, weight * ((posting & 3) + 1)))
    found: dict[int, float] = {}
    for place in places:
        summed: dict[int, float] = {}
        length = 0
        for at in range(max(0, place - 1), min(place + 2, last + 1)):
            length += session.lengths[at]
            for term, n in counts.get(at, ()):
                summed[term] = summed.get(term, 0.0) + n
        score = bm25(summed, length, 3 * statistics.average, statistics.idfs)
        found[place] = weight_of[session.kinds[place]] * score
    return found


def _added(
    alone: Mapping[int, Mapping[int, float]],
    around: Mapping[int, Mapping[int, float]],
    whole: Mapping[int, float],
) -> dict[tuple[int, int], float]:
    best_alone = {number: max(own.values()) for number, own in alone.items()}
    best_around = {number: max(own.values()) for number, own in around.items()}
    first, second, third = map(_standard, (best_alone, best_around, whole))
    scores: dict[tuple[int, int], float] = {}
    for number, own in alone.items():
        here = {
            place: first.of(one) + second.of(around[number][place]) for place, one in own.items()
        }
        # The session's best passage gets the best passage score plus the best window score, even
        # if these belong to different places. The other passages keep their distance to it.
        top = first.of(best_alone[number]) + second.of(best_around[number])
        more = top + third.of(whole[number]) - max(here.values())
        scores.update(((number, place), one + more) for place, one in here.items())
    return scores


class _Scale(NamedTuple):
    mean: float
    deviation: float

    def of(self, score: float) -> float:
        """Return a score in standard deviations from the mean."""
        return (score - self.mean) / self.deviation


def _standard(scores: Mapping[int, float]) -> _Scale:
    """Return mean and standard deviation; the deviation is 1 when all scores are equal."""
    if not scores:
        return _Scale(0.0, 1.0)
    mean = sum(scores.values()) / len(scores)
    deviation = sqrt(sum((score - mean) ** 2 for score in scores.values()) / len(scores))
    return _Scale(mean, deviation if deviation > 1e-9 else 1.0)
