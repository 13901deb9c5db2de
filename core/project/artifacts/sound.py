"""What tells that the index still holds what was written into it.

SQLite notices damage to a file's structure, and nobody notices a value that became
another one. So what is shown of a document carries a seal, which is checked whenever it
is shown; what questions are answered from has one sum, which is checked once for each
state of the index's file, since adding it up takes a moment.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import Any, NamedTuple

from hindnote.core.disposable import seal


def _joined(source: str, row: str) -> str:
    """Return a statement for one text of all rows: to go through them here takes thrice as long."""
    return f"SELECT group_concat({row}) FROM {source}"


_TOTALLED = (
    "SELECT id, block FROM words_data",
    "SELECT segid, term, pgno FROM words_idx",
    _joined("words_docsize", "id || hex(sz)"),
    _joined("documents INDEXED BY documents_by_path", "path || id"),
    _joined("documents INDEXED BY partly_covered WHERE NOT covered", "path || id"),
    _joined(
        "fields INDEXED BY fields_by_value", "key || ifnull(value, char(30)) || document || type"
    ),
    _joined("fields INDEXED BY fields_by_document", "document || ' ' || rowid"),
    _joined("links INDEXED BY links_by_document", "document || ' ' || rowid"),
    _joined("links INDEXED BY links_by_target", "target || ' ' || rowid"),
)
"""Statements on what questions are answered from; each has but one order to take rows in."""


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


def total(connection: sqlite3.Connection) -> int:
    """Return the sum of all that questions are answered from."""
    found = 0
    for statement in _TOTALLED:
        for row in connection.execute(statement):
            for part in row:
                found = zlib.crc32(part if isinstance(part, bytes) else str(part).encode(), found)
    return found


def check(connection: sqlite3.Connection) -> None:
    """Compare the sum with the one that was written; where none was, nothing can be told.

    Raises:
        Unsound: It is another one.
    """
    row = connection.execute("SELECT total FROM state").fetchone()
    if row is None or row[0] not in (None, total(connection)):
        raise Unsound("what its answers come from is not as it was written")
