from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindnote import HostCall, SessionEntry
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.pi import plugin
from hindnote.hosts.pi.sessions.catalogue import Catalogue, places
from hindnote.hosts.pi.sessions.projection import Sessions

TIME = "2026-11-30T10:00:00.000Z"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)


def header(id_: str, **more: Any) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": id_, "timestamp": TIME, "cwd": "/w", **more}


def said(id_: str, text: str, parent: str | None = None) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"type": "message", "id": id_, "parentId": parent, "timestamp": TIME, "message": message}


def write(file: Path, *rows: dict[str, Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def listed(file: Path) -> SessionEntry:
    """Return the entry of a file, after a look at what the session itself says."""
    call = HostCall(host="pi", cwd=file.parent, session_file=file)
    (entry,) = [one for one in Catalogue().sessions(places(call)) if one.file == file]
    session = Sessions().of_file(file)
    assert session is not None
    for fact in ("started", "cwd", "parent", "name"):
        assert getattr(session.header, fact) == getattr(entry, fact)
    assert session.header.session_id == entry.id
    return entry


def test_rows_before_the_header_do_not_hide_it(tmp_path: Path) -> None:
    rows = [{"type": "title", "title": "x" * 20_000}, {"type": "other"}, header("s")]
    entry = listed(write(tmp_path / "s.jsonl", *rows, said("a", "hello")))

    assert (entry.id, entry.cwd, entry.started) == ("s", "/w", TIME)


def test_a_header_without_anything_but_an_id_is_one(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", {"type": "session", "id": "s"}, said("a", "hello"))

    assert listed(file).id == "s"


@pytest.mark.parametrize("key", ["parentSession", "branchedFrom"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_fork_of_every_version_has_its_parent(tmp_path: Path, key: str, version: int) -> None:
    origin = "/gone/2026-11-30T09-50-59-947Z_origin.jsonl"
    file = write(tmp_path / "s.jsonl", header("s", version=version, **{key: origin}))

    assert listed(file).parent == "origin"


def test_a_search_of_earlier_times_looks_into_an_old_fork(tmp_path: Path) -> None:
    copied = {**said("a", "needle"), "timestamp": "2026-11-01T10:00:00.000Z"}
    file = write(
        tmp_path / "agent/sessions/--w--/s.jsonl",
        header("s", version=2, branchedFrom="/gone/origin.jsonl"),
        copied,
    )
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), tmp_path / "notes")
    call = HostCall(host="pi", cwd=tmp_path, config_dir=tmp_path / "agent")

    answer = dispatcher.call(
        call, "history_list", {"session": "*", "query": "needle", "until": "2026-11-10"}
    )

    assert file.exists()
    assert [row["content"] for row in answer.result["items"]] == ["needle"]


@pytest.mark.parametrize("moved", [False, True])
def test_a_parent_is_known_by_its_header_and_not_by_its_files_name(
    tmp_path: Path, moved: bool
) -> None:
    parent = write(tmp_path / "s/2026-11-30T09-50-59-947Z_A.jsonl", header("B"))
    recorded = Path("/elsewhere") / parent.name if moved else parent
    child = write(tmp_path / "s/child.jsonl", header("C", parentSession=str(recorded)))

    assert listed(child).parent == "B"


def test_an_unknown_entry_takes_no_seq_whatever_is_in_it(tmp_path: Path) -> None:
    message = {"role": "user", "content": "words of the future"}
    strange = {"type": "future_kind", "id": "b", "parentId": "a", "timestamp": TIME}
    seqs = []
    for more in ({}, {"message": message}, {"message": message, "another": 1}):
        rows = [said("a", "one"), {**strange, **more}, said("c", "two", "b")]
        session = Sessions().of_file(write(tmp_path / f"{len(seqs)}.jsonl", header("s"), *rows))
        assert session is not None
        seqs.append(list(session.branch.seqs))

    assert seqs == [[1, 2]] * 3


@pytest.mark.parametrize("content", ["", "\n", "{", '{"type":"other"}\n', "\0" * 9_000])
def test_a_file_that_is_named_like_a_session_is_listed_whatever_is_in_it(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "2026-11-30T09-50-59-947Z_s.jsonl"
    file.write_text(content)
    call = HostCall(host="pi", cwd=tmp_path, session_file=file)

    assert [one.id for one in Catalogue().sessions(places(call))] == ["s"]


def test_a_name_with_a_time_to_the_second_is_one_as_well(tmp_path: Path) -> None:
    """Programs that move sessions from other agents to Pi write such names."""
    file = tmp_path / "2026-03-04T12-28-28_019c9264.jsonl"
    file.write_text("{")
    call = HostCall(host="pi", cwd=tmp_path, session_file=file)

    assert [one.id for one in Catalogue().sessions(places(call))] == ["019c9264"]


def named(name: str | None) -> dict[str, Any]:
    return {"type": "session_info", "id": "i", "parentId": None, "name": name}


def filler(size: int = 300_000) -> dict[str, Any]:
    return {"type": "custom", "id": "c", "parentId": None, "data": "x" * size}


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([named("One"), filler(), named("Two"), filler(), filler()], "Two"),
        ([named("One"), filler(), named(""), filler()], None),
        ([filler(), named(" One "), filler()], "One"),
    ],
)
def test_the_name_is_the_last_one_wherever_it_stands(
    tmp_path: Path, rows: list[dict[str, Any]], name: str | None
) -> None:
    assert listed(write(tmp_path / "s.jsonl", header("s"), *rows)).name == name


def test_a_name_stays_known_while_the_file_grows(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", header("s"), named("given"))
    known, where = Catalogue(), places(HostCall(host="pi", cwd=tmp_path, session_file=file))
    names = []
    for row in (None, filler(), named("later"), named("")):
        if row is not None:
            with file.open("a") as out:
                out.write(json.dumps(row) + "\n")
        names.append(known.sessions(where)[0].name)

    assert names == ["given", "given", "later", None]


def test_the_first_prompt_is_listed_on_one_line(tmp_path: Path) -> None:
    image = {"role": "user", "content": [{"type": "image", "data": "AA==", "mimeType": "i/p"}]}
    blocks = {"role": "user", "content": [{"type": "text", "text": " Why\n does it fail?"}, 7]}
    folder = tmp_path / "agent/sessions/--w--"
    file = write(
        folder / "2026-11-30T10-00-00-000Z_aaaa.jsonl",
        header("aaaa"),
        {"type": "message", "id": "0", "message": {"role": "assistant", "content": "user"}},
        {"type": "message", "id": "1", "message": image},
        {"type": "message", "id": "2", "message": blocks},
        said("3", "Later"),
    )

    assert listed(file).prompt == "Why does it fail?"
