from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindnote.core.cli import sessions as module
from hindnote.core.cli.app import make_app
from hindnote.core.cli.sessions import short_names
from hindnote.core.history import index_cache
from hindnote.core.plugins.models import SessionEntry

DATA = Path(__file__).parents[2] / "data"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["sessions", *arguments])


def told(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def plain_lines(*arguments: str) -> list[str]:
    """Return what a terminal shows, without its colors and the blanks at the end of a line."""
    output = re.sub("\x1b\\[[0-9;]*m", "", run(*arguments).output)
    return [line.rstrip() for line in output.splitlines()]


def names(answer: dict[str, Any]) -> list[str]:
    return [one["session"] for one in answer["sessions"]]


def test_the_table_shows_the_session_that_changed_last_first(corpus: Any) -> None:
    corpus.add_claude("cccccccc-1", "one")
    corpus.add_pi("aaaaaaaa-1", "one", "two", title="Fix\nthe \x1b[31mbuild")

    head, first, second, end = run().output.splitlines()

    assert head.split() == ["changed", "session", "project", "about", "size", "events"]
    assert "pi:aaaaaaaa      w        Fix the \\x1b[31mbuild" in first
    assert first.endswith("     2")
    assert "claude:cccccccc" in second
    assert end == "2 of 2 sessions"


def test_one_session_is_told_as_one(corpus: Any) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")

    assert run().output.splitlines()[-1] == "1 of 1 session"


def test_json_tells_every_fact(corpus: Any) -> None:
    file = corpus.add_pi("aaaaaaaa-1", "one", title="Title")

    assert told() == {
        "sessions": [
            {
                "session": "pi:aaaaaaaa-1",
                "host": "pi",
                "started": "2026-11-30T09:00:00.000Z",
                "changed": "2026-11-30T00:54:20.000Z",
                "cwd": "/w",
                "project": "w",
                "name": "Title",
                "prompt": "one",
                "parent": None,
                "size": file.stat().st_size,
                "file": str(file),
                "events": 1,
                "windows": [{"first_seq": 1, "last_seq": 1, "events": 1}],
            }
        ],
        "total": 1,
    }


def test_filters_narrow_the_list(corpus: Any, tmp_path: Path) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    corpus.add_claude("cccccccc-1", "one")
    newest = corpus.add_pi("bbbbbbbb-1", "one", cwd=str(tmp_path))
    os.utime(newest, (1_796_200_000, 1_796_200_000))

    assert names(told("--host", "claude")) == ["claude:cccccccc-1"]
    assert names(told("--project")) == ["pi:bbbbbbbb-1"]
    assert names(told("--since", "2026-12-01")) == ["pi:bbbbbbbb-1"]
    assert names(told("--limit", "2")) == ["pi:bbbbbbbb-1", "claude:cccccccc-1"]
    assert told("--limit", "2")["total"] == 3
    assert len(names(told("--limit", "1", "--all"))) == 3


def test_times_bound_the_list_from_both_sides(corpus: Any) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    corpus.add_claude("cccccccc-1", "one")
    later, earlier = told("--until", "2026-11-30")["sessions"]
    assert later["changed"] > earlier["changed"]

    # The end of the span is outside of it.
    assert names(told("--until", later["changed"])) == [earlier["session"]]
    assert told("--until", earlier["changed"]) == {"sessions": [], "total": 0}
    within = told("--since", earlier["changed"], "--until", later["changed"])
    assert names(within) == [earlier["session"]]


def test_events_are_counted_while_there_is_room(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one")
    corpus.add_pi("bbbbbbbb-1", "one" * 1_000)
    small = corpus.add_pi("cccccccc-1", "one", "two")
    monkeypatch.setattr(module, "CHEAP_BYTES", small.stat().st_size + 400)

    assert [one["events"] for one in told()["sessions"]] == [2, None, 1]
    assert "--events counts" in run().output
    assert [one["events"] for one in told("--events")["sessions"]] == [2, 1, 1]


def test_a_session_that_cannot_be_read_is_listed_as_such(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    corpus.add_pi("aaaaaaaa-1", "one")
    monkeypatch.setattr(index_cache, "LineFile", refuse)

    (one,) = told()["sessions"]

    assert one["events"] is None
    assert "Permission denied" in one["problem"]
    assert run().output.splitlines()[1].endswith("  unreadable")


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["--host", "nope"], "no host 'nope' is installed", 2),
        (["--since", "soon"], "error: invalid_time: since ", 1),
        (["--until", "late"], "error: invalid_time: until ", 1),
        (["--host", "pi", "--project"], "--host or --project", 2),
        (["--limit", "0"], "--limit", 2),
    ],
)
def test_what_cannot_be_asked_is_refused(
    corpus: Any, arguments: list[str], message: str, code: int
) -> None:
    result = run(*arguments)

    assert result.exit_code == code
    assert message in result.stderr


@pytest.mark.parametrize("width", [20, 36, 43])
def test_no_number_is_cut_on_a_terminal_that_is_too_narrow_for_a_line(
    corpus: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    corpus.add_pi("aaaaaaaa-1", *(f"text {number}" for number in range(123)))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))

    heads, row, *_, end = plain_lines()

    assert heads.split() == ["changed", "session", "events"]
    assert "pi:aaaaaaaa" in row
    assert row.split()[-1] == "123"
    assert end == "1 of 1 session"


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_terminal_of_any_width_says_what_a_session_was_about(
    corpus: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    corpus.add_pi("aaaaaaaa-1", "one", cwd="/workspace/" + "d" * 60, title="t" * 150)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))

    heads, row, _ = plain_lines()

    sized = ["size"] if width >= 100 else []
    assert heads.split() == ["changed", "session", "project", "about", *sized, "events"]
    assert row.endswith("     1")
    assert max(len(heads), len(row)) <= width
    assert row.count("t") >= width // 4


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_long_name_of_a_subagent_goes_on_below_and_pushes_nothing_out(
    corpus: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    main = "cccccccc-1111-4111-8111-111111111111"
    corpus.add_subagent(corpus.add_claude(main, "one"), "a475a74314e2c140b", "two")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))

    lines = plain_lines()

    assert lines[0].endswith("events")
    assert all(len(line) <= width for line in lines)
    folded = "".join(line[12:].split(" ")[0] for line in lines[1:-1])
    assert f"claude:{main}/a475a74314e2c140b" in folded


def test_a_session_without_a_name_is_known_by_its_first_prompt(corpus: Any) -> None:
    corpus.add_pi("aaaaaaaa-1", " Why\n does the build fail? ", "second")
    corpus.add_claude("cccccccc-1", "<command-name>/clear</command-name>", "Write a poem.")

    assert [one["prompt"] for one in told()["sessions"]] == [
        "Write a poem.",
        "Why does the build fail?",
    ]
    assert "Why does the build fail?" in run().output


def test_a_prompt_that_the_catalogue_does_not_reach_is_read_from_the_session(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in ("pi", "claude"):
        monkeypatch.setattr(f"hindnote.hosts.{host}.format.header.PROMPT_WITHIN", 16)
    corpus.add_pi("aaaaaaaa-1", "Why does the build fail?")
    corpus.add_claude("cccccccc-1", "Write a poem.")

    assert [one["prompt"] for one in told()["sessions"]] == [
        "Write a poem.",
        "Why does the build fail?",
    ]


def test_words_choose_sessions_by_what_they_were_about(corpus: Any) -> None:
    corpus.add_pi("aaaaaaaa-1", "Fix the login form.")
    corpus.add_pi("bbbbbbbb-1", "one", title="Login page")
    corpus.add_claude("cccccccc-1", "Other things.")

    assert names(told("LOGIN")) == ["pi:bbbbbbbb-1", "pi:aaaaaaaa-1"]
    assert names(told("login", "form")) == ["pi:aaaaaaaa-1"]
    assert names(told("/w", "cccc")) == ["claude:cccccccc-1"]
    assert told("nowhere") == {"sessions": [], "total": 0}


def test_a_tree_shows_a_session_s_whole_family_in_its_order(corpus: Any) -> None:
    main = "cccccccc-1111-4111-8111-111111111111"
    file = corpus.add_claude(main, "Ask somebody.")
    corpus.add_subagent(file, "a475a74314e2c140b", "Count.")
    corpus.add_pi("aaaaaaaa-1", "Alone.")

    lines = run("--tree", "count").output.splitlines()

    assert f"claude:{main[:8]}" in lines[1]
    assert f"└╴claude:{main}/a475a74314e2c140b" in lines[2]
    assert lines[3] == "1 of 1 session; 1 more of their families"


def test_a_tree_shows_the_windows_of_a_session_that_was_compacted(corpus: Any) -> None:
    shutil.copy(DATA / "pi/compaction.jsonl", corpus.pi)

    lines = run("--tree").output.splitlines()

    assert [line.split()[:6] for line in lines[2:5]] == [
        ["·", "window", "1", "seq", "1", "to"],
        ["·", "window", "2", "seq", "18", "to"],
        ["·", "window", "3", "seq", "29", "to"],
    ]
    assert sum(int(line.split()[-1]) for line in lines[2:5]) == int(lines[1].split()[-1])


def test_no_session_is_no_error(corpus: Any) -> None:
    assert run().output == "no sessions\n"
    assert told() == {"sessions": [], "total": 0}


def test_short_names_are_unique_and_a_subagent_keeps_its_whole_name() -> None:
    ids = ["0192-abcdefg-1", "0192-abcdefg-2", "0192-abc", "other-session", "0192-abc/agent-1"]
    entries = [SessionEntry(host="pi", id=one, file=Path(one)) for one in ids]
    entries.append(SessionEntry(host="claude", id="0192-abcdefg-1", file=Path("c")))

    assert list(short_names(entries).values()) == [
        "pi:0192-abcdefg-1",
        "pi:0192-abcdefg-2",
        "pi:0192-abc",
        "pi:other-se",
        "pi:0192-abc/agent-1",
        "claude:0192-abc",
    ]
