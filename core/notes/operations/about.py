"""Rank notes by how well they fit a question; they are few enough to index on each call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from hindnote.core.notes.operations.matches import LINE_SHOWN, TRUNCATED, Hits, excerpt
from hindnote.core.notes.operations.models import Match
from hindnote.core.recall.asking import Question, ask
from hindnote.core.recall.batch import Batch, Passage, Session
from hindnote.core.recall.index import Index
from hindnote.core.recall.passages import best_start, spoken_cut
from hindnote.core.recall.words import pieces, placed

if TYPE_CHECKING:
    from hindnote.core.notes.facts import Facts
    from hindnote.core.recall.records import Known

LINES_SHOWN = 3
"""Maximum number of lines shown per note."""


def by_subject(notes: Iterable[tuple[Facts, str]], about: str) -> list[tuple[Facts, Hits]]:
    """Return the notes that fit a question, best first, each with its best lines.

    Args:
        notes: Notes with their bodies, newest first.
        about: The question.
    """
    question = Question.of(about)
    read = [(facts, body) for facts, body in notes if question.holds_phrases(body)]
    with closing(Index(None)) as index:
        sessions: dict[int, Known] = {}
        places: dict[int, int] = {}
        # Notes that rank equal are ordered by their number, so the newest is added last.
        batch = Batch(index)
        for place, (facts, body) in enumerate(read):
            batch.add(Session(str(place), "", "", 0, 0), _passages(facts, body), ())
        batch.flush()
        for (name, _), known in sorted(index.known().items(), key=lambda item: -int(item[0][0])):
            sessions[known.number], places[known.number] = known, int(name)
        with index.still():
            ranked = ask(index, question, sessions, lambda *_: None, (1.0,))
    lines = defaultdict[int, list[int]](list)
    for one in ranked.events:
        lines[places[one.session]].append(one.seq)
    return [
        (read[place][0], _hits(read[place][1], numbers, question))
        for place, numbers in lines.items()
    ]


def _passages(facts: Facts, body: str) -> Iterable[Passage]:
    for number, line in enumerate(body.split("\n"), start=1):
        if found := pieces(line):
            yield Passage(number, 0, facts.updated / 1000, 0, found)


def _hits(body: str, numbers: list[int], question: Question) -> Hits:
    """Return the best lines of a note, in the order of the note."""
    wanted, matches, offset = set(numbers[:LINES_SHOWN]), list[Match](), 0
    for number, line in enumerate(body.split("\n"), start=1):
        if number in wanted:
            matches.append(_match(number, offset, line.removesuffix("\r"), question))
        offset += len(line) + 1
    return Hits(len(numbers), tuple(matches))


def _match(number: int, offset: int, line: str, question: Question) -> Match:
    telling = (span[0] for span, term in placed(line) if term in question.terms)
    if len(line) <= LINE_SHOWN:
        return excerpt(number, offset, line, next(telling, 0))
    start = best_start(line, question.terms, LINE_SHOWN)
    at = next((place for place in telling if place >= start), start)
    shown = excerpt(number, offset, line, at, start)
    text = spoken_cut(line, start, LINE_SHOWN) + TRUNCATED
    return shown.model_copy(update={"text": text})
