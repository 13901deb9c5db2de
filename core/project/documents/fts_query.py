"""Query the index: which documents match, best first, and how many."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from hindnote.core.project.documents.document import normalized

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hindnote.core.project.documents.query import Query

Found: TypeAlias = tuple[list[tuple[int, str, float]], int]
"""Number, path and rank of the best documents, best first; and the number of all matches."""

Question: TypeAlias = Callable[[sqlite3.Connection], Found]

WEIGHTS = "5.0, 3.0, 1.0"
"""Weights of a word in the title, the metadata and the body."""


def ask(
    connection: sqlite3.Connection,
    words: Query,
    filters: Mapping[str, Any] | None,
    limit: int | None,
) -> Found:
    """Return the matching documents, only the best ones with a limit; and the number of all.

    Args:
        connection: The index's connection.
        words: The words that the documents must contain.
        filters: A value, or alternative values, by frontmatter key.
        limit: Maximum number of documents; None for all.
    """
    condition, values = _filters(connection, filters or {})
    source, rank = f"documents d WHERE {condition}", "0.0"
    if words.expression is not None:
        values.insert(0, words.expression)
        rank = f"bm25(words, {WEIGHTS})"
        source = f"words JOIN documents d ON d.id = words.rowid WHERE words MATCH ? AND {condition}"
    statement = f"SELECT d.id, d.path, {rank} AS rank FROM {source} ORDER BY rank, d.path"
    if limit is not None:
        statement += f" LIMIT {limit}"
    rows = connection.execute(statement, values).fetchall()
    if limit is None or len(rows) < limit:
        return rows, len(rows)
    if words.expression is not None and not filters:
        # Every row of ``words`` has its document, and a join would double the time for counting.
        source = "words WHERE words MATCH ?"
    return rows, connection.execute(f"SELECT count(*) FROM {source}", values).fetchone()[0]


def _filters(connection: sqlite3.Connection, filters: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return the SQL condition for documents ``d``, and its values."""
    conditions, values = ["1"], []
    for number, (sharing, wanted) in enumerate(_rarest_first(connection, filters)):
        found = f"SELECT document FROM fields WHERE {sharing}"
        # The rarest filter is looked up; the others are only checked for its results.
        conditions.append(
            f"EXISTS ({found} AND document = d.id)" if number else f"d.id IN ({found})"
        )
        values += wanted
    return " AND ".join(conditions), values


def _rarest_first(
    connection: sqlite3.Connection, filters: Mapping[str, Any]
) -> list[tuple[str, list[Any]]]:
    """Return each filter's condition and values, the filter with the fewest matches first."""
    found = []
    for key, wanted in filters.items():
        choices = wanted if isinstance(wanted, list) else [wanted]
        marks = ", ".join("?" * len(choices))
        values = [key, *(normalized(choice) for choice in choices)]
        found.append((f"key = ? AND value IN ({marks})", values))
    if len(found) < 2:
        return found

    def count(item: tuple[str, list[Any]]) -> int:
        sharing, values = item
        statement = f"SELECT count(*) FROM fields WHERE {sharing}"
        return int(connection.execute(statement, values).fetchone()[0])

    return sorted(found, key=count)
