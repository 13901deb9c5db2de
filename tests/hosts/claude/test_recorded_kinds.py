"""Recordings of the real Claude Code 2.1.332, each of one thing that readers get wrong.

Made with ``claude -p`` against a scripted endpoint, and cut like the other recordings:

* ``long-prompt``: a prompt of 9 KB, so that neither end of the file holds a whole short row;
* ``long-task``: a subagent with a task of 9 KB;
* ``relay``: an endpoint that gives every response the same message id, asked twice.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hindnote import HostCall, SessionEntry
from hindnote.core.call import Dispatcher
from hindnote.core.history.timeline import Timeline
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.claude import plugin
from hindnote.hosts.claude.sessions.catalogue import Catalogue
from hindnote.hosts.claude.sessions.projection import open_transcript

DATA = Path(__file__).parents[2] / "data" / "claude"


@pytest.fixture
def call(tmp_path: Path) -> HostCall:
    return HostCall(host="claude", cwd=tmp_path, config_dir=tmp_path)


def laid_out(name: str, call: HostCall) -> dict[str, SessionEntry]:
    """Put a recording where the host had it; return what is listed, by id."""
    first = json.loads((DATA / f"{name}.jsonl").read_text("utf-8").partition("\n")[0])
    folder = call.cwd / "projects/-workspace-demo"
    folder.mkdir(parents=True)
    shutil.copy(DATA / f"{name}.jsonl", folder / f"{first['sessionId']}.jsonl")
    if (DATA / name).is_dir():
        shutil.copytree(DATA / name, folder / first["sessionId"])
    return {entry.id: entry for entry in Catalogue().sessions(call)}


def events(entry: SessionEntry) -> list[tuple[str, str]]:
    session = open_transcript(entry.file)
    assert session is not None
    timeline = Timeline(session)
    return [
        (timeline.role(at), timeline.event(at).document.rpartition("\n")[2])
        for at in timeline.events(range(timeline.size))
    ]


def test_a_session_with_a_long_prompt_is_listed_with_its_directory(call: HostCall) -> None:
    (entry,) = laid_out("long-prompt", call).values()

    assert entry.cwd == "/workspace/demo"
    assert entry.started is not None
    assert [role for role, _ in events(entry)] == ["user", "assistant"]


def test_a_subagent_with_a_long_task_is_found_by_a_search(call: HostCall, tmp_path: Path) -> None:
    found = laid_out("long-task", call)
    (agent,) = [entry for entry in found.values() if "/" in entry.id]
    dispatcher = Dispatcher(Hosts.of({"claude": plugin}), tmp_path / "notes")

    answer = dispatcher.call(call, "history_list", {"session": "*", "query": "Word word word."})

    assert (agent.name, agent.cwd) == ("Count words", "/workspace/demo")
    assert agent.parent in found
    sessions = [row["session"] for row in answer.result["items"]]
    assert agent.canonical in sessions
    assert (answer.result["sessions_covered"], answer.result["sessions_remaining"]) == (2, 0)


def test_answers_behind_a_relay_come_back_one_by_one(call: HostCall) -> None:
    (entry,) = laid_out("relay", call).values()

    told = [event for event in events(entry) if event[0] != "context"]

    assert told == [
        ("user", "q1"),
        ("assistant", "answer one"),
        ("tool", "one"),
        ("assistant", "after one"),
        ("user", "q2"),
        ("assistant", "answer two"),
    ]
