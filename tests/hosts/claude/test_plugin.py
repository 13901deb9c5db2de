from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.errors import HostFailure
from hindnote.core.plugins.models import HostCall
from hindnote.hosts.claude import plugin

DATA = Path(__file__).parents[2] / "data" / "claude"
BASIC: str = json.loads((DATA / "expected.json").read_bytes())["basic.jsonl"]["session_id"]


def call(tmp_path: Path, **facts: Any) -> HostCall:
    return HostCall(host="claude", cwd=tmp_path, **facts)


def test_base_cwd_is_the_hosts_directory(tmp_path: Path) -> None:
    assert plugin.host_base_cwd(call(tmp_path)) == tmp_path


def test_identity_has_defaults_for_agent_and_model(tmp_path: Path) -> None:
    identity = plugin.host_identity(call(tmp_path))

    assert (identity.host, identity.session_id) == ("claude", None)
    assert (identity.agent, identity.model) == ("claude", "default")
    assert identity.tool_prefix == "mcp__hindnote__"


def test_identity_takes_the_names_that_the_call_carries(tmp_path: Path) -> None:
    identity = plugin.host_identity(
        call(tmp_path, session_id="s1", agent="reviewer", model="claude-opus-5-5")
    )

    assert (identity.session_id, identity.agent) == ("s1", "reviewer")
    assert identity.model == "claude-opus-5-5"


def test_identity_of_a_subagents_call_names_the_main_session(tmp_path: Path) -> None:
    assert plugin.host_identity(call(tmp_path, session_id="s1", agent_id="a1")).session_id == "s1"


def test_identity_reads_the_session_id_from_the_rows_and_not_from_the_name(tmp_path: Path) -> None:
    file = tmp_path / "another-name.jsonl"
    rows = [{"type": "file-history-snapshot"}, {"type": "mode", "sessionId": "from-the-rows"}]
    file.write_text("{torn\n[1]\n" + "".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    assert plugin.host_identity(call(tmp_path, session_file=file)).session_id == "from-the-rows"


@pytest.mark.parametrize("content", [None, "", "not a session\n"])
def test_identity_has_no_session_for_a_file_that_names_none(
    tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "s.jsonl"
    if content is not None:
        file.write_text(content, "utf-8")

    assert plugin.host_identity(call(tmp_path, session_file=file)).session_id is None


def test_the_host_decorates_nothing() -> None:
    assert plugin.host_decoration("history_list") is None


# -- projections ---------------------------------------------------------------


def current(call: HostCall) -> str | None:
    projection = plugin.host_projection(call, None)
    return None if projection is None else projection.header.session_id


def test_the_current_session_is_the_file_that_the_call_names(tmp_path: Path) -> None:
    assert current(call(tmp_path, session_file=DATA / "basic.jsonl")) == BASIC


def test_a_leaf_is_refused_since_the_transcript_names_its_own(tmp_path: Path) -> None:
    asked = call(tmp_path, session_file=DATA / "branch.jsonl", leaf_id="ff8e2ef9")

    with pytest.raises(HostFailure, match="--leaf"):
        plugin.host_projection(asked, None)


def test_the_current_session_is_found_by_its_id(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-p"
    folder.mkdir(parents=True)
    shutil.copy(DATA / "basic.jsonl", folder / f"{BASIC}.jsonl")

    assert current(call(tmp_path, session_id=BASIC, config_dir=tmp_path)) == BASIC


@pytest.mark.parametrize("session_id", [None, "unknown", "../x", "*", ""])
def test_there_is_no_current_session_for_an_id_without_a_file(
    tmp_path: Path, session_id: str | None
) -> None:
    (tmp_path / "projects" / "-p").mkdir(parents=True)

    assert current(call(tmp_path, session_id=session_id, config_dir=tmp_path)) is None


def test_a_session_without_a_file_yet_is_none(tmp_path: Path) -> None:
    assert current(call(tmp_path, session_file=tmp_path / "s.jsonl")) is None


def test_a_subagents_call_sees_its_own_history_and_the_main_sessions_notes(tmp_path: Path) -> None:
    asked = call(tmp_path, session_file=DATA / "subagent.jsonl", agent_id="a475a74314e2c140b")
    main = "143c5086-a66b-4dae-b838-88bf50efa096"

    assert current(asked) == f"{main}/a475a74314e2c140b"
    assert plugin.host_identity(asked).session_id == main


def test_a_subagents_id_leads_nowhere_else(tmp_path: Path) -> None:
    asked = call(tmp_path, session_file=DATA / "basic.jsonl", agent_id="../../../etc/passwd")

    assert current(asked) is None


def test_every_listed_session_can_be_opened(tmp_path: Path) -> None:
    asked = call(tmp_path, config_dir=tmp_path, session_file=DATA / "basic.jsonl")
    entries = list(plugin.host_sessions(asked))

    assert len(entries) == len(list(DATA.rglob("*.jsonl")))
    for entry in entries:
        projection = plugin.host_projection(asked, entry)
        assert projection is not None
        assert projection.header.session_id == entry.id


def test_a_running_call_waits_for_its_own_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = DATA / "pending.jsonl"
    (name,) = json.loads((DATA / "expected.json").read_bytes())[recorded.name]["pending"]
    file = tmp_path / "s.jsonl"
    file.touch()
    monkeypatch.setattr("time.sleep", lambda _: shutil.copy(recorded, file))

    waited = plugin.host_projection(call(tmp_path, session_file=file, call_id=name), None)
    whole = plugin.host_projection(call(tmp_path, session_file=recorded), None)

    assert waited is not None and whole is not None
    assert list(waited.branch.seqs) == list(whole.branch.seqs)
