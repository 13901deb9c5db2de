"""Transcripts that other programs wrote or changed: what cannot be known is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_rows import Writer

from hindnote.core.history.timeline import Timeline
from hindnote.hosts.claude.sessions.projection import open_transcript


def conversation() -> Writer:
    writer = Writer()
    writer.user("q1")
    writer.text("a1", "q1", "m1")
    writer.user("q2", "a1")
    writer.call("c", "q2", "m2")
    writer.result("r", "c")
    writer.text("a2", "r", "m3")
    return writer


def shown(writer: Writer, folder: Path) -> tuple[list[str], str | None]:
    """Return the last line of each event, and what is said of the session."""
    session = open_transcript(writer.write(folder / "s.jsonl"))
    assert session is not None
    timeline = Timeline(session)
    events = (timeline.event(at) for at in timeline.events(range(timeline.size)))
    return [event.document.rpartition("\n")[2] for event in events], session.header.note


def test_a_transcript_of_claude_code_needs_no_word(tmp_path: Path) -> None:
    assert shown(conversation(), tmp_path) == (["q1", "a1", "q2", "r", "a2"], None)


@pytest.mark.parametrize("missing", [True, False], ids=["no key", "null"])
@pytest.mark.parametrize("growing", [True, False])
def test_rows_without_parents_are_shown_in_file_order_and_that_is_said(
    tmp_path: Path, missing: bool, growing: bool
) -> None:
    writer = conversation()
    for row in writer.rows:
        if missing:
            del row["parentUuid"]
        else:
            row["parentUuid"] = None
    rows, writer.rows = writer.rows, []
    for row in rows:
        writer.rows.append(row)
        if growing:
            shown(writer, tmp_path)

    texts, note = shown(writer, tmp_path)

    assert texts == ["q1", "a1", "q2", "r", "a2"]
    assert note is not None
    assert note.startswith("5 rows of the file do not say what came before; the order of the file")


def test_a_prompt_that_begins_again_is_no_guess(tmp_path: Path) -> None:
    writer = conversation()
    writer.user("other beginning")
    writer.text("answer", "other beginning", "m9")

    assert shown(writer, tmp_path) == (["other beginning", "answer"], None)


def test_what_was_guessed_is_taken_back_when_a_row_names_its_parent(tmp_path: Path) -> None:
    writer = Writer()
    writer.user("left")
    writer.user("taken")
    before = shown(writer, tmp_path)
    writer.text("answer", "taken", "m")
    after = shown(writer, tmp_path)

    assert before[0] == ["left", "taken"]
    assert before[1] is not None
    assert after == (["taken", "answer"], None)


@pytest.mark.parametrize("count", [1, 2])
def test_rows_without_an_id_are_counted(tmp_path: Path, count: int) -> None:
    writer = conversation()
    for row in writer.rows[-count:]:
        del row["uuid"]

    texts, note = shown(writer, tmp_path)

    assert texts[:3] == ["q1", "a1", "q2"]
    rows = "1 row of the file does" if count == 1 else "2 rows of the file do"
    assert note == f"{rows} not have a uuid and cannot be addressed"


@pytest.mark.parametrize("first", [True, False])
def test_a_subagents_rows_in_a_main_sessions_file_are_counted(tmp_path: Path, first: bool) -> None:
    writer = conversation()
    writer.user("task", isSidechain=True, agentId="x")
    if first:
        writer.rows.insert(0, writer.rows.pop())

    texts, note = shown(writer, tmp_path)

    assert texts == ["q1", "a1", "q2", "r", "a2"]
    assert note is not None
    assert note.startswith(
        "1 row of the file does not belong to this conversation but to subagents"
    )


def test_injected_calls_without_a_message_id_keep_their_results(tmp_path: Path) -> None:
    """``--input-format stream-json`` let programs write such rows before 2.1.251."""
    writer = Writer()
    writer.user("q")
    for name, under in (("c1", "q"), ("c2", "c1")):
        writer.call(name, under, "m")
        del writer.rows[-1]["message"]["id"]
    writer.result("r1", "c1")
    writer.result("r2", "c2")
    writer.text("done", "r2", "m2")

    assert shown(writer, tmp_path)[0] == ["q", "r1", "r2", "done"]


@pytest.mark.parametrize("row", [{}, {"type": "attachment"}, {"type": "user", "uuid": ""}])
def test_empty_rows_of_hooks_cost_nothing_else(tmp_path: Path, row: dict[str, Any]) -> None:
    """Asynchronous hooks of 2.1.118 and before wrote them."""
    writer = conversation()
    writer.rows.insert(2, row)

    assert shown(writer, tmp_path)[0] == ["q1", "a1", "q2", "r", "a2"]


def test_a_parent_that_was_never_written_ends_no_branch(tmp_path: Path) -> None:
    writer = conversation()
    writer.rows[2]["parentUuid"] = "never written"

    assert shown(writer, tmp_path) == (["q1", "a1", "q2", "r", "a2"], None)
