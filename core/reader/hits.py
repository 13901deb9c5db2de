"""Find the words of a search in the text of a hit, to highlight them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from hindnote.core.text.matching import Matcher

Spans: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]
"""A function that yields start and end of each part of a text that is highlighted."""


def literally(query: Sequence[str]) -> Spans:
    """Return a function that finds the literals of a query."""
    matcher = Matcher.from_query(list(query))
    return matcher.spans if matcher is not None else lambda text: ()


def by_word(query: Sequence[str]) -> Spans:
    """Return a function that finds the words of a question, with any ending."""
    from hindnote.core.recall.words import placed, words

    wanted = frozenset(words(" ".join(query)))
    return lambda text: (span for span, term in placed(text) if term in wanted)
