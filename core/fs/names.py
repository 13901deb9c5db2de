"""File names that other systems reject, confuse with another name, or hide."""

from __future__ import annotations

import re
import unicodedata

RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "123456789¹²³"}
)
"""Names that Windows reserves for devices, also with any suffix after the first dot.

Microsoft, "Naming Files, Paths, and Namespaces"; superscript digits count as digits.
"""

# Format characters (direction, zero width, tags, soft hyphen, byte order mark), fillers that are
# displayed as nothing, and variation selectors, whose category is mark instead of format.
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff"
_INVISIBLE_MARKS = re.compile(f"[{_FILLERS}]")
_JOINERS = "\u200c\u200d"
_EMOJI_SELECTOR = "\ufe0f"


def same_elsewhere(name: str) -> str:
    """Return a key that is equal for two names that some file system treats as one.

    macOS and Windows ignore letter case; macOS also ignores the Unicode normalization form.
    """
    folded = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", folded)


def is_reserved(name: str) -> bool:
    """Return whether Windows reserves a name for a device: ``CON``, ``nul.txt``, ``COM1``."""
    return name.partition(".")[0].rstrip(" ").casefold() in RESERVED


def invisible(name: str) -> str | None:
    """Return the first character of a name that is invisible or changes the text direction.

    Two names that differ only in such characters look the same. Allowed are a joiner between two
    letters or marks, which Persian, Hindi and many emoji need, and the selector after an emoji.
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
    """Return whether a joiner is between two non-ASCII letters, marks or symbols."""
    around = name[max(index - 1, 0) : index] + name[index + 1 : index + 2]
    return len(around) == 2 and all(
        not each.isascii() and unicodedata.category(each)[0] in "LMS" for each in around
    )
