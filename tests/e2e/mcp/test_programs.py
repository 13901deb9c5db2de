"""Codex, opencode and Gemini CLI with the documented configuration: what their models were sent."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from model import ScriptedModel, Text, Turn
from programs import PROGRAMS, Codex, OpenCode, Program

from hindnote.core.tools.registry import registry
from hindnote.core.tools.schema import declaration

DONE = Turn(Text("Done."))

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="the pinned programs are those for Linux on x86-64",
)


@pytest.fixture(params=PROGRAMS, ids=lambda kind: kind.__name__)
def program(
    request: pytest.FixtureRequest, host_modules: Path, node: Path, tmp_path: Path
) -> Iterator[Program]:
    kind: type[Program] = request.param
    project = tmp_path / "my-project"
    (project / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    with ScriptedModel(speaks=kind.speaks) as model:
        yield kind(host_modules, node, tmp_path / "home", project, model)


@pytest.mark.campaign
def test_the_tools_are_there_at_each_start(program: Program, rounds: Callable[[int], int]) -> None:
    missing = []
    for _ in range(rounds(20)):
        program.model.then(Turn(Text("Done.")))
        program.run("hello")
        offered = program.model.played[-1].tools
        missing += [name for name in registry() if program.prefix + name not in offered]

    assert missing == []


def test_the_model_writes_reads_searches_and_is_refused(program: Program) -> None:
    model = program.model
    content = "We use SQLite. naïve 👋\n"
    model.then(
        Turn(program.tool("notes_write", address="@project/plan", content=content)),
        Turn(program.tool("notes_read", address="@project/plan")),
        Turn(program.tool("notes_search", query="sqlite")),
        Turn(program.tool("notes_read", address="@project/absent")),
        Turn(program.tool("notes_read", adress="@project/plan")),
        Turn(program.tool("history_list")),
        DONE,
    )

    program.run("remember the plan")

    (note,) = program.notes.glob("project/*/plan.md")
    assert note.parent.name.startswith("my-project-")
    assert note.read_text("utf-8").endswith(content)
    texts = [request.results[0].text for request in model.played[1:]]
    written, read, found, refused, wrong, history = texts
    assert "created" in written
    assert "We use SQLite. naïve 👋" in read
    assert "@project/plan.md" in found
    assert "not_found" in refused
    # Gemini CLI looks at the arguments itself.
    assert "address" in wrong
    assert "cannot be read" in history
    if isinstance(program, OpenCode):
        name = program.prefix + "notes_read"
        told = model.played[0].tools[name]["description"]
        assert told == declaration(registry()["notes_read"])["description"]


def test_codex_tells_whose_session_notes_they_are(
    host_modules: Path, node: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "p").mkdir()
    with ScriptedModel(speaks=Codex.speaks) as model:
        program = Codex(host_modules, node, tmp_path / "home", tmp_path / "p", model)
        model.then(Turn(program.tool("notes_write", address="plan", content="x")), DONE)
        program.run("remember the plan")

    (rollout,) = program.home.glob(".codex/sessions/*/*/*/rollout-*.jsonl")
    (note,) = program.notes.glob("mcp/session/*/plan.md")
    assert rollout.stem.endswith(note.parent.name)
