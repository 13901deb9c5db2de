from __future__ import annotations

import os
from pathlib import Path

import pytest

from hindnote.core.calls import HostCall, SessionEntry
from hindnote.core.plugins import Hosts
from hindnote.hosts.mcp import plugin
from hindnote.hosts.mcp.calls import Settings, history_call, notes_call
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


def test_notes_are_asked_for_in_the_server_s_own_name(tmp_path: Path) -> None:
    settings = Settings(tmp_path, agent="a", model="m", session_id="s", history_of="pi")

    assert notes_call(settings) == HostCall(
        host="mcp", session_id="s", cwd=tmp_path, agent="a", model="m"
    )


def test_history_without_a_host_to_read_is_the_server_s_own(tmp_path: Path) -> None:
    settings = Settings(tmp_path, session_id="s")

    assert history_call(settings, HOSTS) == notes_call(settings)


def test_history_of_a_file_is_asked_of_the_host_that_is_read(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    call = history_call(Settings(tmp_path, history_of="pi", session_file=file), HOSTS)

    assert (call.host, call.session_file) == ("pi", file)


def test_history_without_a_file_is_the_newest_session_in_the_directory(
    tmp_path: Path, sessions: Path
) -> None:
    session(sessions, "older", tmp_path, age=20)
    newest = session(sessions, "newest", tmp_path, age=10)
    session(sessions, "elsewhere", tmp_path / "other", age=0)

    call = history_call(Settings(tmp_path, history_of="pi"), HOSTS)

    assert call.session_file == newest


def test_a_session_begun_while_the_server_runs_is_found(tmp_path: Path, sessions: Path) -> None:
    session(sessions, "older", tmp_path, age=20)
    settings = Settings(tmp_path, history_of="pi")
    history_call(settings, HOSTS)
    begun = session(sessions, "begun", tmp_path, age=0)

    assert history_call(settings, HOSTS).session_file == begun


def test_no_session_in_the_directory_is_no_current_session(tmp_path: Path, sessions: Path) -> None:
    session(sessions, "elsewhere", tmp_path / "other", age=0)

    assert history_call(Settings(tmp_path, history_of="pi"), HOSTS).session_file is None


def test_a_subagent_s_session_is_never_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entry(name: str, modified: float) -> SessionEntry:
        file = tmp_path / name.replace("/", "-")
        return SessionEntry(host="pi", id=name, file=file, cwd=str(tmp_path), modified=modified)

    listed = [entry("main/agent", 2.0), entry("main", 1.0)]
    monkeypatch.setattr(Hosts, "sessions", lambda *_: iter(listed))

    assert history_call(Settings(tmp_path, history_of="pi"), HOSTS).session_file == listed[1].file
