"""Every recorded session of the real Codex, against an independent reading of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.history.projection import SlotKind
from hindnote.core.history.timeline import Timeline
from hindnote.hosts.codex.paths import named
from hindnote.hosts.codex.sessions.projection import CodexProjection, open_rollout

DATA = Path(__file__).parents[2] / "data" / "codex"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text("utf-8"))

every_file = pytest.mark.parametrize("name", EXPECTED, ids=lambda name: name.split("/")[0])


def opened(name: str) -> CodexProjection:
    found = open_rollout(DATA / name)
    assert found is not None
    return found


def texts(session: CodexProjection, kind: SlotKind) -> list[str]:
    branch = session.branch
    return [
        session.facts(seq).text
        for seq, held in zip(branch.seqs, branch.kinds, strict=True)
        if held == kind
    ]


@every_file
def test_what_was_said_is_there_once_and_in_order(name: str) -> None:
    session = opened(name)

    said = [
        text.replace("[image image/png, 79 bytes]\n", "") for text in texts(session, SlotKind.USER)
    ]
    assert said == EXPECTED[name]["user"]
    assert texts(session, SlotKind.ASSISTANT) == EXPECTED[name]["assistant"]
    assert session.damaged == ()


@every_file
def test_calls_are_the_recorded_ones_and_end_as_recorded(name: str) -> None:
    timeline = Timeline(opened(name))
    calls = EXPECTED[name]["calls"]
    found = {
        timeline.branch.call_ids[at]: timeline.event(at)
        for at in range(timeline.size)
        if timeline.branch.kinds[at] == SlotKind.CALL
    }

    assert list(found) == list(calls)
    for call_id, event in found.items():
        told = calls[call_id]
        assert event.tool == told["name"].replace("/", "__")
        if not told["answered"]:
            assert event.status == "unanswered"
        elif told["status"] is not None:
            assert event.status == ("ok" if told["status"] == "completed" else "error")


@every_file
def test_a_session_says_of_itself_what_its_first_row_says(name: str) -> None:
    header, told = opened(name).header, EXPECTED[name]

    sent = told["sent_by"] is not None
    assert header.session_id == (f"{told['session']}/{told['id']}" if sent else told["id"])
    assert header.cwd == "/workspace/demo"
    assert header.note is None
    if named(Path(name).name.removesuffix(".zst")).rollout == told["id"]:  # type: ignore[union-attr]
        assert header.started == told["started"]
        assert header.parent == (told["session"] if sent else told["forked_from"])


@every_file
def test_each_compaction_that_stands_opens_a_window(name: str) -> None:
    session = opened(name)

    assert len(session.windows) == 1 + EXPECTED[name]["compactions"]
    for seq in list(session.windows)[1:]:
        assert "summary" in session.facts(seq).text
