from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hindnote import HostCall, SessionEntry
from hindnote.hosts.claude.format.header import PathIds, find_header, place_of
from hindnote.hosts.claude.paths import session_file
from hindnote.hosts.claude.sessions.catalogue import Catalogue
from hindnote.hosts.claude.sessions.projection import open_transcript

NEW = "11111111-2222-4333-8444-555555555501"
OLD = "11111111-2222-4333-8444-555555555502"
LONG = "x" * 9_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "projects/-w"
    folder.mkdir(parents=True)
    return folder


def said(session: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": f"u-{text[:9]}",
        "timestamp": "2026-11-30T10:00:00.000Z",
        "cwd": "/workspace/demo",
        "sessionId": session,
        **more,
    }


def snapshot(session: str) -> dict[str, Any]:
    more = {"uuid": "snapshot", "parentUuid": f"u-{LONG[:9]}", "message": None}
    attachment = {"type": "prompt_snapshot", "text": "y" * 57_000}
    return said(session, "", type="attachment", attachment=attachment, **more)


def write(file: Path, *rows: dict[str, Any] | str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    file.write_text("".join(line + "\n" for line in lines), "utf-8")
    return file


def listed(file: Path) -> SessionEntry:
    """Return the only entry of a catalogue, after a look at what the session itself says."""
    above = [folder for folder in file.parents if folder.name == "projects"]
    config = above[0].parent
    (entry,) = Catalogue().sessions(HostCall(host="claude", cwd=config, config_dir=config))
    session = open_transcript(entry.file)
    assert session is not None
    for fact in ("started", "cwd", "parent", "name"):
        assert getattr(session.header, fact) == getattr(entry, fact)
    assert session.header.session_id == entry.id
    return entry


@pytest.mark.parametrize("sessions_end", [[], [snapshot(NEW)]], ids=["short end", "long end"])
def test_a_long_prompt_hides_no_session(folder: Path, sessions_end: list[dict[str, Any]]) -> None:
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": NEW, "content": LONG}
    taken = {"type": "queue-operation", "operation": "dequeue", "sessionId": NEW}
    file = write(folder / f"{NEW}.jsonl", queued, taken, said(NEW, LONG), *sessions_end)

    entry = listed(file)

    assert (entry.id, entry.cwd, entry.started) == (
        NEW,
        "/workspace/demo",
        "2026-11-30T10:00:00.000Z",
    )


@pytest.mark.parametrize("below", ["", "workflows/wf_1/"])
def test_a_subagent_with_a_long_task_is_found_by_its_path(folder: Path, below: str) -> None:
    agent: dict[str, Any] = {"isSidechain": True, "agentId": "a2"}
    subagents = folder / NEW / "subagents" / below
    write(subagents / "journal.jsonl", {"type": "started", "sessionId": NEW})
    file = write(subagents / "agent-a2.jsonl", said(NEW, LONG, **agent), {**snapshot(NEW), **agent})
    file.with_suffix(".meta.json").write_text('{"description": "Count it"}')

    entry = listed(file)

    assert (entry.id, entry.parent, entry.name) == (f"{NEW}/a2", NEW, "Count it")
    assert entry.cwd == "/workspace/demo"
    asked = HostCall(host="claude", cwd=folder, session_file=folder / f"{NEW}.jsonl", agent_id="a2")
    assert session_file(asked) == file


@pytest.mark.parametrize("content", ["", "\n", "no json\n", '{"torn":', '["a"]\n', "\0" * 9_000])
@pytest.mark.parametrize("name", [f"{NEW}.jsonl", f"{NEW}/subagents/agent-a2.jsonl"])
def test_a_file_that_is_named_like_a_session_is_listed_whatever_is_in_it(
    folder: Path, name: str, content: str
) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    (entry,) = Catalogue().sessions(
        HostCall(host="claude", cwd=folder, config_dir=folder.parents[1])
    )

    assert entry.id == (f"{NEW}/a2" if "agent" in name else NEW)
    assert entry.file == file


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_session_that_cannot_be_read_is_listed_until_it_can(folder: Path) -> None:
    file = write(folder / f"{NEW}.jsonl", said(NEW, "hello"))
    known, call = Catalogue(), HostCall(host="claude", cwd=folder, config_dir=folder.parents[1])
    file.chmod(0)
    (closed,) = known.sessions(call)
    file.chmod(0o600)
    (opened,) = known.sessions(call)

    assert (closed.id, closed.cwd) == (NEW, None)
    assert (opened.id, opened.cwd) == (NEW, "/workspace/demo")


def test_a_file_is_the_session_that_it_is_named_after(folder: Path) -> None:
    rows = [said(OLD, "old words"), said(NEW, "new words", parentUuid="u-old words")]
    write(folder / f"{NEW}.jsonl", *rows)
    write(folder / f"{OLD}.jsonl", rows[0])
    found = Catalogue().sessions(HostCall(host="claude", cwd=folder, config_dir=folder.parents[1]))

    assert {entry.id for entry in found} == {NEW, OLD}
    session = open_transcript(folder / f"{NEW}.jsonl")
    assert session is not None
    assert session.header.session_id == NEW


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (f"/p/{NEW}.jsonl", PathIds(NEW)),
        (f"/p/{NEW}/subagents/agent-x.jsonl", PathIds(NEW, "x")),
        (f"/p/{NEW}/subagents/workflows/w/agent-x.jsonl", PathIds(NEW, "x")),
        ("/p/agent-x.jsonl", PathIds(None, "x")),
        ("/p/agent-.jsonl", PathIds()),
        ("/p/renamed.jsonl", PathIds()),
        ("subagents/agent-x.jsonl", PathIds(None, "x")),
    ],
)
def test_a_path_says_whose_transcript_it_is(path: str, place: PathIds) -> None:
    assert place_of(path) == place


def title(name: str) -> dict[str, Any]:
    return {"type": "custom-title", "customTitle": name, "sessionId": NEW}


def filler(size: int = 300_000) -> dict[str, Any]:
    return said(NEW, "z" * size, type="attachment", uuid="filler")


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([title("first"), filler(), title("last"), filler(), filler()], "last"),
        ([title("first"), title(""), filler()], "first"),
        ([{"type": "summary", "summary": "made up"}, filler(), title("given")], "given"),
        ([filler(), {"type": "summary", "summary": "one"}, filler()], "one"),
        (["{broken", json.dumps({"type": "custom-title"})], None),
    ],
)
def test_the_name_is_the_last_one_wherever_it_stands(
    folder: Path, rows: list[dict[str, Any] | str], name: str | None
) -> None:
    file = write(folder / f"{NEW}.jsonl", said(NEW, "hello"), *rows)

    assert listed(file).name == name


def test_a_name_stays_known_while_the_file_grows(folder: Path) -> None:
    file = write(folder / f"{NEW}.jsonl", said(NEW, "hello"), title("given"))
    known, call = Catalogue(), HostCall(host="claude", cwd=folder, config_dir=folder.parents[1])
    names = []
    for row in (None, filler(), title("later"), {"type": "summary", "summary": "made up"}):
        if row is not None:
            with file.open("a") as out:
                out.write(json.dumps(row) + "\n")
        names.append(known.sessions(call)[0].name)

    assert names == ["given", "given", "later", "later"]


def prompt_of(*lines: bytes, agent: str | None = None) -> str | None:
    data = b"".join(line + b"\n" for line in lines)
    path = f"/x/{OLD}/subagents/agent-{agent}.jsonl" if agent else f"/x/{OLD}.jsonl"
    read = lambda start, size: data[start : start + size]
    return find_header(path, read, len(data), prompt=True).prompt


def user(content: str, **more: Any) -> bytes:
    row = {"type": "user", "uuid": "u", "message": {"role": "user", "content": content}}
    return json.dumps({**row, **more}).encode()


def test_the_first_prompt_is_what_a_person_sent_and_no_record_of_a_command() -> None:
    rows = [
        b'{"type":"user", damaged',
        user("Caveat", isMeta=True),
        user("<command-name>/clear</command-name>"),
        user("What a subagent was asked", isSidechain=True),
        user(" Why\n does it \ud800 fail? "),
        user("Later"),
    ]

    assert prompt_of(*rows) == "Why does it \ufffd fail?"
    assert prompt_of(*rows, agent="a1") == "What a subagent was asked"
    assert prompt_of(*rows[:3]) is None


def test_a_long_prompt_is_shortened() -> None:
    assert prompt_of(user("long " * 100)) == "long " * 39 + "long…"
