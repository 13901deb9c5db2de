from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.calls import HostCall
from hindnote.hosts.claude import plugin


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
