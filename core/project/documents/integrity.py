"""Read one document from the index, and the error for an index that cannot be trusted."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, NamedTuple


class Unsound(Exception):
    """The index on disk cannot be trusted and must be rebuilt."""


class Stored(NamedTuple):
    """The indexed data of one document."""

    path: str
    hash: str
    title: str
    covered: int
    """Whether the preview is the whole body: 0 or 1."""

    preview: str
    metadata: str
    """The frontmatter as a JSON object."""

    def values(self) -> dict[str, Any]:
        """Return the parsed metadata."""
        found: dict[str, Any] = json.loads(self.metadata)
        return found


def stored(connection: sqlite3.Connection, number: int) -> Stored:
    """Return a document from the index.

    Raises:
        Unsound: It does not exist.
    """
    row = connection.execute(
        "SELECT path, hash, title, covered, preview, metadata FROM documents "
        "JOIN contents ON document = id WHERE id = ?",
        (number,),
    ).fetchone()
    if row is None:
        raise Unsound("it lacks a document")
    return Stored(*row)
