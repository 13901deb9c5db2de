"""One question to the index: which passages answer it, best first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.recall.dates import Date, dates
from hindnote.core.recall.ranking import DATED, TOGETHER, TOLD, Session, idf, rank
from hindnote.core.recall.words import near, words

if TYPE_CHECKING:
    from hindnote.core.recall.index import Held, Index, Known

_QUOTED = re.compile('["“„«「]([^"“”„«»「」]{2,})["”“»」]')

ENOUGH = 12
"""Passages of a session that are scored when only a few of its events are wanted."""

Allows = Callable[[int, "Held", int], bool]
"""Whether a passage of a session may answer: session number, its passages, place."""


class Ranked(Struct):
    """One event that answers."""

    session: int
    seq: int
    score: float
    time: float
    copies: int = 0
    """Other sessions that hold a copy of it."""


class Answer(Struct):
    """What a question found."""

    events: list[Ranked]
    count: int
    """Events that hold a word of the question, each once."""


class Question(Struct, frozen=True):
    """What is asked."""

    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    """Lower-case; an event must hold each as it stands."""

    dates: tuple[Date, ...] = ()
    dated: frozenset[int] = frozenset()
    """Places of the terms that are of dates."""

    @classmethod
    def of(cls, about: str) -> Question:
        """Return the question that a person or an agent asked."""
        phrases = (" ".join(found.split()).casefold() for found in _QUOTED.findall(about))
        spans = list(dates(about))
        plain = about
        for (start, end), _ in spans:
            plain = plain[:start] + " " * (end - start) + plain[end:]
        said = dict.fromkeys(words(plain))
        terms = tuple(said | dict.fromkeys(words(about)))
        return cls(
            terms,
            tuple(phrases),
            tuple(date for _, date in spans),
            frozenset(range(len(said), len(terms))) if said else frozenset(),
        )

    def fits(self, time: float) -> float:
        """Return how well a point in time fits the dates that are named, from 0 to 1."""
        return max((date.fits(time) for date in self.dates), default=0.0)

    def holds_phrases(self, text: str) -> bool:
        """Return whether a text holds every quoted phrase."""
        if not self.phrases:
            return True
        plain = " ".join(text.split()).casefold()
        return all(phrase in plain for phrase in self.phrases)


def ask(
    index: Index,
    question: Question,
    sessions: Mapping[int, Known],
    allows: Allows,
    weight_of: Callable[[int], float],
    *,
    few: bool = False,
) -> Answer:
    """Return the events that answer a question, best first; none when nothing tells enough.

    Args:
        index: The index.
        question: The question.
        sessions: The sessions that are asked, the newest one last.
        allows: Which passages may answer.
        weight_of: What a passage of a kind counts for.
        few: Only a few events of each session are wanted, ``ENOUGH`` of its passages at most.
    """
    total = sum(known.passages for known in sessions.values())
    if not total:
        return Answer([], 0)
    found, held = _found(index, question, sessions, allows, weight_of)
    holding, sessions_holding = [0] * len(question.terms), [0] * len(question.terms)
    for session in found.values():
        for counts in session.counts.values():
            for term in counts:
                holding[term] += 1
        for term in {term for counts in session.counts.values() for term in counts}:
            sessions_holding[term] += 1
    idfs = [idf(count, total) for count in holding]
    session_idfs = [idf(count, len(sessions)) for count in sessions_holding]
    said = [0.0 if place in question.dated else one for place, one in enumerate(idfs)]
    asked = sum(said)
    told = sum(weight for weight, count in zip(said, holding, strict=True) if count)
    if not asked or told < TOLD * asked:
        return Answer([], 0)
    amount = sum(known.words for known in sessions.values())
    best = max((_told(session, said) for session in found.values()), default=0.0)
    if best < TOGETHER * asked:
        return Answer([], 0)
    averages = max(1.0, amount / total), max(1.0, amount / len(sessions))
    # What is raised or left out for another reason may be any passage.
    most = ENOUGH if few and not question.dates and not question.phrases else None
    scores = rank(found, idfs, session_idfs, *averages, most)
    if question.dates:
        scores = {
            (number, place): score + DATED * question.fits(held[number].times[place])
            for (number, place), score in scores.items()
        }
    holders = _holders(found, held)
    order = {number: place for place, number in enumerate(sessions)}
    return Answer(_events(scores, held, holders, order), len(holders))


def _told(session: Session, idfs: list[float]) -> float:
    """Return the weight of the question's words that a session holds."""
    terms = {term for counts in session.counts.values() for term in counts}
    return sum(idfs[term] for term in terms)


def _found(
    index: Index,
    question: Question,
    sessions: Mapping[int, Known],
    allows: Allows,
    weight_of: Callable[[int], float],
) -> tuple[dict[int, Session], dict[int, Held]]:
    found: dict[int, Session] = {}
    held: dict[int, Held] = {}

    def take(number: int, term: int, places: list[tuple[int, int]]) -> bool:
        if number not in sessions:
            return False
        if number not in found:
            facts = held[number] = index.held(sessions[number])
            found[number] = Session(facts.lengths, list(map(weight_of, facts.kinds)), {})
        facts, took = held[number], False
        last = len(facts.seqs)
        for place, count in places:
            if place < last and allows(number, facts, place):
                counts = found[number].counts.setdefault(place, {})
                counts[term] = counts.get(term, 0) + count
                took = True
        return took

    for term, word in enumerate(question.terms):
        hits = [take(number, term, places) for number, places in index.postings(word)]
        if not any(hits):
            # A slip of the pen: what is one edit away stands for the word.
            for other in dict.fromkeys(near(word)):
                for number, places in index.postings(other):
                    take(number, term, places)
    return {number: session for number, session in found.items() if session.counts}, held


_Event = tuple[int, int]
"""A session's number and a seq; or 0 and the key that copies of an event share."""


def _event(number: int, facts: Held, place: int) -> _Event:
    key = facts.keys[place]
    return (0, key) if key else (number, facts.seqs[place])


def _holders(found: Mapping[int, Session], held: Mapping[int, Held]) -> dict[_Event, set[int]]:
    """Return the events that hold a term, each with the sessions that it is in."""
    holders: dict[_Event, set[int]] = {}
    for number, session in found.items():
        facts = held[number]
        for place in session.counts:
            holders.setdefault(_event(number, facts, place), set()).add(number)
    return holders


def _events(
    scores: Mapping[tuple[int, int], float],
    held: Mapping[int, Held],
    holders: Mapping[_Event, set[int]],
    order: Mapping[int, int],
) -> list[Ranked]:
    """Return one entry an event, its best passage's score; a forked event once, the newest one."""
    best: dict[_Event, Ranked] = {}
    for (number, place), score in scores.items():
        facts = held[number]
        event = _event(number, facts, place)
        newest = max(holders[event], key=order.__getitem__)
        known = best.get(event)
        if known is None:
            copies = len(holders[event]) - 1
            best[event] = Ranked(number, facts.seqs[place], score, facts.times[place], copies)
        else:
            known.score = max(known.score, score)
            if number == newest:
                known.session, known.seq = number, facts.seqs[place]
    # Ties go to the newer one; rounded, since sums in another order differ in their last digits.
    return sorted(best.values(), key=lambda row: (-round(row.score, 9), -_time(row), -row.seq))


def _time(row: Ranked) -> float:
    return row.time if row.time == row.time else float("-inf")
