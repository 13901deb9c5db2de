"""``project_artifact_search``: ranked search with exact filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from hindnote.core.project.contract.documents import Scope
from hindnote.core.project.documents import profiles, query
from hindnote.core.project.documents.corpus import Corpus, Coverage, Freshness, with_corpus
from hindnote.core.project.documents.fts_query import WEIGHTS, ask
from hindnote.core.project.documents.integrity import stored
from hindnote.core.project.documents.profiles import Profiles, Subject
from hindnote.core.project.documents.query import Match, Query, Wanted
from hindnote.core.project.documents.redact import is_safe
from hindnote.core.project.documents.related import Relations
from hindnote.core.project.markdown import shown
from hindnote.core.project.outcome import Observation
from hindnote.core.project.rendering import View
from hindnote.core.project.tool import Call, RootParams
from hindnote.core.text.messages import counted, inline

FilterValue = str | bool | int | float
FilterValues = Annotated[list[FilterValue], Field(max_length=500)]


class SearchParams(RootParams):
    """Parameters of a search."""

    query: str = ""
    """Words to find; a word of 3 letters or more also finds longer ones that begin with it."""

    required_terms: list[str] | None = None
    """Words or phrases that every hit must hold."""

    optional_terms: list[str] | None = None
    """Words or phrases that raise a hit's score."""

    filters: Annotated[dict[str, FilterValue | FilterValues], Field(max_length=50)] | None = None
    """Frontmatter key to a value, or to values of which one must match; all keys must match."""

    scopes: Annotated[list[Scope], Field(min_length=1)] | None = None
    """Default: docs and todos."""

    match: Match = "all"
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    related_limit: Annotated[int, Field(ge=0, le=20)] = 0
    """Related documents for each hit."""

    max_snippet_chars: Annotated[int, Field(ge=60, le=1000)] = 220
    freshness: Freshness = "auto"
    """auto: compare size, time and inode; strict: compare contents; memory: use no cache."""

    rebuild: bool = False
    """Make the index anew."""

    explain: bool = False
    """Say with each hit how its score came about."""


@dataclass(frozen=True, slots=True)
class _Hit:
    number: int
    path: str
    score: float


@dataclass(frozen=True, slots=True)
class _Search:
    call: Call
    params: SearchParams
    query: Query
    wanted: Wanted
    corpus: Corpus
    profiles: Profiles

    def observation(self) -> Observation:
        hits, total = self._hits()
        relations = Relations(self.corpus)
        data = {
            "results": [self._row(hit, relations) for hit in hits],
            "cache_state": self.corpus.cache_state,
        }
        return Observation(data, totals={"results": total})

    def _hits(self) -> tuple[list[_Hit], int]:
        """Return the best hits up to the limit, and the number of all."""
        corpus, limit = self.corpus, self.params.limit
        scopes = corpus.scopes
        # If only some documents may be shown, all hits must be read and filtered.
        rows, total = corpus.found or ask(
            corpus.connection, self.query, self.params.filters, None if corpus.filtered else limit
        )
        hits = [
            _Hit(number, path, max(0.0, round(-score, 6)))
            for number, path, score in rows
            if path in scopes
        ]
        return (hits[:limit], len(hits)) if corpus.filtered else (hits, total)

    def _row(self, hit: _Hit, relations: Relations) -> dict[str, Any]:
        held = stored(self.corpus.connection, hit.number)
        title, preview, values = held.title, held.preview, held.values()
        scope = self.corpus.scopes[hit.path]
        facets = list(_facets(values))
        limit = self.params.max_snippet_chars
        place = query.first_hit(preview, self.wanted)
        provenance: dict[str, Any] = {
            "scope": scope,
            "source": "memory" if self.corpus.index.in_memory else "index",
            "hash": held.hash,
            "matched": self._matched(title, values, place),
        }
        if self.params.explain:
            provenance["explanation"] = self._explanation(hit, provenance["matched"])
        return {
            "path": hit.path,
            "kind": "todo" if scope == "todos" else "document",
            "title": title,
            "snippet": query.snippet(preview, place or 0, limit),
            "score": hit.score,
            "facets": facets,
            "confidence": self._confidence(hit.path, scope, values, facets),
            "provenance": provenance,
            "related": relations.of(hit.number, self.params.related_limit),
            "preview_covered": bool(held.covered),
        }

    def _matched(self, title: str, values: Mapping[str, Any], place: int | None) -> list[str]:
        wanted = self.wanted
        if not wanted.words:
            return ["filter"]
        metadata = " \n".join(_texts(values))
        found = {
            "title": query.first_hit(title, wanted) is not None,
            "metadata": query.first_hit(metadata, wanted) is not None,
            "body": place is not None,
        }
        return [name for name, hit in found.items() if hit] or ["body"]

    def _explanation(self, hit: _Hit, matched: list[str]) -> str:
        if self.query.expression is None:
            return "no words asked for: every document that passes the filters, by path"
        return (
            f"bm25 with weights title, metadata, body = {WEIGHTS}: {hit.score}; found in "
            f"{', '.join(matched)}; match {self.params.match}"
        )

    def _confidence(
        self, path: str, scope: str, values: dict[str, Any], facets: list[dict[str, Any]]
    ) -> dict[str, Any]:
        applied, findings = (
            self.profiles.findings(Subject(path, scope, values)) if self.profiles else (False, [])
        )
        doubted = {finding.field for _, finding in findings}
        good = "profile_validated" if applied else "raw_exact"
        return {
            "label": "profile_warning" if findings else good,
            "fields": [
                {
                    "field": facet["name"],
                    "label": "profile_warning" if facet["name"] in doubted else good,
                }
                for facet in facets
            ],
            "evidence": [_evidence(provider, finding) for provider, finding in findings],
        }


def search(call: Call, params: SearchParams) -> Observation:
    """Return the documents that match, best first."""
    words = query.build(
        params.query, params.match, params.required_terms or (), params.optional_terms or ()
    )
    wanted = words.wanted()
    providers = call.providers or profiles.installed()
    known = profiles.ask(providers, call.workspace.path)
    scopes = tuple(dict.fromkeys(params.scopes or ("docs", "todos")))
    return with_corpus(
        Coverage(call, scopes, params.freshness),
        lambda corpus: _Search(call, params, words, wanted, corpus, known).observation(),
        question=lambda connection: ask(connection, words, params.filters, params.limit),
        rebuild=params.rebuild,
    )


def _texts(values: Mapping[str, Any]) -> Iterator[str]:
    for value in values.values():
        for item in value if isinstance(value, list) else [value]:
            text = shown(item)
            if text:
                yield text


def _facets(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the metadata of a document that may be shown."""
    for key, value in values.items():
        if key == "title":
            continue
        texts = [shown(item) for item in (value if isinstance(value, list) else [value])]
        safe = [text for text in texts if text and is_safe(key, text)]
        if safe:
            yield {"name": key, "tags" if key == "tags" else "values": safe}


def _evidence(provider: str, finding: profiles.Finding) -> dict[str, Any]:
    told = {"provider": provider, "finding": finding.message}
    return told if finding.field is None else {**told, "field": finding.field}


def view(data: Mapping[str, Any], totals: Mapping[str, int]) -> View:
    """Render a search as lines: one for each hit, with its snippet below."""
    rows, state = data["results"], data["cache_state"]
    total = totals.get("results", len(rows))
    hits = counted(total, "hit", grouped=False)
    documents = counted(state["documents"], "document", grouped=False)
    summary = f"{len(rows)} of {hits} in {documents}"
    if state["previews_partial"]:
        summary += (
            f"; of {state['previews_partial']} only the first 1,200 characters of the body are "
            "searched"
        )
    lines = []
    for row, score in zip(rows, _scores(rows), strict=True):
        lines.append(" | ".join([row["path"], inline(row["title"]), *score, *_doubts(row)]))
        if row["snippet"]:
            lines.append(f"    {row['snippet']}")
        if "explanation" in row["provenance"]:
            lines.append(f"    {row['provenance']['explanation']}")
        lines += [f"    {item['relation']}: {item['path']}" for item in row["related"]]
    return View(summary, lines, {"results": len(rows), "total": total}, _LEFT_OUT if rows else "")


_LEFT_OUT = "hits without facets, confidence, hash and provenance; a small limit shows them"


def _doubts(row: Mapping[str, Any]) -> list[str]:
    """Return the findings of profiles about a hit, for its line."""
    return [f"profile_warning: {one['finding']}" for one in row["confidence"]["evidence"]]


def _scores(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return each hit's score for its line; nothing if all scores would look the same.

    With few documents, scores are around a millionth, so significant digits are shown.
    """
    rounded = (Decimal(format(row["score"], ".3g")) for row in rows)
    told = [f"score {score:f}" for score in rounded]
    return [[score] for score in told] if len(set(told)) > 1 else [[] for _ in told]
