"""The texts of messages: one line of bounded length, with what others wrote quoted and escaped."""

from __future__ import annotations

import re

MESSAGE_LIMIT = 2_000
"""Code points of a refusal's message, at most."""

QUOTE_LIMIT = 200
"""Code points of quoted input inside a message, at most, so that facts keep their room."""

# Not compiled here, as most calls refuse nothing.
_LINE_BREAKS = "[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]"
_NAMED_BREAKS = {"\n": "\\n", "\r": "\\r", "\x0b": "\\v", "\x0c": "\\f"}


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return _NAMED_BREAKS.get(char, f"\\u{ord(char):04x}")


def one_line(message: str) -> str:
    """Return ``message`` with line breaks escaped, cut to the message limit."""
    line = _visible(message)
    return line if len(line) <= MESSAGE_LIMIT else line[: MESSAGE_LIMIT - 1] + "…"


def quote(value: str) -> str:
    """Return caller's input for use in a message: quoted, one line, cut at ``QUOTE_LIMIT``.

    Input is cut here, before it meets the facts of a message, so that no long
    input can push a fact over the message limit.
    """
    return f"“{_visible(cut(value))}”"


def _visible(text: str) -> str:
    """Return a text on one line, with nothing that a terminal would obey or hide."""
    if text.isascii() and text.isprintable():
        return text
    from hindnote.core.text.controls import escaped

    return escaped(re.sub(_LINE_BREAKS, _escape, text))


def cut(value: str) -> str:
    """Return caller's input for use in a message, cut at ``QUOTE_LIMIT``."""
    return value if len(value) <= QUOTE_LIMIT else value[: QUOTE_LIMIT - 1] + "…"


WORDS_SHOWN = 200
"""Code points of the beginning of a text by which people know it, at most."""


def first_words(text: str) -> str | None:
    """Return how a text begins, on one line and shortened; None when there are no words in it."""
    # A prompt may hold a whole file, and its beginning is enough.
    line = " ".join(text[: 8 * WORDS_SHOWN].split())
    return f"{line[: WORDS_SHOWN - 1]}…" if len(line) > WORDS_SHOWN else line or None
