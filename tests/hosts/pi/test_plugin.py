from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pi_sessions import Writer, call, text

from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.plugins.models import HostCall, SessionEntry
from hindnote.hosts.pi import plugin


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path / "s.jsonl", id="from-the-header")


def asked(writer: Writer, **more: Any) -> HostCall:
    return HostCall(host="pi", cwd=writer.path.parent, session_file=writer.path, **more)


def test_base_cwd_is_where_pi_runs(tmp_path: Path) -> None:
    assert plugin.host_base_cwd(call=HostCall(host="pi", cwd=tmp_path)) == tmp_path


def test_identity_comes_from_the_call_else_from_the_header(writer: Writer, tmp_path: Path) -> None:
    told = plugin.host_identity(call=asked(writer))
    assert told is not None
    assert (told.host, told.session_id, told.agent, told.model, told.tool_prefix) == (
        "pi",
        "from-the-header",
        "root",
        "default",
        "",
    )

    told = plugin.host_identity(call=asked(writer, session_id="live", agent="Bob", model="m/1"))
    assert told is not None
    assert (told.session_id, told.agent, told.model) == ("live", "Bob", "m/1")

    missing = HostCall(host="pi", cwd=tmp_path, session_file=tmp_path / "none.jsonl")
    told = plugin.host_identity(call=missing)
    assert told is not None
    assert told.session_id is None


def test_projection_is_none_without_a_session(tmp_path: Path) -> None:
    assert plugin.host_projection(call=HostCall(host="pi", cwd=tmp_path), session=None) is None
    missing = HostCall(host="pi", cwd=tmp_path, session_file=tmp_path / "none.jsonl")
    assert plugin.host_projection(call=missing, session=None) is None
    assert plugin.host_projection(call=HostCall(host="claude", cwd=tmp_path), session=None) is None


def test_a_relative_session_file_is_found_from_where_pi_runs(writer: Writer) -> None:
    writer.user("a")
    call = HostCall(host="pi", cwd=writer.path.parent, session_file=Path(writer.path.name))

    projection = plugin.host_projection(call=call, session=None)

    assert projection is not None
    assert projection.last_seq == 1


def test_the_running_session_stands_at_its_leaf_however_it_is_named(writer: Writer) -> None:
    first = writer.user("a")
    writer.user("b")
    entry = SessionEntry(host="pi", id="from-the-header", file=writer.path)

    def seen(call: HostCall) -> list[int]:
        projection = plugin.host_projection(call=call, session=entry)
        assert projection is not None
        return projection.branch.seqs.tolist()

    assert seen(asked(writer, leaf_id=first)) == [1]
    assert seen(HostCall(host="claude", cwd=writer.path.parent, leaf_id=first)) == [1, 2]


def test_a_whole_call_pages_and_reads_a_session(writer: Writer, tmp_path: Path) -> None:
    writer.user("Find the needle.")
    writer.answer(call("c1", command="ls"), stop="toolUse")
    writer.result("c1", "hay, needle")
    writer.answer(text("Found."))
    dispatcher = Dispatcher(Hosts.load(), tmp_path / "home")

    page = dispatcher.call(asked(writer), "history_list", {"query": "needle"})
    read = dispatcher.call(asked(writer), "history_read", {"seq": 3})
    refused = dispatcher.call(asked(writer), "history_read", {"seq": 4})

    assert [row["seq"] for row in page.result["items"]] == [1, 3]
    assert read.result["text"] == (
        'call: bash\narguments: {"command":"ls"}\nstatus: ok\noutput:\nhay, needle'
    )
    assert refused.result["code"] == "not_an_event"
    assert "seq 3" in refused.result["error"]


def test_other_sessions_are_found_by_their_id(writer: Writer, tmp_path: Path) -> None:
    other = Writer(tmp_path / "other.jsonl", id="another-one")
    other.user("over there")
    dispatcher = Dispatcher(Hosts.load(), tmp_path / "home")

    page = dispatcher.call(asked(writer), "history_list", {"session": "anot"})

    assert [row["session"] for row in page.result["items"]] == ["pi:another-one"]
