"""The documents that a call covers, with an up-to-date index."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from hindnote.core.fs.handles import closing
from hindnote.core.project.contract.documents import Scope
from hindnote.core.project.documents import index_file
from hindnote.core.project.documents.background import Aside
from hindnote.core.project.documents.index import Index
from hindnote.core.project.documents.index_file import Unusable
from hindnote.core.project.documents.integrity import Unsound
from hindnote.core.project.documents.walk import DocumentWalk
from hindnote.core.project.tool import Call

if TYPE_CHECKING:
    from hindnote.core.project.documents.fts_query import Found, Question
    from hindnote.core.project.effects import EffectLog

Freshness = Literal["auto", "strict", "memory"]
T = TypeVar("T")


@dataclass(slots=True)
class Corpus:
    """An up-to-date index, and the documents that the call may return."""

    index: Index
    scopes: Mapping[str, str]
    """Scope of every covered document, by path."""

    filtered: bool
    """Whether the index contains other documents as well."""

    cache_state: dict[str, Any]

    found: Found | None = None
    """The result of the call's question; None if the index must still be asked."""

    @property
    def connection(self) -> sqlite3.Connection:
        """The index's connection."""
        return self.index.connection


@dataclass(frozen=True, slots=True)
class Coverage:
    """The documents that a call covers, and how to compare them with the index."""

    call: Call
    scopes: tuple[Scope, ...]
    freshness: Freshness

    @property
    def whole(self) -> bool:
        """Whether every document is covered."""
        return len(self.scopes) == len(get_args(Scope))

    def refreshed(self, index: Index, beside: AbstractContextManager[object]) -> Corpus:
        """Return the covered documents after updating an index.

        Args:
            index: The index.
            beside: A context that is active while the files are compared with the index.
        """
        strict = self.freshness == "strict"
        walk = DocumentWalk(self.call.workspace, self.scopes, anew=self.freshness != "auto")
        self.call.effects.reached("indexing")
        found = index.refresh(walk, strict=strict, beside=beside)
        covered: Mapping[str, str] = found.covered
        if not self.whole:
            covered = {path: scope for path, scope in covered.items() if scope in self.scopes}
        return Corpus(
            index,
            covered,
            found.others or covered is not found.covered,
            {
                "state": "fresh",
                "freshness": self.freshness,
                "documents": len(covered),
                "refreshed": found.refreshed,
                "previews_partial": _partial(index.connection, covered),
                "unreadable": walk.unreadable + found.unreadable,
                "roots": walk.roots,
            },
        )


def with_corpus(
    coverage: Coverage,
    work: Callable[[Corpus], T],
    *,
    question: Question | None = None,
    rebuild: bool = False,
) -> T:
    """Return the result of ``work``, which may be called again with a new index.

    A damaged index is rebuilt once; if no index can be stored, one in memory is used.

    Args:
        coverage: The documents to cover.
        work: Processes the corpus.
        question: A query that is run on the index while the files are compared with it. Its result
            is used if it turns out that no file has changed.
        rebuild: Whether to rebuild the index.
    """
    if coverage.freshness == "memory":
        return _in_memory(coverage, work, None)
    try:
        state = index_file.opened_state(coverage.call.workspace, coverage.call.effects)
    except Unusable as error:
        return _in_memory(coverage, work, _not_kept(error))
    with closing(state):
        reason = "a rebuild was asked for" if rebuild else None
        for attempt in (1, 2):
            try:
                index = None if reason else index_file.load(state)
                return _on_disk(coverage, work, question, state, index, reason)
            except Unusable as error:
                return _in_memory(coverage, work, _not_kept(error))
            except Unsound as error:
                if attempt == 2:
                    raise
                reason = f"the index was damaged or foreign: {error}"
    raise AssertionError("unreachable")


def _not_kept(error: Exception) -> str:
    return f"no index can be kept on disk: {error}"


def _on_disk(
    coverage: Coverage,
    work: Callable[[Corpus], T],
    question: Question | None,
    state: int,
    loaded: Index | None,
    reason: str | None,
) -> T:
    """Use the loaded index or a new one, then store it."""
    effects = coverage.call.effects
    index = loaded or index_file.new_index()
    try:
        early = None
        if question is not None and loaded is not None and coverage.whole:
            early = Aside(lambda: question(index.connection))
        corpus = coverage.refreshed(index, early or nullcontext())
        told = corpus.cache_state
        if loaded is None:
            told["state"] = "rebuilt"
            told["reason"] = reason or "there was no index yet"
        elif told["refreshed"]:
            told["state"] = "refreshed"
        if early is not None and not corpus.filtered and not told["refreshed"]:
            corpus.found = early.result()
        if index.file is None:
            _save(state, index, told, effects)
        elif effects.cache == "possible":
            effects.cache = "none"
        answer = work(corpus)
    except (sqlite3.DatabaseError, UnicodeDecodeError, JSONDecodeError) as error:
        index.connection.close()
        raise Unsound(str(error)) from error
    except BaseException:
        index.connection.close()
        raise
    index_file.keep(index)
    return answer


def _save(state: int, index: Index, told: dict[str, Any], effects: EffectLog) -> None:
    try:
        index_file.save(state, index)
    except OSError as error:
        told["state"] = "memory"
        told["reason"] = _not_kept(error)
    else:
        effects.touched_cache()


def _in_memory(coverage: Coverage, work: Callable[[Corpus], T], reason: str | None) -> T:
    index = index_file.new_index()
    try:
        corpus = coverage.refreshed(index, nullcontext())
        corpus.cache_state["state"] = "memory"
        if reason is not None:
            corpus.cache_state["reason"] = reason
        return work(corpus)
    finally:
        index.connection.close()


def _partial(connection: sqlite3.Connection, covered: Mapping[str, str]) -> int:
    rows = connection.execute("SELECT path FROM documents WHERE NOT covered")
    return sum(path in covered for (path,) in rows)
