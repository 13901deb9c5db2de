"""Show the hits of a search: a summary, and the words that are highlighted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from hindnote.core.history.operations.models import COUNTED
from hindnote.core.text.controls import escaped
from hindnote.core.text.matching import Matcher
from hindnote.core.text.messages import counted

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


def summary(page: dict[str, Any], advice: str) -> str:
    """Return a summary of a list over many sessions: its hits, and what was not searched.

    Args:
        page: The result of ``history_list``.
        advice: How to reach the sessions that remain.
    """
    covered, remaining = page["sessions_covered"], page["sessions_remaining"]
    skipped = page.get("sessions_skipped", 0)
    total = counted(covered + remaining + skipped, "session")
    said = [counted(len(page["items"]), "hit"), f"{covered:,} of {total} searched to the end"]
    if page.get("more"):
        said.append(f"{page['more']:,}{'+' if page['more'] >= COUNTED else ''} more hold a word")
    if page.get("lookups_omitted"):
        said.append(f"{page['lookups_omitted']:,} look-ups by hindnote's own tools left out")
    if skipped:
        said.append(f"{skipped:,} cannot be read ('hindnote doctor --sessions' tells why)")
    if remaining:
        said.append(advice)
    if page.get("note"):
        said.append(escaped(str(page["note"])))
    return "; ".join(said)


def surrounded(row: dict[str, Any], content: str) -> str:
    """Return the content of a hit, with an ellipsis where its event continues."""
    start = row.get("offset_chars") or 0
    before = "… " if start else ""
    after = " …" if start + len(row["content"]) < row["total_chars"] else ""
    return f"{before}{content}{after}"
