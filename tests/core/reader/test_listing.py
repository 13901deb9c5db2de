from __future__ import annotations

from pathlib import Path

import pytest

from hindnote.core.plugins.models import SessionEntry
from hindnote.core.reader.listing import Filter, ago, drawn, forest, project_of

DAY = 86_400.0
NOW = 1_796_000_000.0


def entry(id_: str, parent: str | None = None, **more: object) -> SessionEntry:
    fields = {"host": "pi", "id": id_, "file": Path(id_), "parent": parent, "started": id_}
    return SessionEntry.model_validate({**fields, **more})


@pytest.mark.parametrize(
    ("past", "said"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (3_599, "59 min ago"),
        (3_600, "1 h ago"),
        (DAY - 1, "23 h ago"),
        (7 * DAY - 1, "6 d ago"),
        (7 * DAY, "2026-11-23"),
        (-30, "just now"),
        (-DAY, "2026-12-01"),
        (float("inf"), ""),
    ],
)
def test_a_time_is_told_from_now_and_by_its_date_after_a_week(past: float, said: str) -> None:
    assert ago(NOW - past, NOW) in (said, said.replace("23", "22").replace("12-01", "11-30"))


def test_a_directory_belongs_to_the_project_around_it(tmp_path: Path) -> None:
    inner = tmp_path / "ship/src"
    inner.mkdir(parents=True)
    (tmp_path / "ship/.git").mkdir()

    assert project_of(str(inner)) == "ship"
    assert project_of("/gone/elsewhere") == "elsewhere"
    assert project_of("/") == "/"
    assert project_of(None) == ""
    assert project_of(str(Path.home())) == "~"
    assert project_of("a\0b") == "a\0b"


def test_a_filter_takes_what_all_of_its_words_occur_in() -> None:
    one = entry("a", name="Fix the Build", prompt="why?", cwd="/w/ship", modified=5.0)

    assert Filter(words=("build", "SHIP", "why")).takes(one)
    assert not Filter(words=("build", "absent")).takes(one)
    assert Filter(since=5, until=6, project="ship").takes(one)
    assert not Filter(until=5).takes(one)
    assert not Filter(since=5.5).takes(one)
    assert not Filter(project="w").takes(one)


def test_families_are_drawn_with_their_ancestors_and_the_newest_first() -> None:
    every = [
        entry("old", modified=1),
        entry("root", modified=2),
        entry("fork-2", "root", modified=9),
        entry("fork-1", "root", modified=3),
        entry("leaf", "fork-1", modified=4),
    ]

    placed = [
        f"{one.lines}{one.node.entry.id}" for one in drawn(forest(every, [every[0], *every[2:]]))
    ]

    assert placed == ["root", "├╴fork-1", "│ └╴leaf", "└╴fork-2", "old"]
    assert [one.node.wanted for one in drawn(forest(every, [every[4]]))] == [False, False, True]


def test_sessions_that_claim_to_be_each_other_s_parents_are_each_shown_once() -> None:
    every = [entry("a", "b"), entry("b", "a"), entry("c", "c")]

    assert sorted(one.node.entry.id for one in drawn(forest(every, every))) == ["a", "b", "c"]


def test_a_chain_of_thousands_of_forks_is_drawn() -> None:
    every = [entry(str(n), str(n - 1) if n else None) for n in range(3_000)]

    assert len(list(drawn(forest(every, [every[-1]])))) == 3_000
