"""Counts with their nouns, as sentences have them."""

from __future__ import annotations


def counted(count: int, noun: str, *, grouped: bool = True) -> str:
    """Return a count with its noun: ``1 session``, ``1,200 matches``.

    Args:
        count: How many.
        noun: What, in the singular.
        grouped: Whether a comma parts the thousands, as a person likes it.
    """
    if count != 1:
        noun += "es" if noun.endswith(("s", "x", "ch", "sh")) else "s"
    return f"{count:,} {noun}" if grouped else f"{count} {noun}"
