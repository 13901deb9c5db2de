from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec import structs
from pi_sessions import TIME, Writer, call, line, text

from hindnote.core.errors import Refused
from hindnote.core.history import lines as line_files
from hindnote.core.history.projection import SlotFacts, SlotKind
from hindnote.core.history.timeline import Timeline
from hindnote.core.history.times import instant
from hindnote.hosts.pi.sessions.catalogue import Catalogue, Places
from hindnote.hosts.pi.sessions.projection import PiProjection, Sessions

DATA = Path(__file__).parents[3] / "data/pi"
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


@pytest.mark.parametrize("chunk", [300, 5_000])
@pytest.mark.parametrize("name", EXPECTED)
def test_lines_read_a_few_at_a_time_make_the_same_session(
    name: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = session(name)
    monkeypatch.setattr(line_files, "_CHUNK", chunk)
    pieces = session(name)

    assert pieces.header == whole.header
    assert pieces.damaged == whole.damaged
    assert structs.replace(pieces.branch, lineage=None) == structs.replace(
        whole.branch, lineage=None
    )


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


# -- facts of recorded files ---------------------------------------------------


def documents(projection: PiProjection) -> list[str]:
    timeline = Timeline(projection)
    positions = range(timeline.size)
    return [timeline.event(at).document for at in positions if timeline.is_event(at)]


def results(projection: PiProjection) -> list[SlotFacts]:
    branch = projection.branch
    pairs = zip(branch.seqs, branch.kinds, strict=True)
    wanted = (SlotKind.RESULT, SlotKind.COMMAND)
    return [projection.facts(seq) for seq, kind in pairs if kind in wanted]


def test_a_cut_bash_output_names_its_file_also_when_only_the_text_does() -> None:
    told = [
        (fact.output_truncated, fact.full_output_path)
        for fact in results(session("truncated-bash"))
    ]

    folder = "/tmp/pi-output/pi-bash-"
    assert told == [
        (True, folder + "7e9b6ce16848663a.log"),
        (True, folder + "82f476ff994e5d69.log"),
        (True, folder + "2366d60f5eccdc6b.log"),
        (False, None),
        (True, folder + "5b4922006fe9eef5.log"),
    ]


def test_a_cut_output_of_a_script_is_named_although_only_its_path_is_recorded() -> None:
    told = {(fact.output_truncated, fact.full_output_path) for fact in results(session("codemode"))}

    assert told == {(False, None), (True, "/tmp/pi-output/pi-codemode-af9464209cd9d4b8.txt")}


def test_a_cut_read_is_named_without_a_path() -> None:
    told = [
        (fact.output_truncated, fact.full_output_path)
        for fact in results(session("truncated-read"))
    ]

    assert told == [(True, None), (False, None), (False, None), (True, None), (True, None)]


def test_thinking_is_left_out_and_images_are_named_in_place() -> None:
    misc, images = "\n".join(documents(session("misc"))), documents(session("images"))

    assert "I should read the file before I answer" not in misc
    assert "Block content\n[image image/png, 74 bytes]" in misc
    assert any(text.endswith("[image image/png, 74 bytes]") for text in images)


def test_a_persons_command_is_a_tool_event_with_its_outcome() -> None:
    commands = [fact for fact in results(session("misc")) if fact.arguments is not None]

    assert [(fact.tool, fact.failed) for fact in commands] == [
        ("bash", False),
        ("bash", True),
        ("bash", False),
        ("bash", True),
        ("bash", False),
    ]
    assert commands[0].arguments == '{"command":"echo \\"before the first prompt\\""}'
    assert commands[0].text == "before the first prompt\n"


def test_lone_surrogates_are_replaced_one_for_one_everywhere() -> None:
    text = "".join(documents(session("lone-surrogate")))

    text.encode()
    assert "\ufffd" in text


def test_a_torn_line_is_counted_with_its_place_and_costs_only_itself() -> None:
    projection = session("torn-line")
    data = (DATA / "torn-line.jsonl").read_bytes()

    (damage,) = projection.damaged
    line = data[damage.offset : damage.offset + damage.size]
    assert data[damage.offset - 1 : damage.offset] == b"\n"
    assert data[damage.offset + damage.size : damage.offset + damage.size + 1] == b"\n"
    assert line.startswith(b'{"type":"message","id":"9f668c54"')
    assert projection.branch.seqs.tolist() == list(range(1, projection.last_seq + 1))


def test_compactions_open_windows_and_are_context_events() -> None:
    projection = session("compaction")

    assert projection.windows == (1, 18, 29)
    assert projection.branch.kinds[17] == SlotKind.CONTEXT
    assert projection.facts(18).text.startswith("## Goal")


# -- trees ---------------------------------------------------------------------


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path / "s.jsonl")


def opened(
    writer: Writer, leaf: str | None = None, sessions: Sessions | None = None
) -> PiProjection:
    projection = (sessions or Sessions()).of_file(writer.path, leaf)
    assert projection is not None
    return projection


def texts(projection: PiProjection) -> list[str]:
    return [projection.facts(seq).text for seq in projection.branch.seqs]


def test_seqs_count_all_branches_in_append_order(writer: Writer) -> None:
    writer.user("a")
    answer = writer.answer(text("b"), call("c1"), call("c2"))
    writer.entry("label", targetId=answer, label="x")
    writer.user("left", parent=answer)
    writer.result("c1")
    writer.user("kept", parent=answer)

    projection = opened(writer)

    assert projection.last_seq == 7
    assert projection.branch.seqs.tolist() == [1, 2, 3, 4, 7]
    assert projection.branch.answers.tolist() == [0, 1, 1, 1, 0]
    assert projection.branch.call_ids == {2: "c1", 3: "c2"}


def test_a_given_leaf_decides_and_an_unknown_one_falls_back(writer: Writer) -> None:
    first = writer.user("a")
    writer.user("b")
    custom = writer.entry("custom", parent=first, customType="x", data={"n": 1})

    assert texts(opened(writer, first)) == ["a"]
    assert texts(opened(writer, custom)) == ["a"]
    assert texts(opened(writer, "nowhere")) == ["a"]
    assert texts(opened(writer)) == ["a"]


def test_an_unknown_leaf_is_named_as_long_as_the_session_lacks_it(writer: Writer) -> None:
    writer.user("a")
    sessions = Sessions()

    note = opened(writer, "e2", sessions).header.note
    plain = opened(writer, None, sessions).header.note
    writer.user("b")

    assert note is not None
    assert "“e2”" in note
    assert str(writer.path) in note
    assert plain is None
    assert opened(writer, "e2", sessions).header.note is None


def test_appending_and_branching_renumber_nothing(writer: Writer) -> None:
    sessions = Sessions()
    seen: dict[int, str | None] = {}
    for number in range(30):
        parent = f"e{number // 2}" if number % 5 == 4 else ""
        writer.user(f"u{number}", parent=parent)
        writer.answer(text(f"a{number}"), call(f"c{number}"))
        projection = opened(writer, sessions=sessions)
        fresh = opened(writer)
        assert texts(projection) == texts(fresh)
        assert projection.branch.seqs == fresh.branch.seqs
        assert projection.branch.kinds == fresh.branch.kinds
        assert projection.branch.answers == fresh.branch.answers
        assert projection.branch.call_ids == fresh.branch.call_ids
        assert projection.branch.tools == fresh.branch.tools
        assert projection.branch.closing == fresh.branch.closing
        assert projection.branch.times == fresh.branch.times
        for seq in projection.branch.seqs:
            entry = projection.facts(seq).entry_id
            assert seen.setdefault(seq, entry) == entry


def test_an_older_projection_stays_as_it_was_while_the_session_grows(writer: Writer) -> None:
    sessions = Sessions()
    writer.user("a")
    old = opened(writer, sessions=sessions)
    assert opened(writer, sessions=sessions) is old

    writer.answer(text("b"))
    new = opened(writer, sessions=sessions)

    assert (old.last_seq, texts(old)) == (1, ["a"])
    assert (new.last_seq, texts(new)) == (2, ["a", "b"])
    assert new.branch.lineage is old.branch.lineage


def test_an_older_state_pairs_as_it_was_when_the_session_grew_meanwhile(writer: Writer) -> None:
    sessions = Sessions()
    writer.answer(call("a"), call("b"), stop="toolUse")
    writer.result("a")
    old = opened(writer, sessions=sessions)
    writer.result("b")
    writer.answer(call("c"), stop="toolUse")
    new = opened(writer, sessions=sessions)

    def statuses(projection: PiProjection) -> list[str | None]:
        timeline = Timeline(projection)
        return [timeline.event(at).status for at in timeline.events(range(timeline.size))]

    assert statuses(old) == ["ok", "pending"]
    assert statuses(new) == ["ok", "ok", "pending"]


def test_two_branches_from_one_state_do_not_share_a_lineage(writer: Writer) -> None:
    sessions = Sessions()
    first = writer.user("a")
    opened(writer, sessions=sessions)
    one, two = writer.user("b", parent=first), writer.user("c", parent=first)

    left, right = opened(writer, one, sessions), opened(writer, two, sessions)

    assert (texts(left), texts(right)) == (["a", "b"], ["a", "c"])
    assert left.branch.lineage is not right.branch.lineage


def test_a_late_result_joins_its_call(writer: Writer) -> None:
    sessions = Sessions()
    writer.user("a")
    writer.answer(call("c1"), stop="toolUse")
    assert "status: pending" in documents(opened(writer, sessions=sessions))[-1]
    writer.entry("custom", customType="x")
    writer.result("c1", "late")

    assert "status: ok\noutput:\nlate" in documents(opened(writer, sessions=sessions))[-1]


def test_an_aborted_answers_calls_are_unanswered(writer: Writer) -> None:
    writer.user("a")
    writer.answer(call("c1"), stop="aborted")

    projection = opened(writer)

    assert projection.branch.aborted == {3}
    assert "status: unanswered" in documents(projection)[-1]


def test_a_parent_on_a_damaged_line_costs_one_entry(writer: Writer) -> None:
    writer.user("a")
    writer.raw(b'{"type":"message","id":"lost","cont{"type":"message","id":"b"}\n')
    writer.user("c", parent="lost")
    writer.user("d")

    projection = opened(writer)

    assert texts(projection) == ["a", "c", "d"]
    assert len(projection.damaged) == 1


def test_cycles_and_entries_that_name_a_later_one_end_in_a_sound_branch(writer: Writer) -> None:
    writer.user("a", parent="e2")
    writer.user("b", parent="e1")
    writer.user("c", parent="e3")
    writer.user("d", parent="e2")

    assert texts(opened(writer)) == ["a", "b", "d"]
    assert texts(opened(writer, "e3")) == ["a", "b", "c"]


def test_rows_repeated_word_for_word_appear_once_on_the_branch(writer: Writer) -> None:
    for number in range(1, 11):
        writer.user(f"row {number}")
    tail = b"".join(writer.path.read_bytes().splitlines(keepends=True)[8:])
    writer.raw(tail)
    writer.entry("compaction", summary="sum", firstKeptEntryId="e9", tokensBefore=1)
    writer.user("row 11")
    writer.user("row 12")

    projection = opened(writer)

    assert texts(projection) == [f"row {n}" for n in range(1, 11)] + ["sum", "row 11", "row 12"]
    assert projection.windows == (1, 14)


def test_many_branch_points_are_found_in_linear_time(writer: Writer) -> None:
    ids = [writer.user("root")]
    rows = []
    for number in range(3000):
        row = {"type": "message", "id": f"n{number}", "parentId": ids[0], "timestamp": TIME}
        rows.append(line({**row, "message": {"role": "user", "content": f"u{number}"}}))
    writer.raw(b"".join(rows))

    assert texts(opened(writer)) == ["root", "u2999"]
    assert texts(opened(writer, "n17")) == ["root", "u17"]


def test_version_1_is_linear_by_position(tmp_path: Path) -> None:
    path = tmp_path / "v1.jsonl"
    rows: list[dict[str, Any]] = [
        {"type": "session", "id": "old", "timestamp": TIME, "cwd": "/w"},
        {"type": "message", "timestamp": TIME, "message": {"role": "user", "content": "a"}},
        {"type": "message", "timestamp": TIME, "message": {"role": "hookMessage", "content": "h"}},
        {"type": "compaction", "timestamp": TIME, "summary": "s", "firstKeptEntryIndex": 1},
        {"type": "message", "timestamp": TIME, "message": {"role": "user", "content": "b"}},
    ]
    path.write_bytes(b"".join(map(line, rows)))

    projection = Sessions().of_file(path)

    assert projection is not None
    assert texts(projection) == ["a", "h", "s", "b"]
    assert (projection.header.session_id, projection.header.note) == ("old", None)


@pytest.mark.parametrize("version", [0, 4, 17, "x"])
def test_an_unknown_version_is_read_as_well_as_it_goes_and_said(
    tmp_path: Path, version: Any
) -> None:
    writer = Writer(tmp_path / "s.jsonl", version=version)
    writer.user("a")

    projection = opened(writer)

    assert texts(projection) == ["a"]
    assert projection.header.note is not None


# -- strange lines -------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 1100 + b"]" * 1100,
        b"9" * 5000,
        b"NaN",
        b"-Infinity",
        b"1e999",
    ],
)
def test_what_json_cannot_carry_damages_its_line_only(writer: Writer, data: bytes) -> None:
    writer.user("a")
    call = b'{"type":"toolCall","id":"c1","name":"t","arguments":{"x":' + data + b"}}"
    writer.raw(
        b'{"type":"message","id":"bad","parentId":"e1","message":{"role":"assistant",'
        b'"content":[' + call + b"]}}\n"
    )
    writer.raw(b'{"type":"custom","id":"bad2","parentId":"e1","data":' + data + b"}\n")
    writer.raw(data + b"\n")
    writer.user("b", parent="bad")

    projection = opened(writer)

    assert len(projection.damaged) == 3
    assert texts(projection) == ["a", "b"]


def test_shapes_that_pi_never_writes_are_read_or_skipped_without_complaint(writer: Writer) -> None:
    writer.user("first")
    odd: list[Any] = [
        {"type": "message", "id": "x1", "parentId": "e1"},
        {"type": "message", "id": "x2", "parentId": "x1", "message": 5},
        {"type": "message", "id": "x3", "parentId": "x2", "message": {"role": "robot"}},
        {"type": "message", "id": "x4", "parentId": "x3", "message": {"role": ["user"]}},
        {"type": "future", "id": "x5", "parentId": "x4", "payload": {}},
        {"type": 7, "id": "x6"},
        {"id": "x7"},
        {"type": "message", "id": 8, "parentId": 9, "message": {"role": "user", "content": 5}},
        {
            "type": "message",
            "id": "x9",
            "parentId": 9,
            "message": {
                "role": "user",
                "content": [
                    5,
                    "s",
                    {"type": "text", "text": 4},
                    {"type": "text", "text": "seen"},
                    {"type": "image"},
                ],
            },
        },
        {
            "type": "message",
            "id": "y1",
            "parentId": "x9",
            "message": {"role": "assistant", "content": "plain"},
        },
        {
            "type": "message",
            "id": "y2",
            "parentId": "y1",
            "message": {
                "role": "assistant",
                "content": [
                    None,
                    {"type": "toolCall"},
                    {"type": "toolCall", "id": 5, "name": 6, "arguments": "text"},
                ],
                "usage": 3,
            },
        },
        {
            "type": "message",
            "id": "y3",
            "parentId": "y2",
            "message": {
                "role": "toolResult",
                "content": None,
                "isError": "no",
                "details": [1],
                "nestedCalls": {"calls": 4},
            },
        },
        {"type": "message", "id": "y4", "parentId": "y3", "message": {"role": "bashExecution"}},
        {
            "type": "message",
            "id": "y5",
            "parentId": "y4",
            "extra": 1,
            "message": {"role": "user", "content": "last", "more": {"a": [1]}},
        },
    ]
    for row in odd:
        writer.raw(line(row))

    projection = opened(writer)
    facts = [projection.facts(seq) for seq in projection.branch.seqs]

    assert projection.damaged == ()
    assert [fact.text for fact in facts] == [
        "first",
        "",
        "seen\n[image]",
        "plain",
        "",
        "",
        "",
        "",
        "",
        "last",
    ]
    assert [fact.arguments for fact in facts if fact.arguments] == ['"text"']
    assert facts[7].failed is None
    assert facts[8].failed is None
    assert documents(projection)[-1] == "last"


def test_line_separators_inside_strings_do_not_end_a_line(writer: Writer) -> None:
    said = "a\u2028b\u2029c\u0085d\x0ce\x1cf\ufeffg"
    writer.user(said)

    assert texts(opened(writer)) == [said]


def test_a_line_of_many_megabytes_is_named_by_its_size_and_hides_nothing(writer: Writer) -> None:
    data = "A" * (16 << 20)
    writer.user([text("look"), {"type": "image", "data": data + "==", "mimeType": "image/png"}])
    for number in range(10):
        writer.user(f"u{number}")

    found = texts(opened(writer))

    assert found[0] == "look\n[image image/png, 12,582,912 bytes]"
    assert found[1:] == [f"u{number}" for number in range(10)]


def test_arguments_keep_their_order_and_numbers(writer: Writer) -> None:
    writer.raw(
        b'{"type":"message","id":"e1","parentId":null,"timestamp":"x","message":{"role":"assistant"'
        b',"content":[{"type":"toolCall","id":"c","name":"t","arguments":'
        b'{ "z": 1.0, "a": [1e+21, 1e-7], "\\u00fc": "\\ud83d x" }}]}}\n'
    )

    projection = opened(writer)

    assert projection.facts(2).arguments == '{"z":1.0,"a":[1e+21,1e-7],"ü":"\ufffd x"}'
    assert projection.facts(2).created_at is None


@pytest.mark.parametrize(
    ("stamp", "inner", "told"),
    [
        ("2026-11-30T09:57:58Z", None, "2026-11-30T09:57:58Z"),
        ("2026-11-30T11:57:58.000+02:00", None, "2026-11-30T11:57:58.000+02:00"),
        (1796032678333, None, "2026-11-30T09:57:58.333Z"),
        (None, 1796032678333, "2026-11-30T09:57:58.333Z"),
        ("yesterday", None, None),
        (True, None, None),
        (1e300, None, None),
        (None, None, None),
    ],
)
def test_times_are_told_as_recorded(
    writer: Writer, stamp: Any, inner: Any, told: str | None
) -> None:
    message = {"role": "user", "content": "a", "timestamp": inner}
    writer.entry("message", timestamp=stamp, message=message)

    projection = opened(writer)

    assert projection.facts(1).created_at == told
    assert projection.branch.times[0] == pytest.approx(instant(told), nan_ok=True)


# -- files ---------------------------------------------------------------------


def test_an_empty_file_is_an_empty_session(tmp_path: Path) -> None:
    path = tmp_path / "2026-11-30T09-57-58-333Z_new.jsonl"
    path.touch()

    projection = Sessions().of_file(path)

    assert projection is not None
    assert (projection.last_seq, projection.windows) == (0, (1,))
    assert projection.header.session_id == "new"


def test_a_missing_file_is_no_session_yet(tmp_path: Path) -> None:
    assert Sessions().of_file(tmp_path / "none.jsonl") is None


@pytest.mark.parametrize(
    "data",
    [
        b"hello\nworld\n",
        b'{"type":"user","uuid":"x","message":{"role":"user"}}\n',
        bytes(range(256)) * 50,
        b"x\n" * 5000,
        b"[]\n",
        b'{"a":1}\n',
    ],
)
def test_a_file_that_is_no_session_is_refused_with_its_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(data)

    with pytest.raises(Refused, match=r"unreadable_session: .*other\.jsonl"):
        Sessions().of_file(path)


def test_a_session_with_a_damaged_header_is_read_and_that_is_said(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "2026-11-30T09-57-58-333Z_mine.jsonl")
    writer.path.write_bytes(b'{"type":"sess\n')
    writer.user("a")

    projection = opened(writer)

    assert texts(projection) == ["a"]
    assert projection.header.session_id == "mine"
    assert projection.header.note is not None
    assert len(projection.damaged) == 1


def test_a_last_line_without_newline_counts_and_a_half_one_waits(writer: Writer) -> None:
    sessions = Sessions()
    whole = line(
        {
            "type": "message",
            "id": "x",
            "parentId": None,
            "message": {"role": "user", "content": "whole"},
        }
    )
    writer.raw(whole[:-1])
    assert texts(opened(writer, sessions=sessions)) == ["whole"]

    writer.raw(b"\n" + whole[:30])
    assert texts(opened(writer, sessions=sessions)) == ["whole"]
    assert opened(writer, sessions=sessions).damaged == ()

    writer.raw(whole[30:])
    assert opened(writer, sessions=sessions).last_seq == 2


def test_a_rewritten_file_is_decoded_afresh(writer: Writer) -> None:
    sessions = Sessions()
    writer.user("a" * 500)
    old = opened(writer, sessions=sessions)
    new = Writer(writer.path)
    new.user("b")

    assert texts(opened(new, sessions=sessions)) == ["b"]
    with pytest.raises(Refused, match="rewritten"):
        old.facts(1)


def test_a_file_replaced_by_another_leaves_the_old_projection_readable(writer: Writer) -> None:
    sessions = Sessions()
    writer.user("old")
    old = opened(writer, sessions=sessions)
    other = Writer(writer.path.with_suffix(".new"))
    other.user("new")
    other.path.rename(writer.path)

    assert texts(opened(writer, sessions=sessions)) == ["new"]
    assert texts(old) == ["old"]


@dataclass
class Live:
    lines: list[bytes]
    generation: int = 1


def test_live_entries_are_extended_and_start_over_with_their_generation() -> None:
    sessions = Sessions()
    rows = [
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "message": {"role": "user", "content": "a"},
        }
    ]
    live = Live([line(row) for row in rows])
    first = sessions.of_live(live, "live-1")
    assert (texts(first), first.header.session_id) == (["a"], "live-1")

    live.lines.append(line({**rows[0], "id": "b", "parentId": "a"}))
    assert len(sessions.of_live(live, "live-1").branch.seqs) == 2
    assert len(sessions.of_live(live, "live-1", "a").branch.seqs) == 1

    live.lines, live.generation = [line({**rows[0], "id": "z"})], 2
    assert sessions.of_live(live, "live-1").facts(1).entry_id == "z"
    assert first.facts(1).entry_id == "a"


def test_live_entries_may_be_none_at_all() -> None:
    projection = Sessions().of_live(Live([]), "live-2")

    assert (projection.last_seq, projection.header.session_id) == (0, "live-2")
    assert projection.header.note is None


def test_parallel_readers_of_a_growing_file_see_whole_states(writer: Writer) -> None:
    sessions = Sessions()
    writer.user("u0")
    problems: list[str] = []

    def read() -> None:
        for _ in range(60):
            found = texts(opened(writer, sessions=sessions))
            if found != [f"u{n}" for n in range(len(found))]:
                problems.append(str(found))

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 200):
        writer.user(f"u{number}")
    for thread in threads:
        thread.join()

    assert problems == []
    assert len(texts(opened(writer, sessions=sessions))) == 200


def test_bytes_that_are_no_utf8_cost_themselves_alone(writer: Writer) -> None:
    writer.raw(
        b'{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":'
        b'[{"type":"text","text":"caf\xe9"},{"type":"toolCall","id":"c","name":"b\xe9","arguments":{}}]}}\n'
    )

    projection = opened(writer)

    assert projection.facts(1).text == "caf\ufffd"
    assert projection.facts(2).tool == "b\ufffd"
    assert projection.facts(2).arguments == "{}"


def test_a_session_rewritten_after_it_was_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    writer = Writer(file)
    writer.user("one")
    projection = Sessions().of_file(file)
    assert projection is not None
    whole = file.read_bytes()

    for other in (whole[:-20] + b"x" * 19 + b"\n", whole.replace(b"one", b"two") + b"\n"):
        file.write_bytes(other)
        with pytest.raises(Refused) as refused:
            projection.facts(1)
        assert refused.value.code == "unreadable_session"
        assert "rewritten" in str(refused.value)


def test_a_header_without_an_id_leaves_the_name_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "2026-11-30T09-00-00-000Z_named.jsonl"
    writer = Writer(file, id="")
    writer.user("one")
    projection = Sessions().of_file(file)
    assert projection is not None

    assert projection.header.session_id == "named"
    entries = Catalogue().sessions(Places((tmp_path,), ()))
    assert [entry.id for entry in entries] == ["named"]


@pytest.mark.parametrize("odd", [[], {}, ["text"], 7, None])
def test_a_block_whose_type_is_no_text_keeps_its_text(tmp_path: Path, odd: object) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.user([{"type": odd, "text": "asked"}, {"type": odd}])
    session = Sessions().of_file(writer.path)

    assert session is not None
    assert session.facts(1).text == "asked"


def test_an_unknown_block_is_named_in_its_place(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    block = {"type": "future_block", "blob": "x"}
    writer.user([text("asked"), block])
    writer.answer(block, call("c"))
    writer.result("c", content=[block, {"type": "noted", "text": "words"}])
    session = Sessions().of_file(writer.path)
    assert session is not None
    timeline = Timeline(session)

    documents = [timeline.event(at).document for at in timeline.events(range(timeline.size))]

    assert documents[:2] == ["asked\n[future_block]", "[future_block]"]
    assert documents[2].endswith("output:\n[future_block]\nwords")


@pytest.mark.parametrize(
    ("complete", "told"), [(True, True), (False, False), ("yes", False), (1, False), (None, False)]
)
def test_nested_calls_stay_visible_whatever_says_that_they_are_complete(
    tmp_path: Path, complete: Any, told: bool
) -> None:
    writer = Writer(tmp_path / "s.jsonl")
    writer.answer(call("c"))
    nested = {"calls": [{"name": "read"}], "complete": complete}
    writer.result("c", nestedCalls=nested)
    session = Sessions().of_file(writer.path)
    assert session is not None

    [found] = [
        facts.nested
        for seq in range(1, session.last_seq + 1)
        if (facts := session.facts(seq)).nested
    ]
    assert (found.names, found.complete) == (("read",), told)
