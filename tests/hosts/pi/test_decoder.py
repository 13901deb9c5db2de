from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindnote.core.history.projection import SlotKind
from hindnote.core.history.timeline import Timeline
from hindnote.hosts.pi.decoder import PiProjection, Sessions

DATA = Path(__file__).parents[2] / "data/pi"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_bytes())


def session(name: str) -> PiProjection:
    projection = Sessions().of_file(DATA / f"{name}.jsonl")
    assert projection is not None
    return projection


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded_branch_is_the_one_that_pi_itself_reports(name: str) -> None:
    projection = session(name)
    kept = {"message", "compaction", "branch_summary", "custom_message"}
    lines = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_bytes().splitlines()]
    with_slots = {
        line["id"]
        for line in lines[1:]
        if line["type"] in kept and line.get("message", {}).get("role") != "system"
    }

    seen = dict.fromkeys(projection.facts(seq).entry_id for seq in projection.branch.seqs)

    assert list(seen) == [id_ for id_ in EXPECTED[name]["activeBranch"] if id_ in with_slots]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_recorded_call_on_the_branch_is_one_event_with_its_status(name: str) -> None:
    projection = session(name)
    timeline = Timeline(projection)
    found = {}
    for position in range(timeline.size):
        if projection.branch.kinds[position] == SlotKind.CALL:
            event = timeline.event(position)
            partner = timeline.partner(position)
            nested = partner and projection.facts(timeline.seq(partner)).nested
            call = (projection.facts(event.seq).entry_id, projection.branch.call_ids[position])
            found[call] = (event.tool, event.status, nested)

    wanted = [call for call in EXPECTED[name]["calls"] if call["onActiveBranch"]]

    assert len(wanted) == len(found)
    for call in wanted:
        tool, status, nested = found[call["callEntry"], call["toolCallId"]]
        assert tool == call["tool"]
        assert status == call["status"].replace("never-run", "unanswered")
        if recorded := call.get("nested"):
            assert nested is not None
            assert nested.complete == recorded["complete"]
            assert nested.names == tuple(name for _, name, _ in recorded["calls"])
            assert [json.loads(record)["id"] for record in nested.records] == [
                id_ for id_, _, _ in recorded["calls"]
            ]
        else:
            assert nested is None


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded_header_and_name_are_told(name: str) -> None:
    header = session(name).header

    assert header.session_id == EXPECTED[name]["header"]["id"]
    assert header.cwd == EXPECTED[name]["header"]["cwd"]
    assert header.name == EXPECTED[name]["name"]
    assert header.note is None
