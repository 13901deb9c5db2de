r"""Escape characters that a terminal would hide or obey instead of showing them.

A terminal obeys control characters (C0, DEL, C1, and so every escape sequence), shows nothing for
some others, and lets some change the direction of all text after them. Everything that hindnote
prints for a person goes through ``escaped``, which writes such a character as a Python string
literal does: ``\x1b``, ``\u202e``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and line feed, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line ends, directions
    "\u3164\ufeff\uffa0\ufff0-\ufffb"  # fillers, the byte order mark, annotations
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # controls of shorthand and of music
    "\U000e0000-\U000e0fff"  # tags and variation selectors of planes
    "\ud800-\udfff"  # halves of characters
)

# A joiner between two letters, which Persian, Hindi and many emoji need, and the selector after an
# emoji are allowed; anywhere else they are invisible.
HIDDEN = re.compile(
    f"[{_ALWAYS}]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
    "|(?<![^\x00-\x7f]|[#*0-9])[\ufe00-\ufe0f]"
)
"""Matches each character that a terminal must not receive. Tab and line feed do not match."""

_LINE_BREAKS = re.compile("[\t\n]")


def escaped(text: str) -> str:
    """Return a text with every hidden character escaped; tabs and line feeds are kept."""
    return replaced(text, _escape)


def escaped_line(text: str) -> str:
    """Return a text on one line, with tabs and line feeds escaped too: for names and messages."""
    return _LINE_BREAKS.sub(lambda found: ascii(found.group())[1:-1], escaped(text))


def replaced(text: str, mark: Callable[[str], str]) -> str:
    """Return a text with every hidden character replaced by the result of ``mark``."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN.sub(lambda found: mark(found.group()), text)


def _escape(character: str) -> str:
    return ascii(character)[1:-1]
