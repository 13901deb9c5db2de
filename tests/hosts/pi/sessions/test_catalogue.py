from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.history.metadata_cache import FileFacts
from hindnote.core.plugins.models import HostCall, SessionEntry
from hindnote.hosts.pi.sessions import catalogue
from hindnote.hosts.pi.sessions.catalogue import FORM, Catalogue, look, places


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    return tmp_path / "home"


def write(path: Path, id_: str, *rows: dict[str, Any], **header: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    first = {"type": "session", "version": 3, "id": id_, "timestamp": "T", "cwd": "/w", **header}
    path.write_text("".join(line(row) for row in (first, *rows)))
    return path


def line(row: dict[str, Any]) -> str:
    return json.dumps(row, separators=(",", ":")) + "\n"


def named(name: str | None) -> dict[str, Any]:
    return {"type": "session_info", "id": "i", "parentId": None, "name": name}


def filler(size: int) -> dict[str, Any]:
    return {"type": "custom", "id": "c", "parentId": None, "data": "x" * size}


def found(call: HostCall) -> list[SessionEntry]:
    return Catalogue().sessions(places(call))


def ids(call: HostCall) -> set[str]:
    return {entry.id for entry in found(call)}


def test_every_layout_is_found(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".pi/agent/sessions/--a-b--/1.jsonl", "default")
    write(home / ".pi/agent/sessions/2.jsonl", "flat-default")
    cwd = tmp_path / "w"
    write(cwd / "relative/3.jsonl", "environment")
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", "relative")
    write(home / "by-setting/4.jsonl", "setting")
    (home / ".pi/agent/settings.json").write_text('{"sessionDir": "~/by-setting"}')
    write(cwd / "mine/5.jsonl", "project-setting")
    (cwd / ".pi").mkdir()
    (cwd / ".pi/settings.json").write_text('{"sessionDir": "mine"}')
    write(tmp_path / "option/6.jsonl", "option")

    call = HostCall(host="pi", cwd=cwd, session_file=tmp_path / "option/new.jsonl")
    assert ids(call) == {
        "default",
        "flat-default",
        "environment",
        "setting",
        "project-setting",
        "option",
    }
    assert ids(HostCall(host="claude", cwd=cwd)) == {
        "default",
        "flat-default",
        "environment",
        "setting",
    }


def test_the_agent_folder_comes_from_the_call_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "one/sessions/--w--/1.jsonl", "call")
    write(tmp_path / "two/sessions/--w--/1.jsonl", "environment")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "two"))

    assert ids(HostCall(host="pi", cwd=tmp_path, config_dir=tmp_path / "one")) == {"call"}
    assert ids(HostCall(host="pi", cwd=tmp_path)) == {"environment"}
    # Another host's configuration directory says nothing about Pi.
    assert ids(HostCall(host="claude", cwd=tmp_path, config_dir=tmp_path / "one")) == {
        "environment"
    }


def test_a_session_in_an_unknown_agent_folder_has_its_siblings_listed(tmp_path: Path) -> None:
    write(tmp_path / "old/sessions/--a--/1.jsonl", "one")
    write(tmp_path / "old/sessions/--b--/2.jsonl", "two")

    call = HostCall(host="pi", cwd=tmp_path, session_file=tmp_path / "old/sessions/--a--/1.jsonl")

    assert ids(call) == {"one", "two"}


def test_the_session_that_the_running_one_was_forked_from_is_listed_wherever_it_lies(
    tmp_path: Path,
) -> None:
    origin = write(tmp_path / "elsewhere/odd.jsonl", "origin")
    fork = write(tmp_path / "here/1.jsonl", "fork", parentSession=str(origin))

    listed = {
        entry.id: entry for entry in found(HostCall(host="pi", cwd=tmp_path, session_file=fork))
    }
    assert set(listed) == {"fork", "origin"}
    assert listed["fork"].parent == "origin"


@pytest.mark.parametrize("recorded", ["/a\0b/c.jsonl", "/" + "x" * 5000, "gone/c.jsonl", "/"])
def test_a_fork_whose_origin_cannot_be_there_is_listed_itself(
    tmp_path: Path, recorded: str
) -> None:
    fork = write(tmp_path / "1.jsonl", "fork", parentSession=recorded)

    assert ids(HostCall(host="pi", cwd=tmp_path, session_file=fork)) == {"fork"}


def test_a_folder_that_is_reached_twice_is_listed_once(tmp_path: Path, home: Path) -> None:
    file = write(home / ".pi/agent/sessions/--a--/1.jsonl", "one")
    (tmp_path / "link").symlink_to(file.parent)

    call = HostCall(host="pi", cwd=tmp_path, session_file=tmp_path / "link/1.jsonl")

    assert [entry.id for entry in found(call)] == ["one"]


def test_entries_tell_the_recorded_facts_newest_first(tmp_path: Path) -> None:
    old = write(tmp_path / "a.jsonl", "a", cwd="/srv/ü")
    new = write(
        tmp_path / "b.jsonl", "b", parentSession="/gone/2026-11-30T09-50-59-947Z_demo.misc_01.jsonl"
    )
    os.utime(old, (100, 100))
    os.utime(new, (200, 200))

    first, second = found(HostCall(host="pi", cwd=tmp_path, session_file=old))

    assert (first.id, first.parent, first.modified) == ("b", "demo.misc_01", 200)
    assert (second.id, second.cwd, second.started) == ("a", "/srv/ü", "T")
    assert second.size == old.stat().st_size
    assert second.canonical == "pi:a"


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([named("One"), named(" Two ")], "Two"),
        ([named("One"), named("")], None),
        ([named("One"), named(None)], None),
        ([named("Early"), filler(50_000)], "Early"),
        ([named("Early"), filler(50_000), named("Late")], "Late"),
        ([named("Early"), filler(9_000), named("Late"), filler(2_000)], "Late"),
        ([{"type": "custom", "data": {"type": "session_info"}, "name": "No"}], None),
        ([filler(20_000)], None),
    ],
)
def test_the_name_is_the_latest_one(
    tmp_path: Path, rows: list[dict[str, Any]], name: str | None
) -> None:
    file = write(tmp_path / "s.jsonl", "s", *rows)

    assert found(HostCall(host="pi", cwd=tmp_path, session_file=file))[0].name == name


def test_what_is_no_session_is_left_out_and_a_damaged_one_is_listed(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    write(folder / "good.jsonl", "good")
    (folder / "empty.jsonl").touch()
    (folder / "other.jsonl").write_text('{"type":"user","uuid":"x"}\n')
    (folder / "binary.jsonl").write_bytes(bytes(range(256)))
    (folder / "folder.jsonl").mkdir()
    (folder / "notes.txt").write_text("x")
    (folder / "dangling.jsonl").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "2026-11-30T09-50-59-947Z_torn.jsonl").write_text('{"type":"sess')

    assert ids(HostCall(host="pi", cwd=tmp_path, session_file=folder / "x")) == {"good", "torn"}


def test_a_header_behind_blank_or_torn_lines_is_found(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", "s")
    file.write_bytes(b'\n{"torn\n' + file.read_bytes())

    assert ids(HostCall(host="pi", cwd=tmp_path, session_file=file)) == {"s"}


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_file_that_is_nested_too_deep_costs_no_other_its_place(
    tmp_path: Path, opening: bytes
) -> None:
    folder = tmp_path / "sessions"
    write(folder / "1.jsonl", "good")
    (folder / "2.jsonl").write_bytes(opening * 3_000)
    damaged = folder / "2026-11-30T09-00-00-000Z_named.jsonl"
    damaged.write_bytes(opening * 1_500)

    assert ids(HostCall(host="pi", cwd=tmp_path, session_file=folder / "1.jsonl")) == {
        "good",
        "named",
    }


def test_settings_that_are_no_file_are_not_waited_for(tmp_path: Path, home: Path) -> None:
    write(home / ".pi/agent/sessions/--a--/1.jsonl", "good")
    os.mkfifo(home / ".pi/agent/settings.json")

    assert ids(HostCall(host="pi", cwd=tmp_path)) == {"good"}


def test_an_unreadable_file_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "s.jsonl", "s")

    def refuse(*_: Any) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)

    assert found(HostCall(host="pi", cwd=tmp_path, session_file=file)) == []


def test_a_changed_file_is_looked_at_again_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write(tmp_path / "a.jsonl", "a")
    write(tmp_path / "b.jsonl", "b")
    sessions = Catalogue()
    where = places(HostCall(host="pi", cwd=tmp_path, session_file=first))
    before = {entry.id: entry for entry in sessions.sessions(where)}
    with first.open("a") as file:
        file.write(line(named("New name")))

    after = {entry.id: entry for entry in sessions.sessions(where)}

    assert after["a"].name == "New name"
    assert after["b"] is before["b"]
    first.unlink()
    assert [entry.id for entry in sessions.sessions(where)] == ["b"]


def test_many_files_are_remembered_across_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "s"
    for number in range(100):
        write(folder / f"{number}.jsonl", f"id{number}", named(f"Name {number}"))
    (folder / "other.jsonl").write_text("no session\n")
    where = places(HostCall(host="pi", cwd=tmp_path, session_file=folder / "0.jsonl"))

    def facts() -> FileFacts:
        return FileFacts(FORM, tmp_path / "cache")

    first = Catalogue(facts).sessions(where)
    (folder / "7.jsonl").write_text(line({"type": "session", "id": "changed", "cwd": "/w"}))
    looked_at: list[Path] = []

    def watched(path: Path, status: os.stat_result) -> SessionEntry | None:
        looked_at.append(path)
        return look(path, status)

    monkeypatch.setattr(catalogue, "look", watched)
    second = {entry.id: entry for entry in Catalogue(facts).sessions(where)}

    assert looked_at == [folder / "7.jsonl"]
    assert len(second) == 100
    assert [second[entry.id] for entry in first if entry.id != "id7"] == [
        entry for entry in first if entry.id != "id7"
    ]
