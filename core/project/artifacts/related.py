"""Documents that have to do with a hit: by links either way, and by values they share."""

from __future__ import annotations

from typing import Any

from hindnote.core.project.artifacts.corpus import Corpus

_QUERIES = {
    "links_to": """
        SELECT d.path, d.title FROM links l JOIN documents d ON d.path = l.target
        WHERE l.document = ? ORDER BY d.path
    """,
    "linked_from": """
        SELECT d.path, d.title FROM links l JOIN documents d ON d.id = l.document
        WHERE l.target = (SELECT path FROM documents WHERE id = ?) ORDER BY d.path
    """,
    "shares_value": """
        SELECT d.path, d.title FROM fields f
        JOIN fields g ON g.key = f.key AND g.value = f.value AND g.document <> f.document
        JOIN documents d ON d.id = g.document WHERE f.document = ? AND f.type = 'list'
        GROUP BY d.id ORDER BY count(*) DESC, d.path
    """,
}


def related(corpus: Corpus, number: int, limit: int) -> list[dict[str, Any]]:
    """Return at most ``limit`` related documents of one, the closest relation first."""
    found: dict[str, dict[str, Any]] = {}
    for relation, statement in _QUERIES.items():
        for path, title in corpus.connection.execute(statement, (number,)):
            if len(found) >= limit:
                break
            if path in corpus.scopes and path not in found:
                found[path] = {"path": path, "title": title, "relation": relation}
        if len(found) >= limit:
            break
    return list(found.values())
