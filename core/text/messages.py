"""Texts of messages: one line of limited length, with quoted input escaped."""

from __future__ import annotations

import json
import re

MESSAGE_LIMIT = 2_000
"""Maximum length of a refusal's message, in code points."""

QUOTE_LIMIT = 200
"""Maximum length of quoted input in a message, in code points, which leaves room for the rest."""

# Not compiled here, since most calls refuse nothing.
_LINE_BREAKS = "[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]"
_NAMED_BREAKS = {"\n": "\\n", "\r": "\\r", "\x0b": "\\v", "\x0c": "\\f"}


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return _NAMED_BREAKS.get(char, f"\\u{ord(char):04x}")


def one_line(message: str) -> str:
    """Return ``message`` with line breaks escaped, cut to ``MESSAGE_LIMIT``."""
    line = _visible(message)
    return line if len(line) <= MESSAGE_LIMIT else line[: MESSAGE_LIMIT - 1] + "…"


def quote(value: str) -> str:
    """Return the caller's input for use in a message: quoted, on one line, cut to ``QUOTE_LIMIT``.

    Input is cut before it is put into a message, so a long input cannot push the rest of the
    message over the limit.
    """
    return f"“{_visible(cut(value))}”"


def inline(text: str) -> str:
    """Return what somebody else wrote so that it cannot pass for another fact of its line."""
    if text.isprintable() and " | " not in text:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _visible(text: str) -> str:
    """Return a text on one line, with characters escaped that a terminal would obey or hide."""
    if text.isascii() and text.isprintable():
        return text
    from hindnote.core.text.controls import escaped

    return escaped(re.sub(_LINE_BREAKS, _escape, text))


def cut(value: str) -> str:
    """Return the caller's input for use in a message, cut to ``QUOTE_LIMIT``."""
    return value if len(value) <= QUOTE_LIMIT else value[: QUOTE_LIMIT - 1] + "…"


WORDS_SHOWN = 200
"""Maximum length of the beginning of a text in a list, in code points."""


def first_words(text: str) -> str | None:
    """Return the beginning of a text on one line, shortened; None for a blank text."""
    # A prompt may contain a whole file, and its beginning is enough.
    line = " ".join(text[: 8 * WORDS_SHOWN].split())
    return f"{line[: WORDS_SHOWN - 1]}…" if len(line) > WORDS_SHOWN else line or None


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
