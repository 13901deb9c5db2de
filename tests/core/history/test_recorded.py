"""Many recorded sessions of a real host, as one corpus."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from hindnote import HostCall
from hindnote.core.dispatch import Dispatcher
from hindnote.core.history import cache
from hindnote.core.history.lines import LineFile
from hindnote.core.outcome import Success
from hindnote.core.plugins import Hosts
from hindnote.hosts.pi import plugin

DATA = Path(__file__).parents[2] / "data" / "pi"
ROLES = ["user", "assistant", "tool", "context"]


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes one call among the recorded sessions."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    for file in DATA.glob("*.jsonl"):
        shutil.copy(file, folder)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(folder))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.setenv("HINDNOTE_SEARCH_SECONDS", "300")
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), tmp_path / "notes")
    call = HostCall(host="pi", cwd=tmp_path)

    def ask(**args: Any) -> dict[str, Any]:
        answer = dispatcher.call(call, "history_list", args)
        assert isinstance(answer.outcome, Success), answer.text
        return dict(answer.result)

    return ask


def whole(listed: Any, session: str, **args: Any) -> list[dict[str, Any]]:
    page = listed(session=session, limit=50, **args)
    rows = list(page["items"])
    while page["page_older"] is not None:
        page = listed(**{**args, "limit": 50, **page["page_older"]})
        rows = page["items"] + rows
    return rows


def test_every_session_is_listed_and_every_event_visited_once(listed: Any) -> None:
    page = listed(session="*", roles=ROLES, limit=200)

    sessions = [row["session"] for row in page["items"]]
    assert len(sessions) == len(set(sessions)) == page["sessions_covered"] > 20
    assert page["sessions_remaining"] == 0
    for session in sessions:
        rows = whole(listed, session, roles=ROLES)
        seqs = [row["seq"] for row in rows]
        assert seqs == sorted(set(seqs))
        folded = whole(listed, session)
        counted = sum(row["count"] if row.get("folded") else 1 for row in folded)
        assert counted == len(seqs)


@pytest.mark.parametrize("query", ["needle", "exit code", "資料", "TOOLU", "grep"])
def test_a_search_of_all_finds_what_a_search_of_each_finds(listed: Any, query: str) -> None:
    sessions = [row["session"] for row in listed(session="*", roles=ROLES, limit=200)["items"]]
    single = {
        (row["session"], row["seq"])
        for session in sessions
        for row in whole(listed, session, query=query)
    }

    page = listed(session="*", query=query, limit=200, max_chars_per_item=1)

    found = {(row["session"], row["seq"]) for row in page["items"]}
    copies = sum(row.get("also_in", 0) for row in page["items"])
    assert found <= single
    if page["sessions_remaining"] == 0:
        assert len(found) + copies == len(single)


def test_a_forks_copies_are_counted_once(listed: Any) -> None:
    page = listed(session="*", query="Three words.", limit=200, max_chars_per_item=1)

    assert [row["also_in"] for row in page["items"] if "also_in" in row] == [2]


def test_a_list_of_all_does_not_forget_the_running_session(
    listed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    class Counted(LineFile):
        def __init__(self, path: Path) -> None:
            opened.append(path)
            super().__init__(path)

    monkeypatch.setattr(cache, "LineFile", Counted)
    running = DATA / "compaction.jsonl"
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), tmp_path / "notes")
    call = HostCall(host="pi", cwd=tmp_path, session_file=running)

    for args in ({}, {"session": "*", "roles": ROLES, "limit": 200}, {}):
        assert not dispatcher.call(call, "history_list", args).is_error

    assert len(opened) > 20
    assert opened.count(running) == 1
