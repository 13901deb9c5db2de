from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hindnote import HostCall, SessionEntry
from hindnote.core.history.filefacts import FileFacts
from hindnote.hosts.claude import catalogue
from hindnote.hosts.claude.catalogue import FORM, Catalogue, look


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
    call = HostCall(host="claude", cwd=tmp_path, config_dir=tmp_path)

    def facts() -> FileFacts:
        return FileFacts(FORM, tmp_path / "cache")

    first = Catalogue(facts).sessions(call)
    write(tmp_path / "projects", "id7", "another text")
    looked_at: list[str] = []

    def watched(path: str, status: os.stat_result) -> SessionEntry | None:
        looked_at.append(path)
        return look(path, status)

    monkeypatch.setattr(catalogue, "look", watched)
    second = {entry.id: entry for entry in Catalogue(facts).sessions(call)}

    assert looked_at == [str(files[7])]
    assert len(second) == len(first) == 80
    assert all(second[one.id] == one for one in first if one.id != "id7")


def test_a_process_looks_at_a_file_once_as_long_as_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "projects", "a")
    call = HostCall(host="claude", cwd=tmp_path, config_dir=tmp_path)
    known = Catalogue()
    (before,) = known.sessions(call)
    write(tmp_path / "projects", "b")

    after = {entry.id: entry for entry in known.sessions(call)}

    assert after["a"] is before
    assert set(after) == {"a", "b"}
