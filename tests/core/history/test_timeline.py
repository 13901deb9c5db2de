from __future__ import annotations

import pytest
from fake_sessions import SessionBuilder
from history_strategies import apply, steps
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.errors import Refused
from hindnote.core.history.timeline import Timeline


def statuses(builder: SessionBuilder) -> dict[int, str | None]:
    timeline = Timeline(builder.projection())
    return {
        timeline.seq(at): timeline.event(at).status
        for at in range(timeline.size)
        if timeline.is_event(at)
    }


def refusal(builder: SessionBuilder, seq: int) -> tuple[str, str]:
    with pytest.raises(Refused) as caught:
        Timeline(builder.projection()).locate(seq)
    return caught.value.code, caught.value.refusal.message


def test_a_call_and_its_result_are_one_event_wherever_the_result_lies() -> None:
    builder = SessionBuilder()
    builder.answer("both")
    builder.call("a")
    builder.call("b")
    builder.result("b", failed=True)
    builder.user("meanwhile")
    builder.result("a")

    assert statuses(builder) == {1: None, 2: "ok", 3: "error", 5: None}


def test_a_reused_id_pairs_with_the_nearest_answer_above() -> None:
    builder = SessionBuilder()
    builder.answer()
    builder.call("call_0")
    builder.answer()
    builder.call("call_0")
    builder.result("call_0", failed=True)
    builder.result("call_0")

    assert statuses(builder) == {2: "unanswered", 4: "error", 6: "ok"}


def test_one_id_twice_in_an_answer_pairs_in_order() -> None:
    builder = SessionBuilder()
    builder.answer()
    builder.call("a")
    builder.call("a")
    builder.result("a", failed=True)
    builder.result("a")

    assert statuses(builder) == {2: "error", 3: "ok"}


def test_a_result_above_its_call_and_one_without_an_id_stay_alone() -> None:
    builder = SessionBuilder()
    builder.result("a")
    builder.answer()
    builder.call("a")
    builder.call(None)
    builder.result(None, failed=None)

    assert statuses(builder) == {1: "ok", 3: "pending", 4: "pending", 5: "unknown"}


@pytest.mark.parametrize("ending", ["user", "context", "command", "answer"])
def test_a_call_is_unanswered_once_the_conversation_went_on(ending: str) -> None:
    builder = SessionBuilder()
    builder.answer("go")
    builder.call("a")
    builder.call("b")
    builder.result("a")
    before = statuses(builder)
    getattr(builder, ending)("next")

    assert before[3] == "pending"
    assert statuses(builder)[3] == "unanswered"


def test_housekeeping_leaves_a_call_pending() -> None:
    builder = SessionBuilder()
    builder.answer()
    builder.call("a")
    builder.nothing()
    builder.context("an attachment", closing=False)

    assert statuses(builder)[2] == "pending"


def test_a_later_part_of_the_same_answer_leaves_a_call_pending() -> None:
    builder = SessionBuilder()
    builder.answer()
    first = builder.call("a")
    builder.call("b")

    assert statuses(builder)[first] == "pending"


def test_a_call_of_an_aborted_answer_is_unanswered() -> None:
    builder = SessionBuilder()
    builder.answer()
    builder.call("a", aborted=True)

    assert statuses(builder) == {2: "unanswered"}


@pytest.mark.parametrize(("failed", "status"), [(False, "ok"), (True, "error"), (None, "unknown")])
def test_a_command_is_complete_in_itself(failed: bool | None, status: str) -> None:
    builder = SessionBuilder()
    builder.command("out", failed=failed)

    assert statuses(builder) == {1: status}


def test_a_seq_past_the_end_is_refused_with_the_range() -> None:
    builder = SessionBuilder()
    assert refusal(builder, 1) == ("unknown_seq", "there is no seq 1; the session is empty")
    builder.user("hi")

    code, message = refusal(builder, 2)

    assert code == "unknown_seq"
    assert "1 to 1" in message


def test_a_seq_of_a_left_branch_is_refused_with_what_lies_near() -> None:
    builder = SessionBuilder()
    builder.user("a")
    builder.leave([builder.user("b")])
    builder.user("c")

    code, message = refusal(builder, 2)

    assert code == "not_on_branch"
    assert "seq 1 and 3" in message


def test_a_paired_result_is_refused_naming_the_call() -> None:
    builder = SessionBuilder()
    builder.answer("x")
    builder.call("a")
    builder.result("a")

    code, message = refusal(builder, 3)

    assert code == "not_an_event"
    assert "read seq 2" in message


def test_an_answer_without_text_is_refused_naming_its_first_call() -> None:
    builder = SessionBuilder()
    builder.answer()
    builder.nothing()
    builder.call("a")
    builder.call("b")

    code, message = refusal(builder, 1)

    assert code == "not_an_event"
    assert "first call, seq 3" in message


def test_other_slots_that_are_no_event_are_refused_with_what_lies_near() -> None:
    builder = SessionBuilder()
    builder.user("a")
    builder.answer()
    builder.user("b")
    builder.nothing()

    assert refusal(builder, 2) == (
        "not_an_event",
        "seq 2 holds no event; the nearest events are at seq 1 and 3",
    )
    assert "at seq 3" in refusal(builder, 4)[1]


@given(made=steps, cut=st.integers(0, 30))
def test_a_growing_session_pairs_as_one_that_is_read_at_once(made: list, cut: int) -> None:  # type: ignore[type-arg]
    growing, whole = SessionBuilder(), SessionBuilder()
    apply(growing, made[:cut])
    early = growing.projection()
    Timeline(early)
    apply(growing, made[cut:])
    apply(whole, made)
    prefix = SessionBuilder()
    apply(prefix, made[:cut])

    assert statuses(growing) == statuses(whole)
    timeline = Timeline(early)
    assert {
        timeline.seq(at): timeline.event(at).status
        for at in range(timeline.size)
        if timeline.is_event(at)
    } == statuses(prefix)


def test_looking_through_many_sessions_forgets_no_pairing() -> None:
    asked, other = SessionBuilder(), SessionBuilder()
    for builder in (asked, other):
        builder.answer()
        builder.call("a")
        builder.result("a")
    kept = Timeline(asked.projection())._partners

    for _ in range(20):
        other.leave(())
        assert Timeline(other.projection(), passing=True).partner(1) == 2

    assert Timeline(asked.projection())._partners is kept
    assert Timeline(asked.projection(), passing=True)._partners is kept
