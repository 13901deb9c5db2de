from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversation import Conversation, conversation

from hindnote.hosts.mcp.roots import Roots


def roots(*paths: Path) -> dict[str, Any]:
    return {"roots": [{"uri": path.as_uri(), "name": path.name} for path in paths]}


def answer(program: Conversation, *paths: Path) -> None:
    asked = program.line()
    assert asked["method"] == "roots/list"
    program.send({"jsonrpc": "2.0", "id": asked["id"], "result": roots(*paths)})


def project(program: Conversation) -> str:
    """Return the folder name of the project that a note goes to."""
    written = program.call("notes_write", address="@project/a", content="x", cwd=None)
    found = program.call("notes_list", glob="@project/**")["result"]["structuredContent"]
    assert written["result"]["structuredContent"]
    return str(found["files"][0])


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    both = tmp_path / "a b", tmp_path / "é"
    for folder in both:
        (folder / ".git").mkdir(parents=True)
    return both


def keys(folder: Path) -> list[str]:
    return sorted(path.name.rpartition("-")[0] for path in (folder / "notes/project").iterdir())


def test_the_first_root_is_the_directory_of_the_calls(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    with conversation(tmp_path) as program:
        program.greet(roots={"listChanged": True})
        answer(program, tmp_path / "gone", *folders)
        program.call("notes_write", address="@project/a", content="x")

    assert keys(tmp_path) == ["a-b"]


def test_roots_that_change_are_asked_for_again(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    with conversation(tmp_path) as program:
        program.greet(roots={"listChanged": True})
        answer(program, folders[0])
        program.call("notes_write", address="@project/a", content="x")
        program.tell("notifications/roots/list_changed")
        answer(program, folders[1])
        program.call("notes_write", address="@project/a", content="x")

    assert len(keys(tmp_path)) == 2


def test_a_call_waits_for_the_roots(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    with conversation(tmp_path) as program:
        program.greet(roots={})
        asked = program.line()
        arguments = {"address": "@project/a", "content": "x"}
        params = {"name": "notes_write", "arguments": arguments}
        program.send({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": params})
        program.send({"jsonrpc": "2.0", "id": asked["id"], "result": roots(folders[0])})
        assert program.line()["id"] == "c"

    assert keys(tmp_path) == ["a-b"]


def test_a_directory_of_the_person_s_own_word_wins(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    with conversation(tmp_path, directory=folders[0], fixed=True) as program:
        program.greet(roots={})
        program.call("notes_write", address="@project/a", content="x")

    assert keys(tmp_path) == ["a-b"]


@pytest.mark.parametrize(
    "told",
    [
        {"error": {"code": -32601, "message": "no"}},
        {"result": {"roots": "none"}},
        {"result": {"roots": [5, {"uri": 5}, {"uri": "file://elsewhere/tmp"}, {"uri": "http:/"}]}},
        {"result": {"roots": [{"uri": "file:///%00"}, {"uri": "file://["}, {"uri": "file:x"}]}},
    ],
)
def test_roots_that_name_no_directory_here_leave_that_of_the_start(
    tmp_path: Path, told: dict[str, Any]
) -> None:
    with conversation(tmp_path) as program:
        program.greet(roots={})
        program.send({"jsonrpc": "2.0", "id": program.line()["id"], **told})
        written = program.call("notes_write", address="@project/a", content="x")

    assert written["result"]["isError"] is False


def test_a_program_that_never_answers_is_waited_for_once() -> None:
    sent: list[Any] = []
    roots = Roots(sent.append, patience=0.01)
    roots.ask()

    assert roots.directory() is None
    # A second wait would not end.
    roots._patience = 1e6
    assert roots.directory() is None
    assert len(sent) == 1


def test_an_answer_that_comes_late_holds_all_the_same(tmp_path: Path) -> None:
    sent: list[Any] = []
    told = Roots(sent.append, patience=0.01)
    told.ask()
    told.directory()
    told.take({"id": sent[0]["id"], "result": roots(tmp_path)})

    assert told.directory() == tmp_path
