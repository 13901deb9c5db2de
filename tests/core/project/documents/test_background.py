"""Work beside a block, and questions that are asked of an index while files are looked at."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.project.documents import corpus as corpora
from hindnote.core.project.documents import search as searching
from hindnote.core.project.documents.background import Aside

Run = Callable[..., Any]
Write = Callable[..., Path]


def test_work_runs_while_the_block_does_and_has_ended_after_it() -> None:
    block = threading.Event()

    def work() -> str:
        assert block.wait(10)
        return "done"

    with Aside(work) as aside:
        block.set()

    assert aside.result() == "done"


def test_what_work_raises_is_raised_where_its_result_is_wanted() -> None:
    def work() -> None:
        raise sqlite3.OperationalError("locked")

    with Aside(work) as aside:
        pass

    with pytest.raises(sqlite3.OperationalError, match="locked"):
        aside.result()


def no_thread(*_: Any) -> None:
    raise RuntimeError("can't start new thread")


def test_work_is_done_before_the_block_where_no_thread_can_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    done = []

    with Aside(lambda: done.append(threading.current_thread())) as aside:
        assert done == [threading.current_thread()]

    assert aside.result() is None


@pytest.mark.usefixtures("documents")
def test_a_search_needs_no_thread(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("artifact_search")
    before = run("artifact_search", query="word")
    monkeypatch.setattr(threading.Thread, "start", no_thread)

    assert run("artifact_search", query="word") == before


def test_a_block_that_fails_waits_for_the_work() -> None:
    block = threading.Event()
    ended = []

    def work() -> None:
        assert block.wait(10)
        ended.append(True)

    with pytest.raises(ValueError, match="the block"), Aside(work):
        block.set()
        raise ValueError("the block")

    assert ended == [True]


@pytest.fixture
def documents(write: Write) -> None:
    places = [
        write(
            f"docs/{number % 3}/{number}.md",
            "word " * (number + 1) + "[x](1.md)",
            f"n: {number % 2}",
        )
        for number in range(9)
    ]
    for place in [*places, write("todos/001-ready-p1-word.md", "word")]:
        os.utime(place, ns=(1, 1_600_000_000_000_000_000))


@pytest.mark.usefixtures("documents")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": "word"},
        {"query": "word", "limit": 3},
        {"query": "word", "limit": 10},
        {"query": "nothing of it"},
        {"filters": {"n": 1}, "limit": 2},
        {"query": "word", "filters": {"n": [0, 1]}, "related_limit": 2, "explain": True},
        {"query": "word", "scopes": ["docs"], "limit": 3},
        {"query": "word", "scopes": ["todos", "docs"]},
        {"query": "word", "docs_root": "docs/1", "limit": 2},
        {"query": "word", "freshness": "strict"},
    ],
)
def test_a_question_asked_early_finds_what_it_would_find_later(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]
) -> None:
    run("artifact_search")
    early = run("artifact_search", **arguments)
    real = corpora.with_corpus

    def later(*given: Any, question: Any, **options: Any) -> Any:
        return real(*given, **options)

    monkeypatch.setattr(searching, "with_corpus", later)

    assert run("artifact_search", **arguments) == early


@pytest.mark.usefixtures("documents")
def test_it_is_asked_once_when_nothing_changed_and_again_when_something_did(
    base: Path, run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("artifact_search")
    asked = []
    real = searching.ask

    def ask(*arguments: Any) -> Any:
        asked.append(threading.current_thread())
        return real(*arguments)

    monkeypatch.setattr(searching, "ask", ask)

    run("artifact_search", query="word")
    assert len(asked) == 1
    write("docs/new.md", "word")
    rows = run("artifact_search", query="word").dto["data"]["results"]
    assert len(asked) == 3
    assert "docs/new.md" in {row["path"] for row in rows}
    (base / "docs" / "new.md").unlink()
    rows = run("artifact_search", query="word").dto["data"]["results"]
    assert len(asked) == 5
    assert len(rows) == 10
