"""The words of a text, the same for what is indexed and for what is asked.

Words are lower-cased and English endings are cut off. Identifiers count as a whole and
in parts, numbers and versions as they stand. Scripts that put no spaces between words
(Han, Kana, Thai; Hangul too, whose particles are joined to words) count by pairs of
letters. Strings that look like credentials are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache

LONGEST = 64
"""Code points of a word, at most; longer ones are data."""

_MARKS = "\u0300-\u036f\u0900-\u0dff\u0e00-\u0e7f"
"""Marks that belong to the letter before them, and are no letters of their own."""

_CHUNK = re.compile(rf"[\w{_MARKS}]+(?:(?:[-./]|::)[\w{_MARKS}]+)*")
_INSIDE = frozenset(b"_-./")
"""What is inside of words, beside letters and digits; of other scripts anything may be."""

_BLANKS = bytes(
    byte if byte > 0x7F or chr(byte).isalnum() or byte in _INSIDE else 0x20 for byte in range(256)
)
_BLANKS_BUT_COLONS = _BLANKS[:0x3A] + b":" + _BLANKS[0x3B:]
_PARTS = re.compile(r"[-._/:]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

_CREDENTIAL = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END|$)"
    r"|\b(?:sk|pk|rk)[-_][\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w+|\bglpat-[\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bxox[abeprs]-[\w-]{10,}|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
    re.DOTALL,
)
_NAMED_CREDENTIAL = re.compile(
    r"(?:password|passwd|secret|token|api[_-]?key|authorization)\w*[\"']?\s*[:=]\s*(?:bearer\s+)?"
    r"(?:\"[^\"\n]{6,}\"|'[^'\n]{6,}'|[^\s\"',;]*[0-9][^\s\"',;]{5,})",
    re.IGNORECASE,
)
_HINTS = (
    *(
        "PRIVATE KEY",
        "sk-",
        "sk_",
        "pk-",
        "pk_",
        "rk-",
        "rk_",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
    ),
    *("github_pat_", "glpat-", "AKIA", "ASIA", "xox", "AIza", "eyJ", "://"),
)
"""One of these is in every credential that is known by its form; looking for them is fast."""

_SPOKEN_HINTS = ("passw", "secret", "token", "apikey", "api_key", "api-key", "authorization")
"""The same for credentials that are named before them, in lower case."""

_RANDOM = 32
"""Letters and digits mixed, without a break: so many of them are a key or a sum of data."""

STOP = frozenset(
    [
        "a",
        "about",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "may",
        "me",
        "might",
        "my",
        "no",
        "not",
        "of",
        "on",
        "or",
        "our",
        "she",
        "should",
        "so",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
"""Words that say nothing about a subject."""


def words(text: str) -> Iterator[str]:
    """Yield the terms of a text in their order; a whole identifier begins with ``=``."""
    for _, term in placed(text):
        yield term


def placed(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the terms of a text, each with start and end of the chunk that it is of."""
    for match in _CHUNK.finditer(_without_credentials(text)):
        for term in _met(match[0]):
            yield match.span(), term


def placed_among(text: str, wanted: Collection[str]) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield what ``placed`` yields, of some terms alone; in a long text this is faster."""
    met: dict[str, tuple[str, ...]] = {}
    for match in _CHUNK.finditer(_without_credentials(text)):
        chunk = match[0]
        if chunk not in met:
            met[chunk] = tuple(term for term in _met(chunk) if term in wanted)
        for term in met[chunk]:
            yield match.span(), term


@lru_cache(20_000)
def _met(chunk: str) -> tuple[str, ...]:
    """Return the terms of a chunk; texts that are shown have most of them several times."""
    return terms(chunk)


def pieces(text: str) -> list[bytes]:
    """Return the pieces of a text in their order, of each of which ``terms_of`` gives the terms.

    They are cut at whatever cannot be part of a word, in the fastest way that Python has:
    nearly all pieces were met before, and only a new one is looked at closely.
    """
    data = _without_credentials(text).encode("utf-8", "replace")
    # A word is a piece of its own at the end of a sentence, unless its full stop is cut off here.
    data = data.replace(b". ", b"  ").replace(b".\n", b" \n")
    if b"::" in data:
        return data.translate(_BLANKS_BUT_COLONS).split()
    return data.translate(_BLANKS).split()


def terms_of(piece: bytes) -> list[str]:
    """Return the terms of a piece."""
    text = piece.decode("utf-8")
    return [term for chunk in _CHUNK.findall(text) for term in terms(chunk)]


def _without_credentials(text: str) -> str:
    # Offsets stay what they are.
    if any(hint in text for hint in _HINTS):
        text = _CREDENTIAL.sub(_blank, text)
    lowered = text.lower()
    if any(hint in lowered for hint in _SPOKEN_HINTS):
        text = _NAMED_CREDENTIAL.sub(_blank, text)
    return text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _is_random(chunk: str) -> bool:
    return any(
        len(piece) >= _RANDOM and piece.isascii() and not piece.isalpha() and not piece.isdecimal()
        for piece in re.split(r"[./:]", chunk)
    )


def terms(chunk: str) -> tuple[str, ...]:
    """Return the terms of a chunk."""
    if len(chunk) > LONGEST and not _UNSPACED.search(chunk):
        return ()
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        return tuple(_word(chunk, alone=True))
    if len(chunk) >= _RANDOM and _is_random(chunk):
        return ()
    if not chunk.isascii():
        chunk = unicodedata.normalize("NFC", chunk)
    parts = [part for piece in _PARTS.split(chunk) for part in _by_case(piece)]
    alone = len(parts) == 1
    found = [term for part in parts for term in _part(part, alone)]
    if len(parts) > 1:
        found.append(f"={chunk.casefold()}")
    return tuple(found)


def _by_case(piece: str) -> list[str]:
    if piece.islower():
        return [piece]
    return [part for part in _CAMEL.split(piece) if part]


def _part(part: str, alone: bool) -> Iterator[str]:
    if part.isascii():
        yield from _word(part, alone)
        return
    rest = 0
    for run in _UNSPACED.finditer(part):
        yield from _word(part[rest : run.start()], alone)
        yield from _pairs(run[0])
        rest = run.end()
    yield from _word(part[rest:], alone)


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _word(part: str, alone: bool) -> Iterator[str]:
    word = part.casefold()
    if word.isdecimal():
        # The numbers of a version or a date mean little by themselves.
        if alone or len(word) > 2:
            yield word
    elif (len(word) > 1 or not word.isascii()) and word not in STOP:
        yield _stem(word)


@lru_cache(1)
def _english() -> object:
    import snowballstemmer  # type: ignore[import-untyped]

    return snowballstemmer.stemmer("english")


@lru_cache(100_000)
def _stem(word: str) -> str:
    if not word.isascii() or not word.isalpha():
        return word
    stemmed: str = _english().stemWord(word)  # type: ignore[attr-defined]
    return stemmed


def near(word: str) -> Iterator[str]:
    """Yield what is one edit away from a word of five letters or more, of ASCII letters alone."""
    if len(word) < 5 or not (word.isascii() and word.isalpha()):
        return
    letters = "abcdefghijklmnopqrstuvwxyz"
    for place in range(len(word) + 1):
        head, tail = word[:place], word[place:]
        yield from (head + letter + tail for letter in letters)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in letters)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
