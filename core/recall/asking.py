"""Ask the index a question: find the events that answer it, best first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.recall.dates import Date, dates
from hindnote.core.recall.postings import MOST
from hindnote.core.recall.ranking import (
    DATED,
    TOGETHER,
    TOLD,
    Hit,
    Session,
    Statistics,
    idf,
    rank,
)
from hindnote.core.recall.schema import Damaged
from hindnote.core.recall.words import near, words

if TYPE_CHECKING:
    from hindnote.core.recall.index import Index
    from hindnote.core.recall.records import Held, Known

_QUOTED = re.compile('["“„«「]([^"“”„«»「」]{2,})["”“»」]')

ENOUGH = 6
"""Maximum number of passages per session that are scored when only a few events are wanted."""

BACKGROUND = 50
"""Number of passages without any word of the question that the thresholds add to the memory."""

Allows = Callable[[int, "Held"], Callable[[int], bool] | None]
"""Given a session's number and its passages, returns a function that tells by a passage's place
whether it may answer; None when all may."""


class Ranked(Struct):
    """An event that answers the question."""

    session: int
    seq: int
    score: float
    time: float
    copies: int = 0
    """Number of other sessions that contain a copy of it."""


class Answer(Struct):
    """The result of a question."""

    events: list[Ranked]
    count: int
    """Number of events that contain a word of the question. When there are many, not all are
    counted."""


class Question(Struct, frozen=True):
    """A question, split into its parts."""

    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    """Quoted phrases in lower case; an event must contain each of them exactly."""

    dates: tuple[Date, ...] = ()
    dated: frozenset[int] = frozenset()
    """Places of the terms that belong to dates."""

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
        """Return how well a time fits the dates of the question, from 0 to 1."""
        return max((date.fits(time) for date in self.dates), default=0.0)

    def holds_phrases(self, text: str) -> bool:
        """Return whether a text contains every quoted phrase."""
        if not self.phrases:
            return True
        plain = " ".join(text.split()).casefold()
        return all(phrase in plain for phrase in self.phrases)


def ask(
    index: Index,
    question: Question,
    sessions: Mapping[int, Known],
    allows: Allows,
    weights: Sequence[float],
    *,
    few: bool = False,
    counted: int = 0,
) -> Answer:
    """Return the events that answer a question, best first; none below the thresholds.

    Args:
        index: The index, inside its ``still`` block.
        question: The question.
        sessions: The sessions to search, the newest last.
        allows: Selects the passages that may answer.
        weights: The weight of a passage, by kind.
        few: Whether only a few events of each session are wanted: at most ``ENOUGH`` passages are
        scored.
        counted: Number of events with a word of the question up to which they are counted exactly.
    """
    total = sum(known.passages for known in sessions.values())
    if not total:
        return Answer([], 0)
    found = _Found(index, sessions, allows)
    for term, word in enumerate(question.terms):
        found.take(term, word)
    holding, sessions_holding = found.holding(len(question.terms))
    # In a small memory every word is common. Missing words would then outweigh those that were
    # found.
    told_by = (idf(count, total + BACKGROUND) for count in holding)
    said = [0.0 if place in question.dated else one for place, one in enumerate(told_by)]
    asked = sum(said)
    told = sum(weight for weight, count in zip(said, holding, strict=True) if count)
    if not asked or told < TOLD * asked:
        return Answer([], 0)
    best = max(
        sum(said[term] for term in {hit.term for hit in session.hits})
        for session in found.sessions.values()
    )
    if best < TOGETHER * asked:
        return Answer([], 0)
    statistics = Statistics(
        [idf(count, total) for count in holding],
        [idf(count, len(sessions)) for count in sessions_holding],
        max(1.0, (amount := sum(known.words for known in sessions.values())) / total),
        max(1.0, amount / len(sessions)),
        weights,
    )
    # With dates or phrases, any passage may turn out to be among the best.
    most = ENOUGH if few and not question.dates and not question.phrases else None
    scores = rank(found.sessions, statistics, most, found.raised(question))
    order = {number: place for place, number in enumerate(sessions)}
    return Answer(found.events(scores, order), found.count(counted))


_Event = tuple[int, int]
"""A session's number and a seq; or 0 and the key that all copies of an event have."""


class _Found:
    """The sessions and passages that contain a word of the question."""

    def __init__(self, index: Index, asked: Mapping[int, Known], allows: Allows) -> None:
        self._index, self._asked, self._allows = index, asked, allows
        self._allowed: dict[int, Callable[[int], bool] | None] = {}
        self._facts: dict[int, Held] = {}
        self.sessions: dict[int, Session] = {}

    def take(self, term: int, word: str) -> None:
        """Add the passages that contain a word, or else one that is one edit away."""
        if not self._take(term, self._index.postings(word)):
            self._take(term, self._near(word))

    def _near(self, word: str) -> Iterator[tuple[int, int, list[int]]]:
        """Yield what ``Index.postings`` would for all words one edit away, taken as one word."""
        counts: dict[int, Counter[int]] = {}
        for other in dict.fromkeys(near(word)):
            for number, shift, postings in self._index.postings(other):
                here = counts.setdefault(number, Counter())
                for posting in postings:
                    here[(posting >> 2) + shift] += (posting & 3) + 1
        for number, places in counts.items():
            found = sorted(places.items())
            yield number, 0, [place << 2 | min(count, MOST) - 1 for place, count in found]

    def _take(self, term: int, found: Iterable[tuple[int, int, list[int]]]) -> bool:
        took = False
        for number, shift, postings in found:
            known = self._asked.get(number)
            if known is None:
                continue
            if number not in self._facts:
                facts = self._facts[number] = self._index.held(known)
                self._allowed[number] = self._allows(number, facts)
            facts, allowed = self._facts[number], self._allowed[number]
            if not 0 <= (postings[0] >> 2) + shift <= (postings[-1] >> 2) + shift < len(facts.seqs):
                raise Damaged("a term is in a passage that is not there")
            if allowed is not None:
                postings = [one for one in postings if allowed((one >> 2) + shift)]
            if postings:
                took = True
                if number not in self.sessions:
                    self.sessions[number] = Session(known.words, facts.lengths, facts.kinds, [])
                self.sessions[number].hits.append(Hit(term, shift, postings))
        return took

    def holding(self, terms: int) -> tuple[list[int], list[int]]:
        """Return the number of passages and the number of sessions that contain each term."""
        passages, sessions = [0] * terms, [0] * terms
        for session in self.sessions.values():
            for hit in session.hits:
                passages[hit.term] += len(hit.postings)
            for term in {hit.term for hit in session.hits}:
                sessions[term] += 1
        return passages, sessions

    def raised(self, question: Question) -> Callable[[int, int], float] | None:
        """Return a function that returns a passage's bonus for its time; None without dates."""
        if not question.dates:
            return None
        facts, days = self._facts, dict[float, float]()

        def raised(number: int, place: int) -> float:
            time = facts[number].times[place]
            # A passage without a time has NaN here, which fits no day.
            day = time // 86_400
            if day not in days:
                days[day] = DATED * question.fits(time)
            return days[day]

        return raised

    def count(self, enough: int) -> int:
        """Return the number of events that contain a term.

        Counting stops after the session with which it reaches ``enough``.
        """
        events: set[_Event] = set()
        for number, session in self.sessions.items():
            facts = self._facts[number]
            events.update(self._event(number, facts, place) for place in _places(session))
            if len(events) >= enough > 0:
                break
        return len(events)

    def events(
        self, scores: Mapping[tuple[int, int], float], order: Mapping[int, int]
    ) -> list[Ranked]:
        """Return each event with the score of its best passage.

        Of copies in forks only the newest is returned.
        """
        best: dict[_Event, Ranked] = {}
        for (number, place), score in scores.items():
            facts = self._facts[number]
            event = self._event(number, facts, place)
            known = best.get(event)
            if known is None:
                best[event] = Ranked(number, facts.seqs[place], score, facts.times[place])
            else:
                known.score = max(known.score, score)
        for key, holders in self._holders({key for zero, key in best if not zero}).items():
            if len(holders) > 1:
                newest = max(holders, key=order.__getitem__)
                one = best[0, key]
                one.session, one.seq, one.copies = newest, holders[newest], len(holders) - 1
        # If scores are equal, the newer event comes first. They are rounded, because a sum's last
        # digits depend on the order.
        return sorted(best.values(), key=lambda row: (-round(row.score, 9), -_time(row), -row.seq))

    def _holders(self, keys: set[int]) -> dict[int, dict[int, int]]:
        """Return the sessions and seqs with copies of events, by the key of the copies."""
        holders: dict[int, dict[int, int]] = {}
        for number, session in self.sessions.items():
            facts = self._facts[number]
            here = keys.intersection(facts.keys)
            if here:
                for place in _places(session):
                    if facts.keys[place] in here:
                        holders.setdefault(facts.keys[place], {})[number] = facts.seqs[place]
        return holders

    def _event(self, number: int, facts: Held, place: int) -> _Event:
        key = facts.keys[place]
        return (0, key) if key else (number, facts.seqs[place])


def _places(session: Session) -> set[int]:
    return {(one >> 2) + shift for _, shift, postings in session.hits for one in postings}


def _time(row: Ranked) -> float:
    return row.time if row.time == row.time else float("-inf")
