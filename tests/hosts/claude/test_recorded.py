"""Every recorded transcript, against what the host itself made of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from hindnote.core.history import lines as line_files
from hindnote.core.history.lines import LineFile
from hindnote.core.history.projection import SlotKind
from hindnote.core.history.timeline import Timeline
from hindnote.hosts.claude.sessions.branch import host_branch
from hindnote.hosts.claude.sessions.projection import Transcript
from hindnote.hosts.claude.sessions.spine import NO_GROUP, SPEAKER

DATA = Path(__file__).parents[2] / "data" / "claude"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text("utf-8"))
SIDECHAINS = [chain for facts in EXPECTED.values() for chain in facts["sidechains"]]

every_file = pytest.mark.parametrize("name", EXPECTED)
every_sidechain = pytest.mark.parametrize("chain", SIDECHAINS, ids=lambda chain: chain["agent_id"])


def transcript(name: str) -> Transcript:
    return Transcript(LineFile(DATA / name))


def names(made: Transcript) -> list[str]:
    """Return the rows' ids in file order."""
    return [json.loads(made.line(row))["uuid"] for row in range(len(made.spine.flags))]


@every_file
def test_the_hosts_branch_is_the_recorded_one(name: str) -> None:
    made = transcript(name)
    spine, uuids = made.spine, names(made)
    branch, off_walk = host_branch(spine)
    shown = [uuids[row] for row in branch]

    assert len(spine.flags) == EXPECTED[name]["chain_rows"]
    assert shown == EXPECTED[name]["branch"]
    spoken = [uuids[row] for row in branch if spine.flags[row] & SPEAKER]
    assert spoken == EXPECTED[name]["branch_conversation"]
    # What only hangs under a prompt at the end belongs to no response.
    siblings = [uuids[row] for row in off_walk if spine.groups[row] != NO_GROUP]
    assert sorted(siblings) == sorted(EXPECTED[name]["recovered_siblings"])
    left_out = [
        uuid
        for row, uuid in enumerate(uuids)
        if spine.flags[row] & SPEAKER and uuid not in set(shown)
    ]
    assert left_out == EXPECTED[name]["not_in_branch"]


@every_file
@pytest.mark.parametrize("chunk", [300, 5_000])
def test_lines_read_a_few_at_a_time_make_the_same_session(
    name: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = transcript(name).projection
    monkeypatch.setattr(line_files, "_CHUNK", chunk)
    pieces = transcript(name).projection

    assert pieces.header == whole.header
    assert pieces.damaged == whole.damaged
    assert structs.replace(pieces.branch, lineage=None) == structs.replace(
        whole.branch, lineage=None
    )


def hosts_calls(made: Transcript) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the calls of the host's branch as the recordings list them."""
    spine, uuids = made.spine, names(made)
    slots = [seq for row in host_branch(spine)[0] for seq in spine.seqs(row)]
    places = {seq: spine.place(seq) for seq in slots}
    results = {
        spine.call_ids[places[seq]]: seq for seq in slots if spine.kinds[seq - 1] == SlotKind.RESULT
    }
    calls, pending = [], []
    for seq in slots:
        if spine.kinds[seq - 1] != SlotKind.CALL:
            continue
        call_id = spine.call_ids[places[seq]]
        result = results.get(call_id)
        if result is None:
            pending.append(call_id)
        calls.append(
            {
                "id": call_id,
                "name": spine.tools[places[seq]],
                "use_row": uuids[spine.row_of(seq)],
                "result_row": None if result is None else uuids[spine.row_of(result)],
            }
        )
    return calls, pending


def without_outcome(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: call[key] for key in call if key != "is_error"} for call in calls]


@every_file
def test_the_hosts_calls_are_the_recorded_ones(name: str) -> None:
    calls, pending = hosts_calls(transcript(name))

    assert calls == without_outcome(EXPECTED[name]["calls"])
    assert pending == EXPECTED[name]["pending"]


@every_file
def test_the_history_tells_how_each_call_ended(name: str) -> None:
    timeline = Timeline(transcript(name).projection)
    statuses = {
        timeline.branch.call_ids[position]: timeline.event(position).status
        for position in range(timeline.size)
        if timeline.branch.kinds[position] == SlotKind.CALL
    }

    for call in EXPECTED[name]["calls"]:
        ended = "error" if call["is_error"] else "ok"
        assert statuses[call["id"]] == ("pending" if call["result_row"] is None else ended)


@every_file
def test_the_history_holds_the_hosts_branch(name: str) -> None:
    made = transcript(name)
    spine = made.spine
    seqs = set(made.projection.branch.seqs)

    for row in host_branch(spine)[0]:
        assert seqs >= set(spine.seqs(row))


@every_file
def test_the_session_is_named_by_its_rows(name: str) -> None:
    header = transcript(name).projection.header

    assert header.session_id == EXPECTED[name]["session_id"]
    assert header.cwd == "/workspace/demo"


@every_sidechain
def test_a_subagents_file_is_a_session_of_its_own(chain: dict[str, Any]) -> None:
    made = transcript(chain["file"])
    header = made.projection.header
    branch, _ = host_branch(made.spine)
    spoken = [row for row in branch if made.spine.flags[row] & SPEAKER]

    assert len(made.spine.flags) == chain["chain_rows"]
    assert names(made)[spoken[-1]] == chain["leaf"]
    assert hosts_calls(made)[0] == without_outcome(chain["calls"])
    assert header.session_id == f"{header.parent}/{chain['agent_id']}"


@pytest.mark.parametrize(
    ("name", "calls"), [("compact-manual.jsonl", 3), ("compact-auto.jsonl", 4)]
)
def test_history_goes_on_behind_a_compaction(name: str, calls: int) -> None:
    made = transcript(name)
    branch = made.projection.branch

    assert branch.kinds.count(SlotKind.CALL) == calls
    assert branch.kinds.count(SlotKind.RESULT) == calls
    assert list(branch.seqs) == list(range(1, made.projection.last_seq + 1))
    assert list(made.projection.windows) == [1, made.spine.firsts[made.spine.boundary]]


@every_file
def test_a_persisted_output_is_named_with_its_recorded_path(name: str) -> None:
    projection = transcript(name).projection
    branch = projection.branch
    facts = [
        projection.facts(seq)
        for seq, kind in zip(branch.seqs, branch.kinds, strict=True)
        if kind == SlotKind.RESULT
    ]
    paths = [fact.full_output_path for fact in facts if fact.full_output_path is not None]

    assert all(fact.output_truncated == (fact.full_output_path is not None) for fact in facts)
    assert [Path(path).name for path in paths] == [
        Path(path).name for path in EXPECTED[name]["persisted"]
    ]
    assert all(projection.header.session_id in path for path in paths)


def test_a_forks_copies_have_the_same_ids_and_the_fork_names_its_origin() -> None:
    fork, origin = transcript("fork.jsonl"), transcript("resume.jsonl")
    ids = [
        {
            projection.facts(seq).entry_id
            for seq, kind in zip(projection.branch.seqs, projection.branch.kinds, strict=True)
            if kind != SlotKind.NOTHING
        }
        for projection in (fork.projection, origin.projection)
    ]

    assert ids[0] > ids[1]
    assert fork.projection.header.parent == origin.projection.header.session_id
    assert origin.projection.header.parent is None
