"""Parse searches with colors, or with file headings, as ripgrep prints them on a terminal.

With ``--heading`` a file's name is on a separate line, followed by its lines as ``12:text`` or
``13-text``, and a blank line separates two files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Escape codes of grep --color and rg --color=always around paths and matches: SGR, and erasing the
# rest of a line.
_COLORS = re.compile("\x1b\\[[0-9;:]*[mK]")
_NUMBERED = re.compile(r"(\d{1,9})([:-])(.*)", re.DOTALL)
_NAMED = re.compile(r".+(?::\d+:|-\d+- )")
_SEPARATOR = "--"


def uncolored(text: str) -> str:
    """Return a search's text without colors.

    Both programs color a line's path or number, so a colored line begins with an escape code; a
    code further to the right is part of the file.
    """
    if not text.startswith("\x1b[") and "\n\x1b[" not in text:
        return text
    return _COLORS.sub("", text)


def inlined(lines: Sequence[str]) -> list[str]:
    """Return the lines with each file's name in front, as they would be without headings.

    Lines that do not completely follow this format are returned unchanged.
    """
    found: list[str] = []
    file, count = None, 1
    for line in lines:
        numbered = _NUMBERED.fullmatch(line)
        if file is None:
            # A heading after another file's lines.
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
