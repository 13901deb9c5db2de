"""Which names other systems could not hold, would take for the same, or would hide."""

from __future__ import annotations

import re
import unicodedata

RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "123456789¹²³"}
)
"""Names that Windows gives to devices, whatever follows their first dot.

Microsoft, "Naming Files, Paths, and Namespaces"; superscript digits count as digits.
"""

# Format characters (direction, zero width, tags, soft hyphen, byte order mark), fillers that
# show as nothing, and variation selectors, which are marks and not format characters.
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff"
_INVISIBLE_MARKS = re.compile(f"[{_FILLERS}]")
_JOINERS = "\u200c\u200d"
_EMOJI_SELECTOR = "\ufe0f"


def same_elsewhere(name: str) -> str:
    """Return what two names share when another file system would take them for one.

    macOS and Windows ignore letter case, and macOS the Unicode form besides.
    """
    folded = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", folded)


def is_reserved(name: str) -> bool:
    """Return whether Windows would take a name for a device's: ``CON``, ``nul.txt``, ``COM1``."""
    return name.partition(".")[0].rstrip(" ").casefold() in RESERVED


def invisible(name: str) -> str | None:
    """Return the first character of a name that shows as nothing or turns the text around.

    Two names that differ by such characters look the same. A joiner between two letters or
    marks, which Persian, Hindi and many emoji need, and the selector after an emoji are no
    such characters.
    """
    if name.isascii():
        return None
    for index, character in enumerate(name):
        if character in _JOINERS:
            if not _joins(name, index):
                return character
        elif character == _EMOJI_SELECTOR:
            if index == 0 or unicodedata.category(name[index - 1]) not in {"So", "Sm", "Po", "Nd"}:
                return character
        elif unicodedata.category(character) == "Cf" or _INVISIBLE_MARKS.match(character):
            return character
    return None


def _joins(name: str, index: int) -> bool:
    """Return whether a joiner stands between two characters of which none is ASCII."""
    around = name[max(index - 1, 0) : index] + name[index + 1 : index + 2]
    return len(around) == 2 and all(
        not each.isascii() and unicodedata.category(each)[0] in "LMS" for each in around
    )
