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
) -> list[Ranked]:
    """Return the events that answer a question, best first; empty when nothing tells enough.

    Args:
        index: The index.
        question: The question.
        sessions: The sessions that are asked, the newest one last.
        allows: Which passages may answer.
        weight_of: What a passage of a kind counts for.
    """
    total = sum(known.passages for known in sessions.values())
    if not total:
        return []
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
        return []
    amount = sum(known.words for known in sessions.values())
    best = max((_told(session, said) for session in found.values()), default=0.0)
    if best < TOGETHER * asked:
        return []
    averages = max(1.0, amount / total), max(1.0, amount / len(sessions))
    scores = rank(found, idfs, session_idfs, *averages)
    if question.dates:
        scores = {
            (number, place): score + DATED * question.fits(held[number].times[place])
            for (number, place), score in scores.items()
        }
    return _events(scores, held, {number: place for place, number in enumerate(sessions)})


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


def _events(
    scores: Mapping[tuple[int, int], float], held: Mapping[int, Held], order: Mapping[int, int]
) -> list[Ranked]:
    """Return one entry an event, its best passage's score; a forked event once, the newest one."""
    best: dict[tuple[int, int], Ranked] = {}
    keys: dict[tuple[int, int], int] = {}
    for (number, place), score in scores.items():
        facts = held[number]
        event = (number, facts.seqs[place])
        keys[event] = facts.keys[place]
        if event not in best or score > best[event].score:
            best[event] = Ranked(number, event[1], score, facts.times[place])
    newest: dict[int, Ranked] = {}
    rows = []
    for event in sorted(best, key=lambda event: -order[event[0]]):
        row, key = best[event], keys[event]
        if key and key in newest:
            first = newest[key]
            if first.session != row.session:
                first.copies += 1
                first.score = max(first.score, row.score)
                continue
        elif key:
            newest[key] = row
        rows.append(row)
    # Ties go to the newer one; rounded, since sums in another order differ in their last digits.
    return sorted(rows, key=lambda row: (-round(row.score, 9), -_time(row), -row.seq))


def _time(row: Ranked) -> float:
    return row.time if row.time == row.time else float("-inf")
