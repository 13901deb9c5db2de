"""The rows of a unified patch, for an edit without a recorded display diff."""

from __future__ import annotations

import re

from hindnote.core.presentation.models import DiffRow

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@.*")
_HEADER = re.compile(r"(?:---|\+\+\+|Index:|={3,}|diff |index )")


def patch_rows(patch: str) -> list[DiffRow] | None:
    """Return the rows of a patch; None for a text without any hunk.

    A removed line has its number in the old file, any other line that in the new file.
    """
    rows: list[DiffRow] = []
    old = new = 0
    begun = False
    for line in patch.removesuffix("\n").split("\n"):
        hunk = _HUNK.fullmatch(line)
        if hunk:
            if begun:
                rows.append(DiffRow(marker="…", text="..."))
            begun, old, new = True, int(hunk.group(1)), int(hunk.group(2))
        elif not begun and (not line or _HEADER.match(line)):
            continue
        elif begun and line[:1] == "-":
            rows.append(DiffRow(marker="-", line=old, text=line[1:]))
            old += 1
        elif begun and line[:1] == "+":
            rows.append(DiffRow(marker="+", line=new, text=line[1:]))
            new += 1
        elif begun and line[:1] in (" ", ""):
            rows.append(DiffRow(marker=" ", line=new, text=line[1:]))
            old, new = old + 1, new + 1
        else:
            rows.append(DiffRow(marker=None, text=line))
    return rows if begun else None
