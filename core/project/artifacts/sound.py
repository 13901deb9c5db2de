"""What tells that the index still holds what was written into it.

SQLite notices damage to a file's structure, and nobody notices a value that became
another one. So what is shown of a document carries a seal, which is checked whenever it
is shown. What documents are found by has none: a sum over all of it took a sixth of the
time in which an index is made.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any, NamedTuple

from hindnote.core.disposable import seal


class Unsound(Exception):
    """The index on disk cannot be trusted; it is to be made again."""


class Stored(NamedTuple):
    """What the index holds of one document to be shown."""

    path: str
    hash: str
    title: str
    covered: int
    """Whether the preview is all of the body: 0 or 1."""

    preview: str
    metadata: str
    """A mapping as JSON."""

    def seal(self, number: int) -> int:
        """Return what another document, or another number, would hardly come to."""
        return seal(number, *self)

    def values(self) -> dict[str, Any]:
        """Return the metadata."""
        found: dict[str, Any] = json.loads(self.metadata)
        return found


def stored(connection: sqlite3.Connection, number: int) -> Stored:
    """Return a document as it was written into the index.

    Raises:
        Unsound: It is not what was written.
    """
    row = connection.execute(
        "SELECT path, hash, title, covered, preview, metadata, seal FROM documents "
        "JOIN contents ON document = id WHERE id = ?",
        (number,),
    ).fetchone()
    if row is not None:
        found = Stored(*row[:-1])
        if found.seal(number) == row[-1]:
            return found
    raise Unsound("a document in it is not as it was written")
