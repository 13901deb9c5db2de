"""Write changes of the files to the index, in one transaction."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hindnote.core.project.documents.document import spaced

if TYPE_CHECKING:
    from hindnote.core.project.documents.compare import Change, Signature
    from hindnote.core.project.documents.document import Document

TABLES = {
    "documents": "id",
    "contents": "document",
    "fields": "document",
    "links": "document",
    "words": "rowid",
}
"""Every table, with the column that contains the document's number."""

INDEXES = (
    "partly_covered ON documents (path) WHERE NOT covered",
    "fields_by_value ON fields (key, value, document)",
    "fields_by_document ON fields (document)",
    "links_by_document ON links (document)",
    "links_by_target ON links (target)",
)
"""Created after the first documents are added, which is faster than updating them each time."""

_json = json.JSONEncoder(ensure_ascii=False).encode

UNSIGNED = 2**64 - 1
"""The largest inode number: some file systems use all 64 bits."""


def follow(connection: sqlite3.Connection, changes: Sequence[Change], gone: Iterable[str]) -> None:
    """Write all changes or none.

    Args:
        connection: Connection to an index, not in a transaction.
        changes: Documents to write.
        gone: Paths of documents to remove.
    """
    execute = connection.execute
    execute("BEGIN IMMEDIATE")
    try:
        empty = execute("SELECT NOT EXISTS (SELECT 1 FROM documents)").fetchone()[0]
        if not empty:
            _forget(connection, gone)
            _forget(connection, (change.path for change in changes if change.document))
        for change in changes:
            if change.document is None:
                execute(
                    "UPDATE documents SET size = ?, mtime = ?, inode = ? WHERE path = ?",
                    (*_kept(change.signature), change.path),
                )
        _add(connection, [(change, change.document) for change in changes if change.document])
        if empty:
            for index in INDEXES:
                execute(f"CREATE INDEX IF NOT EXISTS {index}")
        execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            execute("ROLLBACK")
        raise


def _forget(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    execute = connection.execute
    for path in paths:
        found = execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchall()
        for (number,) in found:
            for table, column in TABLES.items():
                execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))


def _add(connection: sqlite3.Connection, added: Sequence[tuple[Change, Document]]) -> None:
    many = connection.executemany
    first = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM documents")
    numbered = list(enumerate(added, first.fetchone()[0]))
    many(
        "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                number,
                change.path,
                *_kept(change.signature),
                change.hash,
                document.title,
                document.covered,
            )
            for number, (change, document) in numbered
        ),
    )
    many(
        "INSERT INTO contents VALUES (?, ?, ?)",
        (
            (number, document.preview, _json(document.metadata))
            for number, (_, document) in numbered
        ),
    )
    many(
        "INSERT INTO fields VALUES (?, ?, ?, ?, ?)",
        ((number, *field) for number, (_, document) in numbered for field in document.fields),
    )
    many(
        "INSERT INTO links VALUES (?, ?)",
        ((number, target) for number, (_, document) in numbered for target in document.links),
    )
    many(
        "INSERT INTO words (rowid, title, metadata, body) VALUES (?, ?, ?, ?)",
        ((number, *_words(document)) for number, (_, document) in numbered),
    )


def _kept(signature: Signature) -> Signature:
    """Return a signature with signed numbers, as SQLite requires."""
    size, mtime, inode = signature
    return (size, mtime, inode - UNSIGNED - 1 if inode >> 63 else inode)


def _words(document: Document) -> tuple[str, str, str]:
    values = " \n".join(field.shown for field in document.fields if field.shown)
    return spaced(document.title), spaced(values), spaced(document.preview)
