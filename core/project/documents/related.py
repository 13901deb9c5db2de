"""Find documents related to a hit: by links in both directions, and by shared values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from hindnote.core.project.documents.corpus import Corpus
from hindnote.core.project.documents.integrity import stored

_LINKS = {
    "links_to": """
        SELECT d.id FROM links l JOIN documents d ON d.path = l.target
        WHERE l.document = ? ORDER BY d.path
    """,
    "linked_from": """
        SELECT d.id FROM links l JOIN documents d ON d.id = l.document
        WHERE l.target = (SELECT path FROM documents WHERE id = ?) ORDER BY d.path
    """,
}
_LISTED = """
    SELECT DISTINCT key, value FROM fields
    WHERE document = ? AND type = 'list' AND value IS NOT NULL
"""
_SHARING = "SELECT DISTINCT document FROM fields WHERE key = ? AND value = ?"


class Relations:
    """The relations within one corpus; each shared value is looked up once for all hits."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._execute = corpus.connection.execute
        self._sharing: dict[tuple[str, str], list[int]] = {}

    def of(self, number: int, limit: int) -> list[dict[str, Any]]:
        """Return at most ``limit`` documents related to one, closest relation first."""
        found: dict[str, dict[str, Any]] = {}
        if not limit:
            return []
        for relation, other in self._candidates(number):
            held = stored(self._corpus.connection, other)
            path = held.path
            if path in self._corpus.scopes and path not in found:
                found[path] = {"path": path, "title": held.title, "relation": relation}
                if len(found) == limit:
                    break
        return list(found.values())

    def _candidates(self, number: int) -> Iterator[tuple[str, int]]:
        for relation, statement in _LINKS.items():
            for (other,) in self._execute(statement, (number,)):
                yield relation, other
        for other in self._sharers(number):
            yield "shares_value", other

    def _sharers(self, number: int) -> Iterator[int]:
        """Yield documents that share list values, those with the most shared values first."""
        counts: Counter[int] = Counter()
        for key, value in self._execute(_LISTED, (number,)).fetchall():
            if (key, value) not in self._sharing:
                rows = self._execute(_SHARING, (key, value))
                self._sharing[key, value] = [document for (document,) in rows]
            counts.update(self._sharing[key, value])
        by_count: defaultdict[int, list[int]] = defaultdict(list)
        for document, count in counts.items():
            by_count[count].append(document)
        for count in sorted(by_count, reverse=True):
            yield from (document for document in sorted(by_count[count]) if document != number)
