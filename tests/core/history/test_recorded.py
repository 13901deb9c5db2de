"""All recorded sessions of the real hosts, as one corpus."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.history import index_cache
from hindnote.core.history.lines import LineFile
from hindnote.core.history.timeline import Timeline
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.tools.outcome import Success
from hindnote.hosts.claude import plugin as claude
from hindnote.hosts.codex import plugin as codex
from hindnote.hosts.pi import plugin as pi

DATA = Path(__file__).parents[2] / "data"
ROLES = ["user", "assistant", "tool", "context"]
PLUGINS = {"pi": pi, "claude": claude, "codex": codex}


class Recorded:
    """Calls among all recorded sessions, laid out as their hosts would."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(DATA / "pi", folder / "agent/sessions/--workspace-demo--")
        shutil.copytree(DATA / "claude", folder / "claude/projects/-workspace-demo")
        for home in (DATA / "codex").iterdir():
            if home.is_dir():
                shutil.copytree(home, folder / "codex", dirs_exist_ok=True)
        self.call = HostCall(host="pi", cwd=folder)
        self.hosts = Hosts.of(PLUGINS)
        self.dispatcher = Dispatcher(self.hosts, folder / "notes")

    def __call__(self, **args: Any) -> dict[str, Any]:
        answer = self.dispatcher.call(self.call, "history_list", args)
        assert isinstance(answer.outcome, Success), answer.text
        return dict(answer.result)

    def events(self) -> dict[str, list[int]]:
        """Return the seqs of all events by session, as the decoders have them.

        Of two files that claim one id, two states of one session, the newer counts.
        """
        found: dict[str, list[int]] = {}
        for host in PLUGINS:
            for entry in self.hosts.sessions(self.call, host):
                if entry.canonical in found:
                    continue
                projection = self.hosts.open(self.call, entry)
                assert projection is not None
                timeline = Timeline(projection)
                positions = range(timeline.size)
                found[entry.canonical] = [timeline.seq(at) for at in timeline.events(positions)]
        return found


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("HINDNOTE_SEARCH_SECONDS", "300")
    return Recorded(tmp_path)


def whole(listed: Recorded, session: str, end: str = "newest", **args: Any) -> list[dict[str, Any]]:
    """Return all rows of a session, page by page from one end."""
    args |= {"session": session, "limit": 50, "from": end}
    older = end == "newest"
    page = listed(**args)
    rows = list(page["items"])
    while (recipe := page["page_older" if older else "page_newer"]) is not None:
        page = listed(**{**args, **recipe})
        assert page["items"]
        rows = page["items"] + rows if older else rows + page["items"]
    return rows


def test_every_session_with_an_event_is_in_a_list_of_all_once(listed: Recorded) -> None:
    page = listed(session="*", roles=ROLES, limit=200, max_chars_per_item=1)

    sessions = [row["session"] for row in page["items"]]
    events = listed.events()
    assert sorted(sessions) == sorted(name for name, seqs in events.items() if seqs)
    assert (page["sessions_covered"], page["sessions_remaining"]) == (len(events), 0)
    assert {name.partition(":")[0] for name in sessions} == set(PLUGINS)
    assert len(sessions) > 40


@pytest.mark.parametrize("end", ["newest", "oldest"])
def test_every_event_is_visited_once_by_paging_from_either_end(listed: Recorded, end: str) -> None:
    events = listed.events()

    for session, seqs in events.items():
        assert [row["seq"] for row in whole(listed, session, end, roles=ROLES)] == seqs


def test_every_event_is_visible_or_in_a_folded_row_that_lists_it(listed: Recorded) -> None:
    for session, seqs in listed.events().items():
        found: list[int] = []
        for row in whole(listed, session):
            if not row.get("folded"):
                found.append(row["seq"])
                continue
            inside = [one["seq"] for one in whole(listed, **_unfolded(row["expand"]))]
            assert len(inside) == row["count"]
            found += inside
        assert found == seqs


def _unfolded(expand: dict[str, Any]) -> dict[str, Any]:
    """Return a folded row's recipe without its limit and end, which the pages set."""
    return {name: value for name, value in expand.items() if name not in ("limit", "from")}


@pytest.mark.parametrize("query", ["needle", "exit code", "資料", "TOOLU", "grep"])
def test_a_search_of_all_finds_what_a_search_of_each_finds(listed: Recorded, query: str) -> None:
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


def test_a_forks_copies_are_counted_once(listed: Recorded) -> None:
    page = listed(session="pi:*", query="Three words.", limit=200, max_chars_per_item=1)

    assert [row["also_in"] for row in page["items"] if "also_in" in row] == [2]


@pytest.mark.parametrize(
    ("host", "file"),
    [
        ("pi", "agent/sessions/--workspace-demo--/compaction.jsonl"),
        ("claude", "claude/projects/-workspace-demo/compact-manual.jsonl"),
    ],
)
def test_a_list_of_all_does_not_forget_the_running_session(
    listed: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, file: str
) -> None:
    opened: list[Path] = []

    class Counted(LineFile):
        def __init__(self, path: Path) -> None:
            opened.append(path)
            super().__init__(path)

    monkeypatch.setattr(index_cache, "LineFile", Counted)
    running = tmp_path / file
    listed.call = HostCall(host=host, cwd=tmp_path, session_file=running)

    listed()
    listed(session="*", roles=ROLES, limit=200, max_chars_per_item=1)
    listed()

    assert len(opened) > 40
    assert opened.count(running) == 1
