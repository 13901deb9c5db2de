from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from good_host import Good
from hypothesis import given
from hypothesis import strategies as st

from hindnote import HostCall
from hindnote.core.boot.block import (
    BOOT_LIMIT,
    SeenWindow,
    Snapshot,
    render,
)
from hindnote.core.call import Dispatcher
from hindnote.core.notes.summary import HomeIndex, IndexedNote
from hindnote.core.plugins.hosts import Hosts
from hindnote.core.tools.registry import NAMES

NOW = 1_796_000_000.0


def home(name: str, **facts: Any) -> HomeIndex:
    empty = {"available": True, "map": None, "freshest": (), "total": 0, "unreadable": 0}
    return HomeIndex(name, **(empty | facts))


def snapshot(
    homes: tuple[HomeIndex, ...] = (), windows: tuple[SeenWindow, ...] = (), **facts: Any
) -> Snapshot:
    told = {
        "utc_offset": 3_600,
        "host": "pi",
        "session_id": "s-1",
        "agent": "root",
        "model": "m",
        "project_key": "demo-12345678",
        "directory": "/w/demo",
        "tool_prefix": "",
        "offered": frozenset(NAMES),
    }
    return Snapshot(now=NOW, homes=homes, windows=windows, **(told | facts))


def test_the_block_says_who_asks_what_notes_there_are_and_which_windows() -> None:
    text = render(
        snapshot(
            homes=(
                home("session", available=False),
                home(
                    "@project",
                    freshest=(IndexedNote("@project/plan.md", 120, "", int(NOW - 7_300) * 1000),),
                    total=5,
                    map="- [plan](plan.md)\n",
                    unreadable=1,
                ),
                home("@human"),
                home("@self", map="", total=1),
            ),
            windows=(
                SeenWindow(1, 40, 22, NOW - 90_000),
                SeenWindow(41, 44, 1, None),
            ),
            tool_prefix="mcp__hindnote__",
        )
    )

    assert "Host pi, session s-1, agent root, model m." in text
    assert "## Notes of this session\n[unavailable: " in text
    assert "- @project/plan.md, 120 characters, 2026-11-29 23:51" in text
    assert '[3 more: mcp__hindnote__notes_list {"glob":"@project/**"}]' in text
    assert "@project/MAP.md:\n- [plan](plan.md)\n" in text
    assert "[1 cannot be read]" in text
    assert "## Notes in @self/\nnone besides the map" in text
    assert "No notes yet: @human." in text
    assert "- window 1: seq 1 to 40, 22 events, from 2026-11-29 00:53" in text
    assert "- window 2: seq 41 to 44, 1 event" in text
    assert 'mcp__hindnote__history_list {"after_seq":0,"before_seq":41}' in text
    assert not re.search(r"(?<!mcp__hindnote__)(notes|history)_(list|read|search|write)", text)


def test_times_are_absolute_and_the_block_says_as_of_when() -> None:
    east = render(snapshot())
    west = render(snapshot(utc_offset=-(3 * 3600 + 1800)))

    assert "as of 2026-11-30 01:53 (UTC+01:00)" in east
    assert "as of 2026-11-29 21:23 (UTC-03:30)" in west
    assert " ago" not in east


def test_an_empty_memory_costs_less_than_500_bytes() -> None:
    homes = tuple(home(name) for name in ("session", "@project", "@human", "@self", "@model"))
    session_id = "019c1f0a-7c3e-7d52-b0a4-0d5a1d5e6f70"

    for host, prefix in (("pi", ""), ("claude", "mcp__hindnote__")):
        text = render(
            snapshot(
                homes,
                session_id=session_id,
                host=host,
                tool_prefix=prefix,
                directory="/w/p",
                project_key="p-12345678",
                model="claude-sonnet-4-5",
            )
        )
        assert "No notes yet: this session, @project, @human, @self, @model." in text
        assert len(text.encode()) < 500


def test_no_tool_is_named_that_the_session_was_not_offered() -> None:
    homes = (
        home("@project", map="m" * 5_000, total=100),
        home("@human", freshest=(IndexedNote("@human/a.md", 1, "", 0),), total=30),
    )
    windows = tuple(SeenWindow(n * 10 + 1, n * 10 + 10, 9, None) for n in range(500))

    text = render(snapshot(homes, windows, offered=frozenset({"notes_read"})))

    assert set(re.findall(r"(?:notes|history)_[a-z]+", text)) == {"notes_read"}


def test_without_a_directory_the_block_says_so() -> None:
    text = render(snapshot(project_key=None, directory="/w/removed"))

    assert "No project: the directory /w/removed does not exist." in text


def test_a_session_without_history_has_no_windows_to_show() -> None:
    text = render(snapshot(session_id=None))

    assert "no session, agent root" in text
    assert "Windows" not in text


def test_long_maps_share_the_room_fairly() -> None:
    homes = tuple(home(name, map="m" * 5_000, total=1) for name in ("@a", "@b", "@c", "@d"))

    shown = [len(run) for run in re.findall("m{100,}", render(snapshot(homes)))]

    assert len(shown) == 4
    assert max(shown) - min(shown) <= 1
    assert min(shown) > 3_500


def test_a_short_map_leaves_its_room_to_the_long_ones() -> None:
    long = tuple(home(name, map="m" * 5_000, total=1) for name in ("@a", "@b", "@c"))
    homes = (*long, home("@d", map="short", total=1))

    text = render(snapshot(homes))

    assert "@d/MAP.md:\nshort" in text
    assert [len(run) for run in re.findall("m{100,}", text)] == [4_096] * 3


def test_a_long_map_is_cut_with_a_pointer() -> None:
    text = render(snapshot(homes=(home("@self", map="m" * 5_000, total=1),)))

    assert "m" * 4_096 + "\n[cut; " in text
    assert 'notes_read {"address":"@self/MAP.md","offset_chars":4096} goes on' in text


def test_many_windows_leave_out_the_oldest_with_a_pointer() -> None:
    windows = tuple(SeenWindow(n * 10 + 1, n * 10 + 10, 9, None) for n in range(500))

    text = render(snapshot(windows=windows))

    assert "- window 500: seq 4991 to 5000" in text
    left = re.search(r"\[(\d+) older, seq 1 to (\d+): history_list {\"before_seq\":(\d+)}\]", text)
    assert left is not None
    assert int(left[2]) == int(left[1]) * 10 == int(left[3]) - 1
    assert f"- window {int(left[1]) + 1}: seq {left[3]} to" in text


names = st.text(min_size=1, max_size=510)


@given(
    homes=st.lists(
        st.builds(
            HomeIndex,
            name=st.sampled_from(["session", "@project", "@model"]),
            available=st.booleans(),
            map=st.none() | st.integers(0, 6_000).map(lambda n: "é" * n),
            freshest=st.lists(
                st.builds(
                    IndexedNote,
                    names,
                    st.integers(0, 10**7),
                    st.just(""),
                    st.integers(0, int(NOW * 2_000)),
                ),
                max_size=10,
            ).map(tuple),
            total=st.integers(11, 10**6),
            unreadable=st.integers(0, 10**6),
        ),
        max_size=5,
    ).map(tuple),
    windows=st.integers(0, 400).map(
        lambda n: tuple(SeenWindow(w + 1, w + 2, 10**6, NOW) for w in range(n))
    ),
    session=st.text(min_size=1, max_size=4_000),
    directory=st.text(min_size=1, max_size=4_000),
)
def test_the_block_never_grows_over_its_limit(
    homes: tuple[HomeIndex, ...], windows: tuple[SeenWindow, ...], session: str, directory: str
) -> None:
    seen = snapshot(
        homes, windows, session_id=session, directory=directory, tool_prefix="mcp__hindnote__"
    )

    text = render(seen)

    assert len(text) <= BOOT_LIMIT
    assert render(seen) == text
    for shown in homes:
        assert shown.map is None or "MAP.md" in text


def test_the_block_of_a_call_shows_the_notes_on_disk(tmp_path: Path) -> None:
    home = tmp_path / "notes"
    call = HostCall(host="good", cwd=tmp_path)
    dispatcher = Dispatcher(Hosts.of({"good": Good()}), home)
    for address in ("@human/MAP.md", "@human/likes.md", "@human/gone.md"):
        dispatcher.call(call, "notes_write", {"address": address, "content": f"about {address}"})
    dispatcher.call(call, "notes_update", {"address": "@human/gone.md", "archived": True})
    (home / "human" / "bad.md").write_bytes(b"\xff")
    before = {path: path.read_bytes() for path in home.rglob("*.md")}

    text = dispatcher.boot(call)

    assert "about @human/MAP.md" in text
    assert "- @human/likes.md, 21 characters" in text
    assert "gone.md" not in text
    assert {path: path.read_bytes() for path in home.rglob("*.md")} == before


def test_a_subagent_is_told_whose_notes_and_whose_history_it_has() -> None:
    seen = snapshot(subagent=True, tool_prefix="mcp__hindnote__")

    assert (
        "You are a subagent of this session: you share its notes, and your history is your own; "
        'the session\'s is mcp__hindnote__history_list {"session":"@parent"}.'
    ) in render(seen)
    without = render(snapshot(subagent=True, offered=frozenset({"notes_read"})))
    assert without.endswith("you share its notes, and your history is your own.")
    assert "subagent" not in render(snapshot())
