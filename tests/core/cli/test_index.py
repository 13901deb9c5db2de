from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli.app import make_app
from hindnote.core.recall.schema import index_file


def run(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), arguments)


@pytest.fixture(autouse=True)
def talks(corpus: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    corpus.add_pi("aaaaaaaa-1", "one needle")
    corpus.add_claude("cccccccc-1", "another needle")


def test_the_status_says_what_there_is() -> None:
    assert run("index").output.startswith("no index yet; the first ranked search makes ")
    run("search", "needle", "--host", "pi")
    told = run("index", "--status").output
    facts = r": 0\.[0-9] MB, changed 20\d\d-\d\d-\d\d \d\d:\d\d; 1 of 2 sessions up to date\n"
    assert re.fullmatch(re.escape(str(index_file())) + facts, told), told


def test_a_rebuilt_index_has_every_session() -> None:
    assert run("index", "--rebuild").output.endswith("; 2 of 2 sessions up to date\n")


def test_a_session_that_grew_is_not_up_to_date(corpus: Any) -> None:
    run("index", "--rebuild")
    corpus.add_pi("aaaaaaaa-1", "one needle", "more of them")
    assert run("index").output.endswith("; 1 of 2 sessions up to date\n")
    run("search", "needle")
    assert run("index").output.endswith("; 2 of 2 sessions up to date\n")


def test_a_deleted_index_leaves_no_file() -> None:
    run("search", "needle")
    assert run("index", "--delete").output == f"deleted {index_file()}\n"
    assert list(index_file().parent.glob("recall-*")) == []
    assert run("index", "--delete").output == f"there is no index at {index_file()}\n"


def test_the_doctor_tells_of_the_index() -> None:
    assert "search index: no index yet" in run("doctor").output
    run("search", "needle")
    told = " ".join(run("doctor").output.split())
    assert re.search(
        r"search index: .* 0\.[0-9] MB, changed 20.*; 2 of 2 sessions up to date", told
    )
