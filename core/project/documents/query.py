"""A search's words, as expressions for the word index and as terms for snippets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hindnote.core.errors import ArgumentError
from hindnote.core.project.contract.bounds import clip_utf16, utf16_length
from hindnote.core.project.documents.document import fold, spaced

Match = Literal["all", "any", "phrase"]

WORD = re.compile(r"[^\W_]+")
MAX_TERMS = 500
"""Maximum number of different terms in one search; the time grows faster than this number."""

_PREFIX_LENGTH = 3
"""Minimum length of a word that also matches longer words beginning with it."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word or phrase."""

    words: tuple[str, ...]
    prefix: bool

    @property
    def expression(self) -> str:
        """The term as a quoted expression for the word index."""
        return '"' + " ".join(self.words) + '"' + (" *" if self.prefix else "")


@dataclass(frozen=True, slots=True)
class Query:
    """The words of a search; without any, everything matches."""

    terms: tuple[Term, ...]
    match: Match
    required: tuple[Term, ...]
    optional: tuple[Term, ...]

    @property
    def expression(self) -> str | None:
        """The query as an expression for the word index; None without words."""
        base = [term.expression for term in self.required]
        if self.terms:
            glue = " OR " if self.match == "any" else " AND "
            base.append(glue.join(term.expression for term in self.terms))
        optional = " OR ".join(term.expression for term in self.optional)
        if not base:
            return optional or None
        whole = " AND ".join(f"({part})" for part in base)
        # Optional words raise the score of documents that match anyway.
        return f"(({whole}) OR {optional}) AND ({whole})" if optional else whole

    def wanted(self) -> Wanted:
        """Return all terms, to find the place for a snippet."""
        return wanted((*self.terms, *self.required, *self.optional))


def build(query: str, match: Match, required: Sequence[str], optional: Sequence[str]) -> Query:
    """Return the words of a search. The resulting expression is always well-formed.

    Raises:
        ArgumentError: There are too many of them.
    """
    if match == "phrase":
        terms = _different([Term(tuple(_words(query)), prefix=False)])
    else:
        terms = _different(_term(word) for word in query.split())
    made = Query(
        terms=terms,
        match=match,
        required=_different(_term(text, prefix=False) for text in required),
        optional=_different(_term(text) for text in optional),
    )
    count = len(made.terms) + len(made.required) + len(made.optional)
    if count > MAX_TERMS:
        raise ArgumentError(
            f"project_artifact_search: invalid arguments: query, required_terms and optional_terms "
            f"hold {count} different words and phrases, at most {MAX_TERMS} can be asked for at "
            "once; name those that matter"
        )
    return made


def _different(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the terms that contain a word, without duplicates."""
    return tuple(dict.fromkeys(term for term in terms if term.words))


def _term(text: str, *, prefix: bool = True) -> Term:
    words = tuple(_words(text))
    longer = prefix and len(words) == 1 and len(words[0]) >= _PREFIX_LENGTH
    return Term(words, longer)


def _words(text: str) -> list[str]:
    return WORD.findall(spaced(text))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The first words of terms, folded."""

    words: frozenset[str]
    beginnings: tuple[str, ...]
    """Words that match longer words beginning with them."""

    inside: tuple[str, ...]
    """Words that may occur within a run of an unspaced script, which is several words in the
    index."""


def wanted(terms: Iterable[Term]) -> Wanted:
    """Return what to search for in a text to find any of the terms."""
    found = [(fold(term.words[0]), term.prefix) for term in terms]
    return Wanted(
        words=frozenset(word for word, _ in found),
        beginnings=tuple(word for word, prefix in found if prefix),
        inside=tuple(word for word, _ in found if not word.isascii()),
    )


def first_hit(text: str, wanted: Wanted) -> int | None:
    """Return the position of the first word of any term in a text, in code points."""
    words, beginnings = wanted.words, wanted.beginnings
    if not words:
        return None
    plain = text.isascii()
    for match in WORD.finditer(text.lower() if plain else text):
        word = match[0] if plain else fold(match[0])
        if word in words or word.startswith(beginnings):
            return match.start()
        if not plain and any(part in word for part in wanted.inside):
            return match.start()
    return None


def snippet(text: str, start: int, limit: int) -> str:
    """Return an excerpt of at most ``limit`` code units around a position, on one line."""
    begin = max(0, start - limit // 4)
    head = "…" if begin else ""
    excerpt = head + " ".join(text[begin : begin + 2 * limit].split())
    if utf16_length(excerpt) <= limit and begin + 2 * limit >= len(text):
        return excerpt
    return clip_utf16(excerpt, limit - 1) + "…"
