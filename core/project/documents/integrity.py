"""What the index holds of one document, and the error for an index that cannot be trusted."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, NamedTuple


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

    def values(self) -> dict[str, Any]:
        """Return the metadata."""
        found: dict[str, Any] = json.loads(self.metadata)
        return found


def stored(connection: sqlite3.Connection, number: int) -> Stored:
    """Return a document as it was written into the index.

    Raises:
        Unsound: It is not there.
    """
    row = connection.execute(
        "SELECT path, hash, title, covered, preview, metadata FROM documents "
        "JOIN contents ON document = id WHERE id = ?",
        (number,),
    ).fetchone()
    if row is None:
        raise Unsound("it lacks a document")
    return Stored(*row)
