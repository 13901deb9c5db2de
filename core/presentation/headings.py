"""Searches with colors, or whose files are headings, as ripgrep prints them on a terminal.

With ``--heading`` a file's name stands on a line of its own, its lines below it as ``12:text``
or ``13-text``, and a blank line between two files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# What grep --color and rg --color=always put around paths and matches: SGR, and the erasing
# of a line's rest.
_COLORS = re.compile("\x1b\\[[0-9;:]*[mK]")
_NUMBERED = re.compile(r"(\d{1,9})([:-])(.*)", re.DOTALL)
_NAMED = re.compile(r".+(?::\d+:|-\d+- )")
_SEPARATOR = "--"


def uncolored(text: str) -> str:
    """Return a search's text without colors.

    Both programs color a line's path or number, so a colored line begins with an escape; one
    that stands further behind is what the file holds.
    """
    if not text.startswith("\x1b[") and "\n\x1b[" not in text:
        return text
    return _COLORS.sub("", text)


def inlined(lines: Sequence[str]) -> list[str]:
    """Return the lines with each file's name in front, as without headings.

    Lines that are not wholly of that form are returned as they are.
    """
    found: list[str] = []
    file, count = None, 1
    for line in lines:
        numbered = _NUMBERED.fullmatch(line)
        if file is None:
            # A heading, behind another file's lines.
            if numbered or not line or not count or _NAMED.match(line):
                return [*lines]
            file, count = line, 0
        elif not line:
            file = None
        elif line == _SEPARATOR:
            found.append(line)
        elif numbered:
            number, mark, text = numbered.groups()
            found.append(f"{file}{mark}{number}{mark} {text}")
            count += 1
        else:
            return [*lines]
    return found if file is not None and count else [*lines]
