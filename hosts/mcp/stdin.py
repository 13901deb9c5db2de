r"""Standard input as a server reads it: one JSON text per line, lone surrogates mended.

A program whose strings are UTF-16 writes half of a pair as an escape like ``\ud83d``.
The SDK refuses such a line as a whole and cannot say which request it was, so the
program would wait for ever. Each half becomes U+FFFD, as everywhere else.
"""

from __future__ import annotations

import json
from io import TextIOWrapper

from hindnote.core.text import clean_json


class Mended(TextIOWrapper):
    """The lines of a byte stream, as UTF-8."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Return the next line, empty at the end."""
        return mended(super().readline(size))


def mended(line: str) -> str:
    """Return a line without lone surrogates; one that is no JSON is left to the reader."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    try:
        return json.dumps(clean_json(json.loads(line)), ensure_ascii=False) + "\n"
    except (ValueError, RecursionError):
        return line
