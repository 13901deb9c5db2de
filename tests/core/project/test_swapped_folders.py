"""Folders that are exchanged for links while calls run: nothing outside is read or changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.project.run import run_tool

SECRET = "outsidesecret"
TODO = "001-pending-p1-x.md"


def todo(word: str, number: int = 1) -> str:
    return f"---\nissue_id: '{number:03d}'\nstatus: pending\npriority: p1\ntitle: {word}\n---\n{word}\n"


def filled(folder: Path, word: str) -> None:
    """Make a workspace with a document and a todo."""
    for root in ("docs", "todos"):
        (folder / root).mkdir(parents=True)
    (folder / "docs" / "a.md").write_text(f"word {word}")
    (folder / "todos" / TODO).write_text(todo(word))


_SWAPS = """
import os, sys
folder, away, link = sys.argv[1:]
print("ready", flush=True)
while os.getppid() == int(os.environ["PARENT"]):
    os.rename(folder, away)
    os.rename(link, folder)
    os.rename(folder, link)
    os.rename(away, folder)
"""


@contextmanager
def swapping(folder: Path, outside: Path) -> Iterator[None]:
    """Exchange a folder for a link that leads outside, and back, over and over."""
    link = folder.with_name(f"{folder.name}.link")
    link.symlink_to(outside)
    away = folder.with_name(f"{folder.name}.away")
    process = subprocess.Popen(
        [sys.executable, "-c", _SWAPS, str(folder), str(away), str(link)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PARENT": str(os.getpid())},
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture(params=["a", "a/ws", "a/ws/docs", "a/ws/todos", "a/ws/.hindnote"])
def swapped(request: pytest.FixtureRequest, base: Path) -> Iterator[Path]:
    """Return the place outside, while a folder of the workspace is exchanged for a link to it."""
    below = Path(request.param).relative_to("a")
    outside = base.parent / "beside" / "like-a"
    filled(outside / "ws", SECRET)
    filled(base / "a" / "ws", "inside")
    for workspace in (outside / "ws", base / "a" / "ws"):
        (workspace / ".hindnote").mkdir()
    before = everything(base.parent / "beside")
    with swapping(base / request.param, outside / below):
        yield outside
    assert everything(base.parent / "beside") == before


@pytest.mark.campaign
@pytest.mark.usefixtures("swapped")
def test_no_search_reads_outside_while_folders_are_exchanged(
    base: Path, rounds: Callable[[int], int]
) -> None:
    """Two calls a round, for each of five folders."""
    found = 0
    for number in range(rounds(2_000)):
        arguments = {
            "query": "word",
            "workspace_root": "a/ws",
            "freshness": ("auto", "strict", "memory")[number % 3],
        }
        answer = run_tool("project_artifact_search", arguments, base_cwd=base)
        listed = run_tool("project_todo_list", {"workspace_root": "a/ws"}, base_cwd=base)

        assert SECRET not in answer.text + listed.text + json.dumps([answer.dto, listed.dto])
        found += answer.dto["ok"]
    assert found


def _changed(base: Path) -> list[Any]:
    place = {"workspace_root": "a/ws"}
    told = run_tool("project_todo_list", place, base_cwd=base).dto
    answers = [told]
    for item in told["data"]["todos"][:1] if told["ok"] else ():
        move = {
            "path": item["path"],
            "to_status": "ready" if item["status"] == "pending" else "pending",
            "expected_content_hash": item["hash"],
        }
        answers.append(run_tool("project_todo_transition", {**place, **move}, base_cwd=base).dto)
    answers.append(run_tool("project_todo_allocate", place, base_cwd=base).dto)
    return answers


@pytest.mark.campaign
@pytest.mark.usefixtures("swapped")
def test_no_todo_outside_is_changed_while_folders_are_exchanged(
    base: Path, rounds: Callable[[int], int]
) -> None:
    """About three calls a round, for each of five folders."""
    done = 0
    for _ in range(rounds(1_350)):
        done += sum(answer["ok"] for answer in _changed(base))
    assert done
