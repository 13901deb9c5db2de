"""The formula: term statistics in, scores out.

A passage is scored three times by BM25: alone, with its two neighbors, and by its whole
session. Each of the three is standardized over the sessions that hold a word of the
question (mean 0, deviation 1), so that none outweighs the others by its scale, and the
three are added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest
from math import log, sqrt
from typing import NamedTuple

from msgspec import Struct

K1, B = 1.4, 0.5
"""BM25: how fast repeating a word stops to count, and how much length counts."""

TOLD = 0.3
"""Share of the question's weight that the words found must carry, or there is no answer."""

DATED = 1.5
"""What an event of a time that the question names has more than others, in deviations."""

TOGETHER = 0.25
"""Share of it that one session must hold."""


class Session(Struct):
    """What the question's words are in one session."""

    lengths: Sequence[int]
    """Words of each passage."""

    weights: Sequence[float]
    """What a passage counts for: a tool's output less than what somebody said."""

    counts: dict[int, dict[int, int]]
    """By passage and term of the question: how often the term occurs."""


def idf(holding: int, total: int) -> float:
    """Return the weight of a term that ``holding`` of ``total`` passages have."""
    # One that nobody has counts as the rarest.
    holding = max(1, holding)
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


def bm25(
    counts: Mapping[int, float], length: float, average: float, idfs: Sequence[float]
) -> float:
    """Return the score of a text.

    Args:
        counts: How often each term occurs in it.
        length: Its words.
        average: Words of an average text of its kind.
        idfs: The terms' weights.
    """
    longer = K1 * (1 - B + B * length / average)
    return sum(idfs[term] * n * (K1 + 1) / (n + longer) for term, n in counts.items())


def rank(
    sessions: Mapping[int, Session],
    idfs: Sequence[float],
    session_idfs: Sequence[float],
    average: float,
    session_average: float,
    most: int | None = None,
) -> dict[tuple[int, int], float]:
    """Return the scores of passages that hold a term, by session and passage.

    Args:
        sessions: Those that hold a term of the question.
        idfs: The terms' weights, by how many passages hold them.
        session_idfs: The same by sessions.
        average: Words of an average passage.
        session_average: Words of an average session.
        most: Passages of a session that are scored, those that are best alone; None for all.
    """
    alone: dict[tuple[int, int], float] = {}
    around: dict[tuple[int, int], float] = {}
    whole: dict[int, float] = {}
    for number, session in sessions.items():
        own = {
            place: session.weights[place] * bm25(counts, session.lengths[place], average, idfs)
            for place, counts in session.counts.items()
        }
        if most is not None and len(own) > most:
            # The later of two that are alike, as everywhere.
            own = dict(nlargest(most, own.items(), key=lambda item: (item[1], item[0])))
        for place, score in own.items():
            window = range(max(0, place - 1), min(place + 2, len(session.lengths)))
            near, weight = _sum(session, window), session.weights[place]
            length = sum(session.lengths[at] for at in window)
            alone[number, place] = score
            around[number, place] = weight * bm25(near, length, 3 * average, idfs)
        summed = _sum(session, session.counts)
        whole[number] = bm25(summed, sum(session.lengths), session_average, session_idfs)
    best_alone, best_around = _best(alone), _best(around)
    first, second, third = map(_standard, (best_alone, best_around, whole))

    def total(one: float, window: float, session: int) -> float:
        return (
            (one - first.mean) / first.deviation
            + (window - second.mean) / second.deviation
            + (whole[session] - third.mean) / third.deviation
        )

    scores = {key: total(one, around[key], key[0]) for key, one in alone.items()}
    # A session's best passage has what the session's best passage and best window are worth
    # together, also when these are not at the same place; its others keep their distance.
    leading = _best(scores)
    return {
        (session, place): own
        - leading[session]
        + total(best_alone[session], best_around[session], session)
        for (session, place), own in scores.items()
    }


def _sum(
    session: Session, places: Sequence[int] | range | dict[int, dict[int, int]]
) -> dict[int, float]:
    found: dict[int, float] = defaultdict(float)
    for place in places:
        for term, count in session.counts.get(place, {}).items():
            found[term] += session.weights[place] * count
    return found


def _best(scores: Mapping[tuple[int, int], float]) -> dict[int, float]:
    best: dict[int, float] = {}
    for (session, _), score in scores.items():
        best[session] = max(score, best.get(session, score))
    return best


class _Scale(NamedTuple):
    mean: float
    deviation: float


def _standard(scores: Mapping[int, float]) -> _Scale:
    """Return mean and deviation; where all are the same the deviation counts as 1."""
    if not scores:
        return _Scale(0.0, 1.0)
    mean = sum(scores.values()) / len(scores)
    deviation = sqrt(sum((score - mean) ** 2 for score in scores.values()) / len(scores))
    return _Scale(mean, deviation if deviation > 1e-9 else 1.0)
