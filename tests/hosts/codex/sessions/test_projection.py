"""Sessions of Codex in states that no recording has."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from rollouts import (
    Rows,
    base,
    call,
    encoded,
    event,
    meta,
    outcome,
    output,
    row,
    said,
    thread,
    told,
    write,
)

from hindnote.core.errors import Refused
from hindnote.core.history.lines import LineFile
from hindnote.core.history.projection import SlotKind
from hindnote.core.history.timeline import Timeline
from hindnote.hosts.codex.sessions.projection import CodexProjection, open_rollout
from hindnote.hosts.codex.sessions.rollout import Rollout, State

A, C, U, X, R = "ASSISTANT", "CALL", "USER", "CONTEXT", "RESULT"


def opened(file: Path) -> CodexProjection:
    found = open_rollout(file)
    assert found is not None
    return found


def kinds(session: CodexProjection) -> list[str]:
    return [SlotKind(kind).name for kind in session.branch.kinds]


def said_in(session: CodexProjection) -> list[str]:
    seqs, held = session.branch.seqs, session.branch.kinds
    return [
        session.facts(seq).text
        for seq, kind in zip(seqs, held, strict=True)
        if kind == SlotKind.USER
    ]


def status(session: CodexProjection) -> str | None:
    timeline = Timeline(session)
    (at,) = [at for at in range(timeline.size) if timeline.branch.kinds[at] == SlotKind.CALL]
    return timeline.event(at).status


# -- what a row is -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (said("hi"), U),
        (told("hi", "user.text"), U),
        (told("<environment_context>", "user.text"), U),
        (told("<x>", "environments.environment_context"), X),
        (told("<x>", "generic.turn_aborted", "user.text"), U),
        (told("hi", "unknown"), U),
        (told("hi", "shell.user_command"), "COMMAND"),
        (said("<environment_context>\n</environment_context>"), X),
        (said("# AGENTS.md instructions for /w\n"), X),
        (said("<turn_aborted>\n"), X),
        (said("<subagent_notification>\n"), X),
        (said("<user_shell_command>\n"), "COMMAND"),
        (said("<div>my page</div>"), U),
        (said("", "assistant"), "NOTHING"),
        (said("x", "assistant"), A),
        (row("response_item", type="message", role="user", content=None), U),
        (row("response_item", type="message", role="user", content=7), U),
        (row("response_item", type="agent_message", content=[]), X),
        (row("compacted", message="short"), X),
    ],
)
def test_a_row_takes_one_slot_of_its_kind(tmp_path: Path, one: Any, kind: str) -> None:
    assert kinds(opened(write(tmp_path, [meta(), one]))) == [kind]


@pytest.mark.parametrize(
    "one",
    [
        said("never shown", "developer"),
        said("never shown", "system"),
        row("response_item", type="reasoning", summary=[]),
        row("response_item", type="of_a_later_release"),
        row("of_a_later_release", type="message", role="user"),
        event("user_message", message="twice"),
        event("agent_message", message="twice"),
        event("thread_rolled_back", num_turns="many"),
        {"type": "response_item"},
        {"type": 7, "payload": []},
        {},
    ],
)
def test_a_row_of_no_known_kind_takes_none(tmp_path: Path, one: Any) -> None:
    session = opened(write(tmp_path, [meta(), said("before"), one, said("after")]))

    assert kinds(session) == [U, U]
    assert session.last_seq == 2
    assert session.damaged == ()


# -- how calls end --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "ended"),
    [
        ([call()], "pending"),
        ([call(), said("on")], "unanswered"),
        ([call(), output()], "unknown"),
        ([call(), outcome("completed"), output()], "ok"),
        ([call(), outcome("failed"), output()], "error"),
        ([call(), outcome("declined"), output()], "error"),
        ([call(), output(), said("on"), outcome("failed")], "error"),
        ([call(), output(), outcome("inProgress")], "unknown"),
        ([call(), event("exec_command_end", call_id="c1", exit_code=0), output()], "ok"),
        ([call(), event("exec_command_end", call_id="c1", exit_code=2), output()], "error"),
        ([call(), event("patch_apply_end", call_id="c1", success=False), output()], "error"),
        ([call(), event("mcp_tool_call_end", call_id="c1", result={"Ok": {}}), output()], "ok"),
        (
            [
                call(),
                event("mcp_tool_call_end", call_id="c1", result={"Ok": {"isError": True}}),
                output(),
            ],
            "error",
        ),
        (
            [call(), event("mcp_tool_call_end", call_id="c1", result={"Err": "x"}), output()],
            "error",
        ),
        ([call(), output("Process exited with code 3\nOutput:\nx")], "error"),
        ([call(), output("Exit code: 0\nWall time: 0 seconds\nOutput:\nx")], "ok"),
        ([call(), output("x\nOutput:\nExit code: 1")], "unknown"),
        ([call(), output({"content": "x", "success": False})], "error"),
        ([call(), output('{"output":"x","metadata":{"exit_code":1}}')], "error"),
    ],
)
def test_a_call_ends_as_the_row_that_tells_it_says(tmp_path: Path, rows: Rows, ended: str) -> None:
    assert status(opened(write(tmp_path, [meta(), said("go"), *rows]))) == ended


def test_an_outcome_that_comes_late_is_seen_by_who_asks_next(tmp_path: Path) -> None:
    file = write(tmp_path, [meta(), said("go"), call(), output()])
    before = opened(file)
    assert status(before) == "unknown"
    with file.open("ab") as out:
        out.write(encoded([outcome("failed")]))

    after = opened(file)

    assert status(after) == "error"
    assert after.branch.lineage is not before.branch.lineage
    assert after.branch.seqs == before.branch.seqs


def test_parts_of_one_answer_share_a_number_and_the_next_answer_has_its_own(tmp_path: Path) -> None:
    usage = row("token_usage_record")
    answer = [said("Two calls.", "assistant"), call("c1"), call("c2"), usage]
    search = row("response_item", type="web_search_call", status="completed", action={})
    rows = [meta(), said("go"), *answer, output(call_id="c1"), output(call_id="c2")]
    rows += [said("a", "assistant"), search, call("c3"), usage, said("b", "assistant")]

    session = opened(write(tmp_path, rows))

    assert list(session.branch.answers) == [0, 1, 1, 1, 0, 0, 2, 0, 2, 3]


@pytest.mark.parametrize(
    ("more", "tool", "arguments"),
    [
        ({"arguments": '{"b": 1.0, "a": "\\u00e4"}'}, "exec_command", '{"b":1.0,"a":"ä"}'),
        ({"arguments": "no JSON"}, "exec_command", '{"input":"no JSON"}'),
        ({"arguments": {"cmd": "x"}}, "exec_command", '{"cmd":"x"}'),
        ({"namespace": "mcp__hindnote", "name": "notes_read"}, "mcp__hindnote__notes_read", "{}"),
        ({"type": "custom_tool_call", "input": "a\nb"}, "exec_command", '{"input":"a\\nb"}'),
        ({"type": "tool_search_call", "name": "", "arguments": {}}, "tool_search", "{}"),
    ],
)
def test_a_call_has_its_tool_and_its_input_as_recorded(
    tmp_path: Path, more: dict[str, Any], tool: str, arguments: str
) -> None:
    facts = opened(write(tmp_path, [meta(), call(**more)])).facts(1)

    assert (facts.tool, facts.arguments) == (tool, arguments)


def test_a_command_by_hand_is_an_event_of_its_own(tmp_path: Path) -> None:
    text = "<user_shell_command>\n<command>\nls -a\n</command>\n<result>\nExit code: 2\n"
    text += "Duration: 0.1 seconds\nOutput:\nnone\n\n</result>\n</user_shell_command>"

    facts = opened(write(tmp_path, [meta(), told(text, "shell.user_command")])).facts(1)

    assert facts.arguments == '{"command":"ls -a"}'
    assert (facts.text, facts.failed) == ("none\n", True)


# -- what is taken back, and what is inherited ------------------------------------------


@given(st.lists(st.integers(0, 5), max_size=5))
def test_turns_taken_back_leave_the_branch_and_keep_their_seqs(
    tmp_path_factory: pytest.TempPathFactory, undone: list[int]
) -> None:
    rows, kept, number = [meta()], list[int](), 0
    for turns in undone:
        for _ in range(2):
            number += 1
            kept.append(number)
            rows += [said(str(number)), said("yes", "assistant")]
        rows.append(event("thread_rolled_back", num_turns=turns))
        kept = kept[: max(0, len(kept) - turns)]

    session = opened(write(tmp_path_factory.mktemp("codex"), rows))

    assert said_in(session) == [str(one) for one in kept]
    assert session.last_seq == 2 * number
    assert [seq for seq in session.branch.seqs if seq % 2] == [2 * one - 1 for one in kept]


@given(st.lists(st.sampled_from(["prompt", "call", "back", "two back", "look"]), max_size=20))
def test_a_state_stays_as_it_was_while_turns_are_taken_back_and_others_follow(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    file = write(tmp_path_factory.mktemp("codex"), [meta()])
    session = Rollout(LineFile(file))
    published = [(session.state, told_by(session.state))]
    for number, step in enumerate(steps):
        rows = {
            "prompt": [said(str(number))],
            "call": [call(f"c{number}", f"tool{number}"), output(call_id=f"c{number}")],
            "back": [event("thread_rolled_back", num_turns=1)],
            "two back": [event("thread_rolled_back", num_turns=2)],
        }
        with file.open("ab") as out:
            out.write(encoded(rows.get(step, [])))
        if step == "look":
            session.extend()
            published.append((session.state, told_by(session.state)))
    session.extend()

    assert told_by(session.state) == told_by(Rollout(LineFile(file)).state)
    assert all(told_by(state) == before for state, before in published)


def told_by(state: State) -> tuple[Any, ...]:
    """Return all that a state says of its slots."""
    branch = state.branch
    slots = range(len(branch.seqs))
    tools = [(branch.tools.get(at), branch.call_ids.get(at)) for at in slots]
    columns = branch.seqs, branch.kinds, branch.answers, branch.closing, branch.times
    return *map(tuple, columns), tools, state.windows


def test_a_fork_goes_on_behind_a_part_of_its_parent_which_may_grow(tmp_path: Path) -> None:
    first = [meta(), said("one"), said("yes", "assistant")]
    parent = write(tmp_path, [*first, said("two")])
    link = {"forked_from_id": thread(1), "history_base": base(parent, 1, first)}
    fork = write(tmp_path, [meta(2, **link), said("instead")], 2)
    held = opened(fork)
    with parent.open("ab") as out:
        out.write(encoded([said("three")]))

    assert said_in(held) == said_in(opened(fork)) == ["one", "instead"]
    assert held.last_seq == 3
    assert held.header.parent == thread(1)
    assert said_in(opened(parent)) == ["one", "two", "three"]


def test_a_fork_is_read_when_its_parent_was_archived_or_compressed(tmp_path: Path) -> None:
    parent = write(tmp_path, [meta(), said("one")])
    link = {"forked_from_id": thread(1), "history_base": base(parent, 1)}
    fork = write(tmp_path, [meta(2, **link), said("two")], 2)
    (tmp_path / "archived_sessions").mkdir()
    archived = parent.rename(tmp_path / "archived_sessions" / parent.name)
    assert said_in(opened(fork)) == ["one", "two"]
    packed = archived.with_name(f"{archived.name}.zst")
    packed.write_bytes(zstandard.compress(archived.read_bytes()))
    archived.unlink()
    copy = write(tmp_path, [meta(3, **link), said("three")], 3)

    assert said_in(opened(copy)) == ["one", "three"]


def test_a_fork_whose_parent_is_gone_says_so_and_has_its_own(tmp_path: Path) -> None:
    parent = write(tmp_path, [meta(), said("one")])
    link = {"forked_from_id": thread(1), "history_base": base(parent, 1)}
    parent.unlink()

    session = opened(write(tmp_path, [meta(2, **link), said("two")], 2))

    assert said_in(session) == ["two"]
    assert session.header.parent == thread(1)
    assert thread(1) in (session.header.note or "")


def test_forks_that_name_each_other_end(tmp_path: Path) -> None:
    one = write(tmp_path, [meta(1, history_base={"thread_id": thread(2), "end_byte_offset": 999})])
    two = [meta(2, history_base={"thread_id": thread(1), "end_byte_offset": 999}), said("x")]

    assert said_in(opened(write(tmp_path, two, 2))) == ["x"]
    assert said_in(opened(one)) == ["x"]


def test_a_thread_that_was_taken_back_twice_keeps_the_seqs_of_all_its_files(tmp_path: Path) -> None:
    """The third file goes on behind the first, as if the second had never been."""
    kept = [meta(), said("one")]
    first = write(tmp_path, [*kept, said("two"), said("three")])
    link = {"history_base": base(first, 1, kept)}
    second = write(tmp_path, [meta(**link), said("2b"), said("2c")], segment=8)
    before = opened(second)
    third = write(tmp_path, [meta(**link), said("2d")], segment=9)

    after = opened(third)

    assert said_in(before) == ["one", "2b", "2c"]
    assert list(before.branch.seqs) == [1, 4, 5]
    assert said_in(after) == ["one", "2d"]
    assert list(after.branch.seqs) == [1, 6]


# -- compressed, and what is no session ---------------------------------------------------


def packed(tmp_path: Path, rows: Rows) -> Path:
    file = write(tmp_path, rows)
    found = file.with_name(f"{file.name}.zst")
    found.write_bytes(zstandard.compress(file.read_bytes()))
    file.unlink()
    return found


def test_a_compressed_session_is_read_like_any_other(tmp_path: Path) -> None:
    assert said_in(opened(packed(tmp_path, [meta(), said("one"), said("two")]))) == ["one", "two"]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="reads it without a package")
def test_without_the_package_a_compressed_session_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "zstandard":
            raise ImportError(name)
        return really(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(Refused, match=r"install hindnote\[zstd\]"):
        open_rollout(packed(tmp_path, [meta()]))


@given(st.floats(0, 1, exclude_max=True))
def test_a_compressed_file_that_lacks_its_end_is_refused(
    tmp_path_factory: pytest.TempPathFactory, part: float
) -> None:
    rows = [meta(), *(said(f"{number} " * number) for number in range(40))]
    file = packed(tmp_path_factory.mktemp("codex"), rows)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * part)])

    with pytest.raises(Refused, match="is damaged"):
        open_rollout(file)


def test_a_compressed_file_that_is_none_is_refused(tmp_path: Path) -> None:
    file = packed(tmp_path, [meta(), said("one")])
    file.write_bytes(b"no frame at all")

    with pytest.raises(Refused, match="is damaged"):
        open_rollout(file)


def test_a_compressed_file_of_many_blocks_and_one_with_a_checksum_are_whole(tmp_path: Path) -> None:
    file = packed(tmp_path, [meta(), said("x" * 400_000), said("end")])
    assert said_in(opened(file))[1] == "end"
    lines = encoded([meta(), said("one")])
    file.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(lines))
    assert said_in(opened(file)) == ["one"]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"type":"session","version":3}\n')

    with pytest.raises(Refused, match="is no rollout of Codex"):
        open_rollout(file)


def test_there_is_no_session_in_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert open_rollout(tmp_path / "none.jsonl") is None
