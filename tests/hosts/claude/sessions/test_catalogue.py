from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from claude_rows import SESSION, Row, Writer, turn

from hindnote import HostCall, SessionEntry
from hindnote.core.history.catalogue_cache import ListedFile
from hindnote.core.history.ends import FIRST_PIECE
from hindnote.core.history.metadata_cache import FileFacts
from hindnote.hosts.claude.sessions import catalogue
from hindnote.hosts.claude.sessions.catalogue import FORM, Catalogue, look
from hindnote.hosts.claude.sessions.projection import open_transcript

DATA = Path(__file__).parents[3] / "data" / "claude"


def call(config: Path, **facts: Any) -> HostCall:
    return HostCall(**{"host": "claude", "cwd": config, "config_dir": config, **facts})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project's folder in a configuration directory."""
    folder = tmp_path / "projects" / "-some-lossy-name"
    folder.mkdir(parents=True)
    return folder


def listed(config: Path, **facts: Any) -> list[SessionEntry]:
    return Catalogue().sessions(call(config, **facts))


def only(config: Path, **facts: Any) -> SessionEntry:
    found = listed(config, **facts)
    assert len(found) == 1
    return found[0]


def test_a_renamed_session_is_known_by_its_rows(tmp_path: Path, folder: Path) -> None:
    file = turn().write(folder / "another-name.jsonl")
    entry = only(tmp_path)

    assert (entry.host, entry.id, entry.file) == ("claude", SESSION, file)
    assert (entry.cwd, entry.started) == ("/workspace/demo", "2026-11-30T09:00:00.000Z")
    assert (entry.parent, entry.name) == (None, None)
    assert entry.size == file.stat().st_size
    assert entry.modified == file.stat().st_mtime


def test_recorded_sessions_and_their_subagents_are_listed_with_their_facts(
    tmp_path: Path, folder: Path
) -> None:
    for name in ("subagent", "resume", "fork"):
        shutil.copy(DATA / f"{name}.jsonl", folder / f"{name}.jsonl")
    shutil.copytree(DATA / "subagent", folder / "subagent")
    found = {entry.id: entry for entry in listed(tmp_path)}

    assert len(found) == 6
    for entry in found.values():
        projection = open_transcript(entry.file)
        assert projection is not None
        header = projection.header
        assert (entry.id, entry.parent) == (header.session_id, header.parent)
        assert (entry.started, entry.cwd) == (header.started, header.cwd)
    parents = {entry.parent for entry in found.values()} - {None}
    assert parents <= set(found)
    names = {entry.name for entry in found.values() if "/" in entry.id}
    assert names == {"Count functions", "Look at README", "Fail on purpose"}


def test_the_newest_session_comes_first(tmp_path: Path, folder: Path) -> None:
    for number, name in enumerate(("old", "new")):
        file = turn().write(folder / f"{name}.jsonl")
        file.write_text(file.read_text("utf-8").replace(SESSION, name), "utf-8")
        os.utime(file, (number, number))

    assert [entry.id for entry in listed(tmp_path)] == ["new", "old"]


def test_the_title_that_the_person_gave_is_the_name(tmp_path: Path, folder: Path) -> None:
    writer = turn()
    writer.rows.insert(0, {"type": "summary", "summary": "made up"})
    for title in ("first", "second"):
        writer.rows.append({"type": "custom-title", "customTitle": title, "sessionId": SESSION})
    # Said in a conversation, the same words name nothing.
    writer.user("q", "a", content='{"type":"custom-title","customTitle":"quoted"}')
    writer.write(folder / "s.jsonl")

    assert only(tmp_path).name == "second"


def test_facts_behind_a_long_first_row_are_found(tmp_path: Path, folder: Path) -> None:
    writer = Writer()
    writer.user("p", content="x" * FIRST_PIECE)
    writer.text("a", "p", "m")
    writer.write(folder / "s.jsonl")

    assert (only(tmp_path).id, only(tmp_path).cwd) == (SESSION, "/workspace/demo")


def test_a_copied_row_far_behind_the_head_names_the_origin(tmp_path: Path, folder: Path) -> None:
    writer = Writer()
    queued = {"type": "queue-operation", "timestamp": "2026-11-30T10:00:00Z", "sessionId": SESSION}
    writer.rows.append(queued)
    writer.user("p")
    writer.add("attachment", "n", "p", attachment={"type": "prompt_snapshot", "x": "y" * 50_000})
    writer.text("a", "n", "m")
    writer.rows[-1]["requestSessionId"] = "the-origin"
    writer.add("attachment", "n2", "a", attachment={"type": "prompt_snapshot", "x": "y" * 50_000})
    file = folder / "s.jsonl"
    file.write_text(
        "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in writer.rows), "utf-8"
    )

    assert only(tmp_path).parent == "the-origin"


def test_a_changed_file_is_looked_at_again(tmp_path: Path, folder: Path) -> None:
    writer = turn()
    file = writer.write(folder / "s.jsonl")
    before = only(tmp_path)
    writer.rows.append({"type": "custom-title", "customTitle": "now", "sessionId": SESSION})
    writer.write(file)

    assert (before.name, only(tmp_path).name) == (None, "now")


@pytest.mark.parametrize("content", [b"", b"no json\n", b"\xff\xfe\n", b'{"type":"session"}\n'])
def test_what_is_no_session_is_left_out(tmp_path: Path, folder: Path, content: bytes) -> None:
    turn().write(folder / "s.jsonl")
    (folder / "other.jsonl").write_bytes(content)
    (folder / "folder.jsonl").mkdir()
    (folder / "gone.jsonl").symlink_to(folder / "nowhere")
    (folder / "notes.txt").write_text("x")

    assert only(tmp_path).id == SESSION


def test_a_file_that_cannot_be_read_is_left_out(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn().write(folder / "s.jsonl")

    def refuse(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)

    assert listed(tmp_path) == []


def test_a_damaged_head_costs_only_what_it_said(tmp_path: Path, folder: Path) -> None:
    writer = turn()
    file = writer.write(folder / "s.jsonl")
    file.write_bytes(b'{"torn\n["a"]\n{"cwd": "x\\ud800"}\n' + file.read_bytes())

    assert (only(tmp_path).id, only(tmp_path).cwd) == (SESSION, "x\ufffd")


def test_another_hosts_call_finds_the_environments_sessions(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn().write(folder / "s.jsonl")
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))

    assert only(elsewhere, host="pi").id == SESSION


def test_without_configuration_the_persons_home_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".claude/projects/-p"
    folder.mkdir(parents=True)
    turn().write(folder / "s.jsonl")

    assert only(tmp_path, config_dir=None).id == SESSION
    assert listed(tmp_path / "nothing") == []


def test_the_running_sessions_own_folder_counts_wherever_it_lies(tmp_path: Path) -> None:
    for name in ("subagent.jsonl", "subagent"):
        source = DATA / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    agent = next((tmp_path / "subagent/subagents").glob("*.jsonl"))

    assert len(listed(tmp_path, session_file=tmp_path / "subagent.jsonl")) == 4
    assert len(listed(tmp_path, session_file=agent)) == 4


def test_an_old_subagents_file_beside_the_sessions_is_a_subagent(
    tmp_path: Path, folder: Path
) -> None:
    writer = Writer()
    row: Row = {"isSidechain": True, "agentId": "x"}
    writer.user("p", **row)
    writer.write(folder / "agent-x.jsonl")
    entry = only(tmp_path)

    assert (entry.id, entry.parent) == (f"{SESSION}/x", SESSION)


# -- remembering -----------------------------------------------------------------


def write(projects: Path, session_id: str, text: str = "hello") -> Path:
    file = projects / "-w" / f"{session_id}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    row = {"type": "user", "uuid": "u1", "sessionId": session_id, "cwd": "/w"}
    file.write_text(json.dumps({**row, "message": {"role": "user", "content": text}}) + "\n")
    return file


def test_many_files_are_remembered_across_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [write(tmp_path / "projects", f"id{number}") for number in range(80)]
    (tmp_path / "projects/-w/other.jsonl").write_text("no session\n")
    asked = call(tmp_path)

    def facts() -> FileFacts:
        return FileFacts(FORM, tmp_path / "cache")

    first = Catalogue(facts).sessions(asked)
    write(tmp_path / "projects", "id7", "another text")
    looked_at: list[str] = []

    def watched(path: Path, file: ListedFile) -> SessionEntry | None:
        looked_at.append(file.path)
        return look(path, file)

    monkeypatch.setattr(catalogue, "look", watched)
    second = {entry.id: entry for entry in Catalogue(facts).sessions(asked)}

    assert looked_at == [str(files[7])]
    assert len(second) == len(first) == 80
    assert all(second[one.id] == one for one in first if one.id != "id7")


def test_a_process_looks_at_a_file_once_as_long_as_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "projects", "a")
    asked = call(tmp_path)
    known = Catalogue()
    (before,) = known.sessions(asked)
    write(tmp_path / "projects", "b")

    after = {entry.id: entry for entry in known.sessions(asked)}

    assert after["a"] is before
    assert set(after) == {"a", "b"}
