"""What a search looked for, found again in the text that is shown of a hit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from hindnote.core.text.matching import Matcher

Spans: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]
"""Finds what is highlighted in a text: start and end of each."""


def literally(query: Sequence[str]) -> Spans:
    """Return what finds the literals of a query in a text."""
    matcher = Matcher.from_query(list(query))
    return matcher.spans if matcher is not None else lambda text: ()


def by_word(query: Sequence[str]) -> Spans:
    """Return what finds the words of a question in a text, in whatever form."""
    from hindnote.core.recall.words import placed, words

    wanted = frozenset(words(" ".join(query)))
    return lambda text: (span for span, term in placed(text) if term in wanted)
