from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall, SessionEntry
from hindnote.hosts.mcp import plugin
from hindnote.hosts.mcp.calls import Caller, Settings, caller, history_call, notes_call
from hindnote.hosts.pi import plugin as pi

HOSTS = Hosts.of({"mcp": plugin, "pi": pi})


def session(folder: Path, name: str, cwd: Path, age: int) -> Path:
    file = folder / f"{name}.jsonl"
    file.write_text(
        f'{{"type":"session","version":3,"id":"{name}","timestamp":"2026-03-01T10:00:00.000Z",'
        f'"cwd":"{cwd}"}}\n'
    )
    os.utime(file, (1_000_000 - age, 1_000_000 - age))
    return file


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(folder))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    return folder


def settings(folder: Path, **more: Any) -> Settings:
    return Settings(folder, folder / "notes", **more)


def history(told: Settings, by: Caller | None = None) -> HostCall:
    return history_call(told, by or Caller(), told.directory, HOSTS)


def test_notes_are_asked_for_in_the_server_s_own_name(tmp_path: Path) -> None:
    told = settings(tmp_path, agent="a", model="m", session_id="s", history_of="pi")

    assert notes_call(told, Caller(), tmp_path) == HostCall(
        host="mcp", session_id="s", cwd=tmp_path, agent="a", model="m"
    )


def test_what_the_person_named_wins_over_what_the_program_tells(tmp_path: Path) -> None:
    by = Caller("theirs", "theirs", "c", "their model")

    call = notes_call(settings(tmp_path, session_id="s", model="m"), by, tmp_path)

    assert (call.session_id, call.model, call.call_id) == ("s", "m", "c")


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        (
            # codex-cli 0.171.0
            {
                "callId": "c1",
                "x-codex-turn-metadata": {"session_id": "s", "model": "gpt-5"},
                "threadId": "t",
                "sessionId": "s",
                "progressToken": 1,
            },
            Caller("s", "t", "c1", "gpt-5"),
        ),
        ({"threadId": "t"}, Caller("t", "t")),
        ({"sessionId": 5, "threadId": "", "callId": [], "x-codex-turn-metadata": "m"}, Caller()),
        ({"sessionId": "x" * 257, "threadId": "\ud83d"}, Caller()),
        (None, Caller()),
        ([], Caller()),
    ],
)
def test_who_calls_is_read_from_what_codex_writes(meta: object, told: Caller) -> None:
    assert caller(meta) == told


def test_history_without_a_host_to_read_is_the_server_s_own(tmp_path: Path) -> None:
    told = settings(tmp_path, session_id="s")

    assert history(told) == notes_call(told, Caller(), tmp_path)


def test_history_of_a_file_is_asked_of_the_host_that_is_read(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    call = history(settings(tmp_path, history_of="pi", session_file=file), Caller("x", "x"))

    assert (call.host, call.session_file, call.session_id) == ("pi", file, None)


def test_history_is_that_of_the_session_that_the_program_tells(
    tmp_path: Path, sessions: Path
) -> None:
    named = session(sessions, "older", tmp_path, age=20)
    session(sessions, "newest", tmp_path, age=10)

    call = history(settings(tmp_path, history_of="pi"), Caller("main", "older"))

    assert (call.session_file, call.session_id) == (named, "older")


def test_a_session_that_is_not_listed_is_no_other_one(tmp_path: Path, sessions: Path) -> None:
    session(sessions, "newest", tmp_path, age=10)

    assert history(settings(tmp_path, history_of="pi"), Caller("m", "t")).session_file is None


def test_history_without_a_file_is_the_newest_session_in_the_directory(
    tmp_path: Path, sessions: Path
) -> None:
    session(sessions, "older", tmp_path, age=20)
    newest = session(sessions, "newest", tmp_path, age=10)
    session(sessions, "elsewhere", tmp_path / "other", age=0)

    assert history(settings(tmp_path, history_of="pi")).session_file == newest


def test_a_session_begun_while_the_server_runs_is_found(tmp_path: Path, sessions: Path) -> None:
    session(sessions, "older", tmp_path, age=20)
    told = settings(tmp_path, history_of="pi")
    history(told)
    begun = session(sessions, "begun", tmp_path, age=0)

    assert history(told).session_file == begun


def test_no_session_in_the_directory_is_no_current_session(tmp_path: Path, sessions: Path) -> None:
    session(sessions, "elsewhere", tmp_path / "other", age=0)

    assert history(settings(tmp_path, history_of="pi")).session_file is None


def test_a_subagent_s_session_is_never_the_newest_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entry(name: str, modified: float) -> SessionEntry:
        file = tmp_path / name.replace("/", "-")
        return SessionEntry(host="pi", id=name, file=file, cwd=str(tmp_path), modified=modified)

    listed = [entry("main/agent", 2.0), entry("main", 1.0)]
    monkeypatch.setattr(Hosts, "sessions", lambda *_: iter(listed))
    told = settings(tmp_path, history_of="pi")

    assert history(told).session_file == listed[1].file
    assert history(told, Caller("main", "agent")).session_file == listed[0].file
