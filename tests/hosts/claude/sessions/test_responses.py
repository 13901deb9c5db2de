"""Which rows are one answer, when an endpoint sends several responses with one id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_rows import Writer

from hindnote.core.history.timeline import Timeline


def shown(writer: Writer, folder: Path) -> list[tuple[str, str]]:
    """Return the role and the end of the text of each event."""
    timeline = Timeline(writer.transcript(folder).projection)
    found = []
    for at in timeline.events(range(timeline.size)):
        event = timeline.event(at)
        found.append((timeline.role(at), event.document.rpartition("\n")[2]))
    return found


def test_answers_with_one_id_are_as_many_answers_as_there_were(tmp_path: Path) -> None:
    writer = Writer()
    writer.user("q1")
    writer.text("answer one", "q1", "m")
    writer.user("q2", "answer one")
    writer.text("answer two", "q2", "m")

    assert shown(writer, tmp_path) == [
        ("user", "q1"),
        ("assistant", "answer one"),
        ("user", "q2"),
        ("assistant", "answer two"),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"requestId": "r1"}, {"requestId": "r2"}),
        ({"apiBlockIndex": 1}, {"apiBlockIndex": 0}),
        ({"apiBlockIndex": 0}, {"apiBlockIndex": 0}),
    ],
)
def test_an_answer_to_results_is_another_one_when_its_rows_say_so(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    writer = Writer()
    writer.user("q")
    writer.text("before", "q", "m")
    writer.call("c", "before", "m")
    writer.rows[-1].update(first)
    writer.result("r", "c")
    writer.text("after", "r", "m")
    writer.rows[-1].update(second)

    assert shown(writer, tmp_path) == [
        ("user", "q"),
        ("assistant", "before"),
        ("tool", "r"),
        ("assistant", "after"),
    ]


def test_rows_behind_results_and_notes_belong_to_the_same_answer(tmp_path: Path) -> None:
    writer = Writer()
    writer.user("q")
    writer.text("one", "q", "m")
    writer.rows[-1].update(requestId="r1", apiBlockIndex=0)
    writer.call("c", "one", "m")
    writer.rows[-1].update(requestId="r1", apiBlockIndex=1)
    writer.result("r", "c")
    writer.hook("h", "r")
    writer.meta("note", "h")
    writer.text("two", "c", "m")
    writer.rows[-1].update(requestId="r1", apiBlockIndex=2)

    assert shown(writer, tmp_path)[:3] == [("user", "q"), ("assistant", "two"), ("tool", "r")]


def test_calls_of_an_abandoned_branch_with_the_same_id_are_not_on_the_branch(
    tmp_path: Path,
) -> None:
    writer = Writer()
    writer.user("q")
    writer.text("a", "q", "m0")
    writer.user("left", "a")
    writer.call("c", "left", "m")
    writer.result("r", "c")
    writer.user("taken", "a")
    writer.text("answer", "taken", "m")

    assert shown(writer, tmp_path) == [
        ("user", "q"),
        ("assistant", "a"),
        ("user", "taken"),
        ("assistant", "answer"),
    ]
