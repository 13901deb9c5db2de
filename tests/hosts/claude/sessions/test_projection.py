"""Slots, facts and states of transcripts, also of damaged ones and such that never were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_rows import SESSION, Row, Writer, turn, two_calls, uuid_of
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from hindnote.core.errors import Refused
from hindnote.core.history.lines import LineFile
from hindnote.core.history.projection import SlotFacts, SlotKind
from hindnote.core.history.timeline import Timeline
from hindnote.core.history.times import instant
from hindnote.hosts.claude.sessions.branch import host_branch
from hindnote.hosts.claude.sessions.projection import ClaudeProjection, Transcript, open_transcript

PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJDRA=="}}


def opened(file: Path) -> ClaudeProjection:
    projection = open_transcript(file)
    assert projection is not None
    return projection


def events(projection: ClaudeProjection) -> list[tuple[int, str, str]]:
    """Return seq, role and document of every event."""
    timeline = Timeline(projection)
    return [
        (timeline.seq(at), timeline.role(at), timeline.event(at).document)
        for at in range(timeline.size)
        if timeline.is_event(at)
    ]


def only_event(writer: Writer, folder: Path) -> tuple[str, str]:
    """Return role and document of the one event behind the turn of ``turn``."""
    found = events(writer.transcript(folder).projection)[2:]
    assert len(found) == 1
    return found[0][1:]


def slot(writer: Writer, folder: Path, kind: SlotKind) -> SlotFacts:
    """Return the facts of the last slot of a kind."""
    projection = writer.transcript(folder).projection
    return projection.facts(projection.branch.seqs[projection.branch.kinds.rfind(kind)])


# -- seqs ----------------------------------------------------------------------


def test_each_block_takes_a_seq_and_a_response_speaks_once(tmp_path: Path) -> None:
    writer = Writer()
    writer.user("p", content=[{"type": "text", "text": "look"}, PNG])
    writer.answer("thought", "p", "m", {"type": "thinking", "thinking": "hm"})
    writer.text("first", "thought", "m")
    writer.call("c", "first", "m")
    writer.text("second", "c", "m")
    writer.result("r", "c")
    projection = writer.transcript(tmp_path).projection

    assert projection.last_seq == 7
    found = events(projection)
    assert [(seq, role) for seq, role, _ in found] == [(1, "user"), (4, "assistant"), (5, "tool")]
    assert found[0][2] == "look\n[image image/png, 4 bytes]"
    assert found[1][2] == "first\nsecond"
    assert list(projection.branch.answers) == [0, 0, 0, 1, 1, 0, 0]


def test_blocks_of_one_row_are_slots_of_their_own(tmp_path: Path) -> None:
    writer = turn()
    call: Row = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}
    blocks = [{"type": "text", "text": "one"}, call, {**call, "id": "c2"}]
    writer.answer("b", "a", "m2", *blocks)
    results = [
        {"type": "tool_result", "tool_use_id": name, "content": name} for name in ("c2", "c1")
    ]
    said = {"type": "text", "text": "and then"}
    writer.user("r", "b", content=[*results, said])
    found = events(writer.transcript(tmp_path).projection)

    assert [(seq, role) for seq, role, _ in found[2:]] == [
        (3, "assistant"),
        (4, "tool"),
        (5, "tool"),
        (8, "user"),
    ]
    assert found[3][2].endswith("output:\nc1")


def test_an_answer_without_text_names_its_first_call(tmp_path: Path) -> None:
    writer = turn()
    writer.answer("thought", "a", "m2", {"type": "thinking", "thinking": "hm"})
    writer.call("c", "thought", "m2")
    timeline = Timeline(writer.transcript(tmp_path).projection)

    with pytest.raises(Refused, match="read its first call, seq 4"):
        timeline.locate(3)


def test_rows_that_are_no_conversation_take_no_seq(tmp_path: Path) -> None:
    writer = turn()
    writer.rows.append({"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION})
    writer.rows.append({"type": "something-new", "uuid": "x", "sessionId": SESSION})
    writer.user("q", "a")

    assert writer.transcript(tmp_path).projection.last_seq == 3


# -- roles ---------------------------------------------------------------------


def test_a_queued_prompt_is_the_users(tmp_path: Path) -> None:
    writer = turn()
    queued = {"type": "queued_command", "prompt": "also this", "commandMode": "prompt"}
    writer.add("attachment", "n", "a", attachment=queued, rendered=[{"content": "wrapped"}])

    assert only_event(writer, tmp_path) == ("user", "also this")


def queued(writer: Writer, words: str, **fields: Any) -> None:
    """Add what the queue says of a prompt that joined a running turn."""
    row = {"type": "queue-operation", "operation": "remove", "sessionId": SESSION}
    writer.rows.append({**row, "content": words, "timestamp": "2026-11-30T09:00:00Z", **fields})


def test_a_prompt_that_the_queue_alone_records_is_the_users(tmp_path: Path) -> None:
    writer = turn()
    queued(writer, "steer to the left")
    writer.text("b", "a", "m2")

    found = events(writer.transcript(tmp_path).projection)
    assert [event[1:] for event in found[2:]] == [("user", "steer to the left"), ("assistant", "b")]


def test_a_prompt_that_another_row_records_as_well_is_one_event(tmp_path: Path) -> None:
    writer = turn()
    queued(writer, "also this")
    file = writer.write(tmp_path / "s.jsonl")
    alone = events(opened(file))
    attachment = {"type": "queued_command", "prompt": "also this", "commandMode": "prompt"}
    writer.add("attachment", "n", "a", attachment=attachment, rendered=[{"content": "wrapped"}])
    both = events(opened(writer.write(file)))

    assert [event[1:] for event in alone[2:]] == [("user", "also this")]
    assert [event[1:] for event in both[2:]] == [("user", "also this")]
    assert both[2][0] == alone[2][0] + 1


@pytest.mark.parametrize(
    "fields", [{"reason": "absorbed_mid_turn"}, {"operation": "enqueue"}, {"content": ""}]
)
def test_what_else_the_queue_records_takes_no_seq(tmp_path: Path, fields: Row) -> None:
    writer = turn()
    before = writer.transcript(tmp_path).projection.last_seq
    queued(writer, "steer", **fields)

    assert writer.transcript(tmp_path).projection.last_seq == before


@pytest.mark.parametrize(
    "content",
    [
        "<task-notification>\ndone</task-notification>",
        "<command-name>/compact</command-name>",
        "<local-command-stdout>ok</local-command-stdout>",
        "[Request interrupted by user for tool use]",
        [{"type": "text", "text": "[Request interrupted by user]"}],
    ],
)
def test_what_the_program_says_for_the_user_is_context(tmp_path: Path, content: Any) -> None:
    writer = turn()
    writer.user("n", "a", content=content)
    text = content if isinstance(content, str) else content[0]["text"]

    assert only_event(writer, tmp_path) == ("context", text)


def test_a_tasks_report_is_context_by_its_origin(tmp_path: Path) -> None:
    writer = turn()
    writer.user("n", "a", content="finished", origin={"kind": "task-notification"})

    assert only_event(writer, tmp_path) == ("context", "finished")


def test_a_further_prompt_to_a_subagent_is_what_was_asked_of_it(tmp_path: Path) -> None:
    writer = turn()
    writer.user("go on", "a", isMeta=True, origin={"kind": "coordinator"})

    assert only_event(writer, tmp_path) == ("user", "go on")


def test_a_summary_is_context(tmp_path: Path) -> None:
    writer = turn()
    writer.compact("B", "a")

    assert only_event(writer, tmp_path) == ("context", "B-summary")


@pytest.mark.parametrize("kind", ["hook_success", "hook_additional_context", "file"])
def test_what_the_model_read_of_hooks_and_files_is_context(tmp_path: Path, kind: str) -> None:
    writer = turn()
    shown = [{"content": "one"}, {"content": [{"type": "text", "text": "two"}]}]
    writer.add("attachment", "n", "a", attachment={"type": kind}, rendered=shown)
    writer.add("attachment", "unread", "n", attachment={"type": kind}, rendered=None)

    assert only_event(writer, tmp_path) == ("context", "one\ntwo")


@pytest.mark.parametrize("kind", ["environment", "skill_listing", "context_sections", "date"])
def test_what_the_harness_tells_the_model_is_no_event(tmp_path: Path, kind: str) -> None:
    writer = turn()
    shown = [{"content": "harness"}]
    writer.add("attachment", "n", "a", attachment={"type": kind}, rendered=shown)
    writer.meta("m", "n")
    writer.system("s", "m")

    assert len(events(writer.transcript(tmp_path).projection)) == 2


def test_api_errors_are_context(tmp_path: Path) -> None:
    writer = turn()
    error = {"message": "529 {…}", "formatted": "529 Overloaded"}
    writer.add("system", "e", "a", subtype="api_error", error=error)
    block = {"type": "text", "text": "API Error: 400"}
    writer.answer("f", "e", "m2", block, model="<synthetic>")
    writer.rows[-1]["isApiErrorMessage"] = True
    found = events(writer.transcript(tmp_path).projection)[2:]

    assert [event[1:] for event in found] == [
        ("context", "529 Overloaded"),
        ("context", "API Error: 400"),
    ]


def test_what_the_program_answers_for_the_model_is_no_event(tmp_path: Path) -> None:
    writer = turn()
    block = {"type": "text", "text": "No response requested."}
    writer.answer("n", "a", "m2", block, model="<synthetic>")

    assert len(events(writer.transcript(tmp_path).projection)) == 2


# -- tools ---------------------------------------------------------------------


def status(writer: Writer, folder: Path, call_id: str) -> str | None:
    timeline = Timeline(writer.transcript(folder).projection)
    for position, found in timeline.branch.call_ids.items():
        if found == call_id and timeline.branch.kinds[position] == SlotKind.CALL:
            return timeline.event(position).status
    return None


def test_a_call_is_pending_until_the_conversation_goes_on(tmp_path: Path) -> None:
    writer = two_calls(turn())
    writer.result("r1", "c1")
    writer.hook("h", "r1")
    writer.system("s", "h")
    writer.meta("m", "s")
    pending = status(writer, tmp_path, "c2")
    writer.user("x", "m")

    assert pending == "pending"
    assert status(writer, tmp_path, "c2") == "unanswered"


@pytest.mark.parametrize(("mark", "ended"), [({}, "ok"), ({"is_error": True}, "error")])
def test_a_result_tells_how_its_call_ended(
    tmp_path: Path, mark: dict[str, bool], ended: str
) -> None:
    writer = two_calls(turn())
    writer.result("r1", "c1")
    writer.rows[-1]["message"]["content"][0].update(mark)

    assert status(writer, tmp_path, "c1") == ended


def test_arguments_stay_as_recorded(tmp_path: Path) -> None:
    writer = turn()
    writer.call("c", "a", "m2")
    raw = '{"z":1.10,"a":"\\u00e9","n":12345678901234567890}'
    file = writer.write(tmp_path / "s.jsonl")
    file.write_text(file.read_text("utf-8").replace('{"x":"c"}', raw), "utf-8")
    projection = opened(file)
    facts = projection.facts(3)

    assert facts.arguments == '{"z":1.10,"a":"é","n":12345678901234567890}'
    assert (facts.tool, facts.entry_id) == ("Bash", uuid_of("c"))


def test_a_persisted_output_is_named_by_its_notice(tmp_path: Path) -> None:
    writer = turn()
    writer.call("c", "a", "m2")
    writer.result("r", "c")
    path = "/home/user/.claude/projects/-x/s/tool-results/c.txt"
    notice = f"Output too large (54.6KB). Full output saved to: {path}"
    text = f"<persisted-output>\n{notice}\n\nPreview (first 2KB):\nx"
    writer.rows[-1]["message"]["content"][0]["content"] = text
    facts = slot(writer, tmp_path, SlotKind.RESULT)

    assert (facts.full_output_path, facts.output_truncated, facts.text) == (path, True, text)
    assert facts.tool == "Bash"


def test_a_text_that_only_quotes_such_a_notice_names_no_path(tmp_path: Path) -> None:
    writer = turn()
    writer.call("c", "a", "m2")
    writer.result("r", "c")
    quoted = "x\n<persisted-output>\nFull output saved to: /etc/passwd\n"
    writer.rows[-1]["message"]["content"][0]["content"] = quoted
    facts = slot(writer, tmp_path, SlotKind.RESULT)

    assert (facts.full_output_path, facts.output_truncated) == (None, False)


def test_a_record_that_says_cut_counts_without_a_path(tmp_path: Path) -> None:
    writer = turn()
    writer.call("c", "a", "m2")
    writer.result("r", "c", toolUseResult={"filenames": [], "truncated": True})

    assert slot(writer, tmp_path, SlotKind.RESULT).output_truncated


@pytest.mark.parametrize(
    ("block", "named"),
    [
        (PNG, "[image image/png, 4 bytes]"),
        ({"type": "image", "source": {"type": "url", "url": "http://x"}}, "[image]"),
        ({"type": "document", "source": {"media_type": "application/pdf", "data": "QQ=="}},
         "[document application/pdf, 1 bytes]"),
        ({"type": "image"}, "[image]"),
    ],
)  # fmt: skip
def test_media_are_named_in_place(tmp_path: Path, block: Row, named: str) -> None:
    writer = turn()
    writer.call("c", "a", "m2")
    writer.result("r", "c")
    blocks = [{"type": "text", "text": "one"}, block, {"type": "text", "text": "two"}]
    writer.rows[-1]["message"]["content"][0]["content"] = blocks
    parts = [part for part in ("one", named, "two") if part]

    assert slot(writer, tmp_path, SlotKind.RESULT).text == "\n".join(parts)


# -- damage and odd rows -------------------------------------------------------


def lines(writer: Writer) -> list[str]:
    return [json.dumps(row) for row in writer.rows]


def test_a_damaged_line_costs_itself_and_not_the_branch_behind_it(tmp_path: Path) -> None:
    writer = turn()
    writer.user("q", "a")
    written = lines(writer)
    broken = [
        written[0],
        written[1][:40] + written[2],
        "[1, 2]",
        '{"n": NaN}',
        "[" * 1100,
        written[2],
    ]
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(broken) + "\n", "utf-8")
    projection = opened(file)

    assert [event[2] for event in events(projection)] == ["p", "q"]
    assert [damage.offset for damage in projection.damaged] == [
        sum(len(line) + 1 for line in broken[:at]) for at in (1, 2, 3, 4)
    ]


def test_lone_surrogates_are_replaced_one_for_one(tmp_path: Path) -> None:
    writer = turn()
    writer.user("q", "a", content="x\udc88y")
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(lines(writer)) + "\n", "utf-8")

    assert events(opened(file))[-1] == (3, "user", "x\ufffdy")


def test_line_separators_within_texts_end_no_line(tmp_path: Path) -> None:
    writer = turn()
    text = "a\u2028b\u2029c\x85d\x0ce"
    writer.user("q", "a", content=text)
    file = tmp_path / "s.jsonl"
    written = "\n".join(json.dumps(row, ensure_ascii=False) for row in writer.rows)
    file.write_bytes(written.replace("\\f", "\x0c").encode() + b"\n")

    # A raw form feed is no JSON; what JSON allows raw is kept.
    assert len(opened(file).damaged) == 1
    file.write_bytes(written.encode() + b"\n")
    assert events(opened(file))[-1][2] == text


def test_a_half_written_last_line_is_no_damage_and_is_read_when_complete(tmp_path: Path) -> None:
    writer = turn()
    writer.user("q", "a")
    written = "\n".join(lines(writer))
    file = tmp_path / "s.jsonl"
    file.write_text(written[:-20], "utf-8")
    before = opened(file)
    file.write_text(written, "utf-8")
    after = opened(file)

    assert ([event[2] for event in events(before)], list(before.damaged)) == (["p", "a"], [])
    assert [event[2] for event in events(after)] == ["p", "a", "q"]


def test_an_empty_file_is_an_empty_session(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.touch()

    assert opened(file).last_seq == 0
    assert open_transcript(tmp_path / "gone.jsonl") is None


@pytest.mark.parametrize("content", ['{"type":"session","id":"x"}\n', "hello\n" * 200, "[]\n"])
def test_another_programs_file_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(content, "utf-8")

    with pytest.raises(Refused) as caught:
        open_transcript(file)
    assert caught.value.code == "unreadable_session"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        open_transcript(tmp_path)
    assert caught.value.code == "unreadable_session"


@pytest.mark.parametrize(
    "odd",
    [
        {"timestamp": "not a time"},
        {"timestamp": 1_796_032_678_333},
        {"timestamp": "2026-11-30T09:00:00"},
        {"isMeta": "no"},
        {"origin": "human"},
        {"content": [7, None, {"type": 5}, {"type": "text", "text": "q"}]},
        {"attachment": 3, "cwd": 1, "sessionId": None},
    ],
)  # fmt: skip
def test_a_field_of_a_foreign_type_costs_no_row_its_place(tmp_path: Path, odd: Row) -> None:
    writer = turn()
    writer.user("q", "a", **odd)
    writer.text("b", "q", "m2")
    projection = writer.transcript(tmp_path).projection

    assert not projection.damaged
    assert [event[2] for event in events(projection)] == ["p", "a", "q", "b"]


@pytest.mark.parametrize("timestamp", [1_796_032_678_333, 1_796_032_678, 1e300, -1e300, "no time"])
def test_a_slots_time_is_what_its_facts_record(tmp_path: Path, timestamp: object) -> None:
    writer = turn()
    writer.user("q", "a", timestamp=timestamp)
    projection = writer.transcript(tmp_path).projection
    last = projection.branch.seqs[-1]

    told = instant(projection.facts(last).created_at)

    assert projection.branch.times[-1] == pytest.approx(told, nan_ok=True)


def test_the_title_that_the_person_gave_is_the_name(tmp_path: Path) -> None:
    writer = turn()
    writer.rows.insert(0, {"type": "summary", "summary": "made up"})
    summed = writer.transcript(tmp_path).projection.header.name
    writer.rows.append({"type": "custom-title", "customTitle": "mine", "sessionId": SESSION})

    assert summed == "made up"
    assert writer.transcript(tmp_path).projection.header.name == "mine"


# -- growth --------------------------------------------------------------------


def test_a_state_stays_what_it_was_while_the_file_grows(tmp_path: Path) -> None:
    writer = two_calls(turn())
    file = writer.write(tmp_path / "s.jsonl")
    before = opened(file)
    old = (list(before.branch.seqs), bytes(before.branch.kinds), events(before))
    again = opened(file)
    writer.result("r1", "c1")
    writer.write(file)
    after = opened(file)

    assert again.branch is before.branch
    assert (list(before.branch.seqs), bytes(before.branch.kinds), events(before)) == old
    assert after.branch.lineage is before.branch.lineage
    assert list(after.branch.seqs) == [*before.branch.seqs, 6]


def test_a_text_that_grew_begins_a_new_lineage(tmp_path: Path) -> None:
    writer = turn()
    file = writer.write(tmp_path / "s.jsonl")
    before = opened(file)
    writer.text("more", "a", "m1")
    writer.write(file)
    after = opened(file)

    assert after.branch.lineage is not before.branch.lineage
    assert (events(before)[-1][2], events(after)[-1][2]) == ("a", "a\nmore")


NAMES = [f"n{number}" for number in range(14)]
PARENTS = st.one_of(st.none(), st.sampled_from(NAMES), st.just("gone"))


@st.composite
def transcripts(draw: st.DrawFn) -> Writer:
    """Return a transcript with trees, cycles, repeats, checkpoints, calls and compactions."""
    writer = Writer()
    last: str | None = None
    for _ in range(draw(st.integers(1, 24))):
        kind = draw(st.sampled_from("puttcccrrrhhsmkxBd"))
        name = draw(st.sampled_from(NAMES))
        under = draw(PARENTS) if draw(st.integers(0, 3)) == 0 else last
        response = draw(st.sampled_from(["m1", "m2", "m3", name]))
        call_id = draw(st.sampled_from(["c1", "c2", "c3"]))
        if kind in "pu":
            writer.user(name, under)
        elif kind == "t":
            writer.text(name, under, response)
        elif kind == "c":
            writer.call(name, under, response, call_id)
        elif kind == "r":
            source = draw(st.one_of(st.none(), st.sampled_from(NAMES)))
            named = {"sourceToolAssistantUUID": source and uuid_of(source)}
            writer.result(name, under or "gone", call_id, **named)
        elif kind == "h":
            writer.hook(name, under)
        elif kind == "s":
            writer.system(name, under)
        elif kind == "m":
            writer.meta(name, under or "gone")
        elif kind in "kx":
            writer.checkpoint(draw(PARENTS), explicit=draw(st.sampled_from([None, True])))
        elif kind == "B":
            keep = draw(st.one_of(st.none(), st.lists(st.sampled_from(NAMES), max_size=4)))
            writer.compact(name, draw(st.sampled_from(NAMES)), keep, draw(st.sampled_from(NAMES)))
        elif writer.rows:
            writer.rows.append(draw(st.sampled_from(writer.rows)))
        last = name
    return writer


def state(made: Transcript) -> dict[str, Any]:
    branch = made.projection.branch
    return {
        "seqs": list(branch.seqs),
        "kinds": bytes(branch.kinds),
        "answers": list(branch.answers),
        "closing": bytes(branch.closing),
        "call_ids": branch.call_ids,
        "tools": branch.tools,
        "windows": list(made.projection.windows),
        "facts": [made.projection.facts(seq) for seq in branch.seqs],
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(transcripts(), st.data())
def test_a_grown_transcript_is_the_same_as_one_read_at_once(
    tmp_path: Path, writer: Writer, data: st.DataObject
) -> None:
    file = tmp_path / "grown.jsonl"
    written = lines(writer)
    cut = data.draw(st.integers(0, len(written)))
    file.write_text(
        "".join(line + "\n" for line in [json.dumps({"sessionId": "s"}), *written[:cut]])
    )
    grown = Transcript(LineFile(file))
    first, older, slots = grown.projection, state(grown), grown.spine.firsts[:]
    for line in written[cut:]:
        with file.open("a") as out:
            out.write(line + "\n")
        grown.extend()
    whole = Transcript(LineFile(file))
    spine = whole.spine

    note("\n".join(written))
    assert state(grown) == state(whole)
    assert list(first.branch.seqs) == older["seqs"]
    if grown.projection.branch.lineage is first.branch.lineage:
        size = len(older["seqs"])
        assert state(whole)["facts"][:size] == older["facts"]
        assert state(whole)["kinds"][:size] == older["kinds"]
    # Nothing is numbered anew: each row has the slots it had.
    assert whole.spine.firsts[: len(slots)] == slots

    seqs = list(whole.projection.branch.seqs)
    assert seqs == sorted(set(seqs))
    branch, off_walk = host_branch(spine)
    assert len(branch) == len(set(branch)) and set(off_walk) <= set(branch)
    uuids = [json.loads(whole.line(row))["uuid"] for row in {spine.row_of(seq) for seq in seqs}]
    assert len(uuids) == len(set(uuids))
    if not spine.revision:
        assert set(seqs) >= {seq for row in branch for seq in spine.seqs(row)}
    for position in range(len(seqs)):
        Timeline(whole.projection).event(position)


def test_rows_behind_the_compaction_that_preserves_them_stay_history_as_a_file_grows(
    tmp_path: Path,
) -> None:
    writer = Writer()
    writer.compact("B", "B", ["kept"], "B", anchor="B")
    writer.user("between", "B")
    writer.user("kept", "between")
    writer.user("last", "B")
    file = tmp_path / "s.jsonl"
    file.write_text("")
    grown = Transcript(LineFile(file))

    for line in lines(writer):
        with file.open("a") as out:
            out.write(line + "\n")
        grown.extend()

    assert state(grown) == state(Transcript(LineFile(file)))


def test_a_session_rewritten_after_it_was_read_is_refused(tmp_path: Path) -> None:
    file = turn().write(tmp_path / "s.jsonl")
    projection = opened(file)
    whole = file.read_bytes()

    for other in (whole.replace(b"}\n", b"x\n"), whole.replace(b'"p"', b'"q"') + b"\n"):
        file.write_bytes(other)
        with pytest.raises(Refused) as refused:
            projection.facts(1)
        assert refused.value.code == "unreadable_session"
        assert "rewritten" in str(refused.value)
