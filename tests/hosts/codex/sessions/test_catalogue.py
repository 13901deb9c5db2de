"""Which sessions of Codex are listed, and as what."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import zstandard
from rollouts import Rows, base, encoded, meta, said, thread, told, write

from hindnote import HostCall, SessionEntry
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.codex import plugin
from hindnote.hosts.codex.sessions.catalogue import Catalogue


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def listed(home: Path, catalogue: Catalogue | None = None) -> list[SessionEntry]:
    call = HostCall(host="codex", cwd=home, config_dir=home)
    return list((catalogue or Catalogue()).sessions(call))


def one(home: Path) -> SessionEntry:
    (entry,) = listed(home)
    return entry


def test_a_session_is_listed_as_its_first_row_says(tmp_path: Path) -> None:
    file = write(
        tmp_path, [meta(), said("<environment_context>"), told("Hello\n there", "user.text")]
    )

    entry = one(tmp_path)

    assert (entry.id, entry.file, entry.cwd) == (thread(1), file, "/w")
    assert entry.started == "2026-12-01T09:00:00Z"
    assert entry.prompt == "Hello there"
    assert entry.parent is None
    assert entry.added_words is not None


def test_a_long_prompt_of_the_system_hides_neither_header_nor_prompt(tmp_path: Path) -> None:
    write(tmp_path, [meta(base_instructions={"text": "word " * 100_000}), said("Hello.")])

    assert (one(tmp_path).cwd, one(tmp_path).prompt) == ("/w", "Hello.")


def test_a_prompt_with_an_image_is_told_by_its_words(tmp_path: Path) -> None:
    parts = [
        {"type": "input_text", "text": '<image name=[Image #1] path="/w/boat.png">'},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is this?"},
    ]
    row = said("")
    row["payload"]["content"] = parts
    kinds = ["user.image", "user.image", "user.image", "user.text"]
    row["payload"]["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
    write(tmp_path, [meta(), row])

    assert one(tmp_path).prompt == "What is this?"


def test_a_name_counts_at_once_and_is_that_of_its_last_line(tmp_path: Path) -> None:
    write(tmp_path, [meta(), said("hi")])
    catalogue = Catalogue()
    assert listed(tmp_path, catalogue)[0].name is None

    index = tmp_path / "session_index.jsonl"
    lines = [{"id": thread(1), "thread_name": name} for name in ("First", " Second ")]
    index.write_text("".join(json.dumps(line) + "\n" for line in lines) + "torn {")
    assert listed(tmp_path, catalogue)[0].name == "Second"
    with index.open("a") as out:
        out.write("\n" + json.dumps({"id": thread(1), "thread_name": ""}) + "\n")
    assert listed(tmp_path, catalogue)[0].name is None


def test_a_subagent_is_listed_below_its_main_session(tmp_path: Path) -> None:
    write(tmp_path, [meta(), said("hi")])
    sent = {"session_id": thread(1), "parent_thread_id": thread(1)}
    write(tmp_path, [meta(2, **sent), said("count")], 2)
    older = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": thread(1)}}}}
    row = meta(3, **older)
    del row["payload"]["session_id"]
    write(tmp_path, [row, said("count")], 3)

    found = {entry.id: entry.parent for entry in listed(tmp_path)}

    assert found == {
        thread(1): None,
        f"{thread(1)}/{thread(2)}": thread(1),
        f"{thread(1)}/{thread(3)}": thread(1),
    }


def test_of_a_thread_in_several_files_the_newest_is_listed(tmp_path: Path) -> None:
    rows: Rows = [meta(), said("one"), said("two")]
    first = write(tmp_path, rows)
    link = {"history_base": base(first, 1, rows[:2]), "timestamp": "2026-12-02T09:00:00Z"}
    newest = write(tmp_path, [meta(**link), said("2b")], segment=9)
    write(tmp_path, [meta(**link), said("2c")], segment=8)
    os.utime(first)

    entry = one(tmp_path)

    assert entry.file == newest
    assert entry.started == "2026-12-01T09:00:00Z"


def test_what_lies_in_other_files_or_is_compressed_is_ruled_out_by_no_bytes(tmp_path: Path) -> None:
    parent = write(tmp_path, [meta(), said("marmalade", id="msg_1")])
    link = {"forked_from_id": thread(1), "history_base": base(parent, 1)}
    write(tmp_path, [meta(2, **link), said("on")], 2)
    packed = write(tmp_path, [meta(3), said("marmalade too")], 3)
    packed.with_name(f"{packed.name}.zst").write_bytes(zstandard.compress(packed.read_bytes()))
    packed.unlink()

    promised = {entry.id: entry.added_words is not None for entry in listed(tmp_path)}
    assert promised == {thread(1): True, thread(2): False, thread(3): False}
    dispatcher = Dispatcher(Hosts.of({"codex": plugin}), tmp_path / "notes")
    call = HostCall(host="codex", cwd=tmp_path, config_dir=tmp_path)
    found = dispatcher.call(call, "history_list", {"session": "*", "query": "marmalade"})
    named = sorted(row["session"] for row in found.result["items"])
    assert len(named) == 2
    assert f"codex:{thread(3)}" in named
    assert sum(row.get("also_in", 0) for row in found.result["items"]) == 1


def test_a_file_without_a_header_is_listed_by_its_name_and_others_not(tmp_path: Path) -> None:
    file = write(tmp_path, [said("no header")])
    file.with_name("rollout-notes.jsonl").write_bytes(encoded([meta(5)]))

    assert (one(tmp_path).id, one(tmp_path).cwd) == (thread(1), None)


def test_the_environment_names_the_home_for_a_call_of_another_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, [meta(), said("hi")])
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))

    call = HostCall(host="pi", cwd=tmp_path / "none", config_dir=tmp_path / "pi")

    assert [entry.id for entry in Catalogue().sessions(call)] == [thread(1)]


def test_the_running_session_is_found_by_what_the_program_tells(tmp_path: Path) -> None:
    rows: Rows = [meta(), said("one"), said("two")]
    first = write(tmp_path, rows)
    write(tmp_path, [meta(history_base=base(first, 1, rows[:2])), said("2b")], segment=9)
    sent = {"session_id": thread(1), "parent_thread_id": thread(1)}
    write(tmp_path, [meta(2, **sent), said("count")], 2)
    hosts = Hosts.of({"codex": plugin})
    call = HostCall(host="codex", cwd=tmp_path, config_dir=tmp_path, session_id=thread(1))
    agent = call.model_copy(update={"agent_id": thread(2)})

    main, own = hosts.current(call), hosts.current(agent)

    assert main is not None
    assert own is not None
    assert [main.facts(seq).text for seq in main.branch.seqs] == ["one", "2b"]
    assert [own.facts(seq).text for seq in own.branch.seqs] == ["count"]
    assert hosts.identity(agent).session_id == thread(1)
    assert hosts.current(call.model_copy(update={"session_id": thread(7)})) is None


def test_the_files_of_forks_name_their_ancestors(tmp_path: Path) -> None:
    parent = write(tmp_path, [meta(), said("one")])
    link = {"forked_from_id": thread(1), "history_base": base(parent, 1)}
    child = write(tmp_path, [meta(2, **link), said("two")], 2)
    link = {"forked_from_id": thread(2), "history_base": base(child, 2)}
    file = write(tmp_path, [meta(3, **link), said("three")], 3)
    call = HostCall(host="codex", cwd=tmp_path, session_file=file)

    found = Hosts.of({"codex": plugin}).identity(call)

    assert found.session_id == thread(3)
    assert [one.session_id for one in found.ancestors] == [thread(2), thread(1)]
    assert all(one.forked is not None for one in found.ancestors)
