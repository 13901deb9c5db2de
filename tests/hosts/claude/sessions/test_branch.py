"""Where the conversation stands, and which rows are on its branch.

Each case was shown to the real program, and what it sent afterwards is what is
expected here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from claude_rows import NIL, Writer, turn, two_calls, uuid_of


def two_branches() -> Writer:
    """Return a writer in which ``q b`` and ``r c`` both go on from ``a``."""
    writer = turn()
    writer.user("q", "a")
    writer.text("b", "q", "m2")
    writer.user("r", "a")
    writer.text("c", "r", "m3")
    return writer


# -- checkpoints ---------------------------------------------------------------


def test_without_a_checkpoint_the_last_row_counts(tmp_path: Path) -> None:
    assert two_branches().branch(tmp_path) == ["p", "a", "r", "c"]


def test_a_checkpoint_wins_over_a_last_row_that_does_not_descend_from_it(tmp_path: Path) -> None:
    writer = two_branches()
    writer.checkpoint("b")

    assert writer.branch(tmp_path) == ["p", "a", "q", "b"]


def test_a_last_row_that_descends_from_the_checkpoint_wins(tmp_path: Path) -> None:
    writer = two_branches()
    writer.checkpoint("r")

    assert writer.branch(tmp_path) == ["p", "a", "r", "c"]


@pytest.mark.parametrize("explicit", [None, True])
def test_a_checkpoint_that_names_no_row_takes_the_older_one_away(
    tmp_path: Path, explicit: bool | None
) -> None:
    writer = two_branches()
    writer.checkpoint("b")
    writer.checkpoint(NIL, explicit=explicit)

    assert writer.branch(tmp_path) == ["p", "a", "r", "c"]


def test_a_checkpoint_may_name_a_row_further_down(tmp_path: Path) -> None:
    writer = turn()
    writer.checkpoint("b")
    writer.user("q", "a")
    writer.text("b", "q", "m2")
    writer.user("r", "a")

    assert writer.branch(tmp_path) == ["p", "a", "q", "b"]


def test_an_explicit_checkpoint_holds_although_rows_descend_from_it(tmp_path: Path) -> None:
    writer = two_branches()
    writer.checkpoint("a", explicit=True)

    assert writer.branch(tmp_path) == ["p", "a"]


def test_a_repeated_checkpoint_keeps_an_explicit_one_binding(tmp_path: Path) -> None:
    writer = two_branches()
    writer.checkpoint("a", explicit=True)
    writer.checkpoint("a")

    assert writer.branch(tmp_path) == ["p", "a"]


def test_an_explicit_checkpoint_binds_until_the_next_row(tmp_path: Path) -> None:
    writer = turn()
    writer.checkpoint("p", explicit=True)
    writer.user("q", "a")
    writer.checkpoint("p")

    assert writer.branch(tmp_path) == ["p", "a", "q"]


def test_another_checkpoint_ends_an_explicit_one(tmp_path: Path) -> None:
    writer = two_branches()
    writer.checkpoint("a", explicit=True)
    writer.checkpoint("r")

    assert writer.branch(tmp_path) == ["p", "a", "r", "c"]


def test_an_explicit_checkpoint_without_a_leaf_is_an_empty_conversation(tmp_path: Path) -> None:
    writer = two_branches()
    writer.checkpoint(None, explicit=True)
    writer.checkpoint(None)

    assert writer.branch(tmp_path) == []
    assert writer.history(tmp_path) == []


def test_the_empty_conversation_goes_on_with_the_next_row(tmp_path: Path) -> None:
    writer = turn()
    writer.checkpoint(None, explicit=True)
    writer.user("q")

    assert writer.branch(tmp_path) == ["q"]


def test_a_checkpoint_without_a_leaf_that_is_not_explicit_says_nothing(tmp_path: Path) -> None:
    writer = two_branches()
    writer.checkpoint("b")
    writer.checkpoint(None)

    assert writer.branch(tmp_path) == ["p", "a", "q", "b"]


def test_a_note_as_checkpoint_leaves_what_turned_off_above_it(tmp_path: Path) -> None:
    writer = turn()
    writer.system("n", "a")
    writer.checkpoint("n")
    writer.user("q", "a")

    assert writer.branch(tmp_path) == ["p", "a", "n"]


# -- parallel calls ------------------------------------------------------------


def test_other_calls_of_a_response_and_their_results_are_on_the_branch(tmp_path: Path) -> None:
    writer = two_calls(turn())
    writer.result("r2", "c2")
    writer.result("r1", "c1")
    writer.text("b", "r1", "m3")

    assert writer.branch(tmp_path) == ["p", "a", "q", "c1", "c2", "r2", "r1", "b"]


def test_a_killed_sessions_pending_call_is_on_the_branch(tmp_path: Path) -> None:
    writer = two_calls(turn())
    writer.checkpoint("c2")
    writer.result("r1", "c1")

    assert writer.branch(tmp_path) == ["p", "a", "q", "c1", "c2", "r1"]


@pytest.mark.parametrize("leaf", ["c2", "r2", "h2"])
def test_going_on_behind_one_call_leaves_no_checkpoint_at_another(
    tmp_path: Path, leaf: str
) -> None:
    writer = two_calls(turn())
    writer.result("r2", "c2")
    writer.hook("h2", "r2")
    writer.checkpoint(leaf)
    writer.result("r1", "c1")
    writer.text("b", "r1", "m3")

    assert writer.branch(tmp_path)[-1] == "b"


def test_a_checkpoint_at_the_same_calls_other_result_holds(tmp_path: Path) -> None:
    writer = turn()
    writer.user("q", "a")
    writer.call("c1", "q", "m2")
    writer.result("r1", "c1")
    writer.result("again", "c1")
    writer.text("b", "again", "m3")
    writer.checkpoint("r1")

    assert "b" not in writer.branch(tmp_path)


def test_a_text_beside_is_no_parallel_call(tmp_path: Path) -> None:
    writer = turn()
    writer.text("a2", "a", "m1")
    writer.user("q", "a")
    writer.checkpoint("a2")

    assert writer.branch(tmp_path) == ["p", "a", "a2"]


def test_a_result_without_source_is_found_by_its_call(tmp_path: Path) -> None:
    writer = two_calls(turn())
    writer.result("r2", "q", "c2", sourceToolAssistantUUID=None)
    writer.result("r1", "c1")
    writer.text("b", "r1", "m3")

    assert "r2" in writer.branch(tmp_path)


def test_notes_of_a_response_with_calls_are_on_the_branch(tmp_path: Path) -> None:
    writer = two_calls(turn())
    writer.hook("h-call", "c2")
    writer.result("r2", "c2")
    writer.hook("h2", "r2")
    writer.meta("m2", "h2")
    writer.result("r1", "c1")
    writer.hook("h1", "r1")
    writer.text("b", "r1", "m3")

    assert set(writer.branch(tmp_path)) >= {"h-call", "h2", "m2", "h1", "b"}


def test_notes_that_lead_to_another_branch_are_not(tmp_path: Path) -> None:
    writer = two_calls(turn())
    writer.result("r2", "c2")
    writer.hook("h2", "r2")
    writer.hook("h-beside", "h2")
    writer.text("left", "h2", "m3")
    writer.result("r1", "c1")
    writer.text("b", "r1", "m4")

    assert writer.branch(tmp_path) == ["p", "a", "q", "c1", "c2", "r2", "r1", "b"]


def test_notes_beside_a_text_or_a_prompt_are_not(tmp_path: Path) -> None:
    writer = turn()
    writer.hook("h-p", "p")
    writer.hook("h-a", "a")
    writer.user("q", "a")
    writer.text("b", "q", "m2")

    assert writer.branch(tmp_path) == ["p", "a", "q", "b"]


def test_attachments_and_system_rows_under_the_leaf_are_on_the_branch(tmp_path: Path) -> None:
    writer = turn()
    writer.hook("h1", "a")
    writer.system("s", "h1")
    writer.meta("m", "s")
    writer.hook("h2", "m")
    writer.checkpoint("a", explicit=True)

    assert writer.branch(tmp_path) == ["p", "a", "h1", "s"]


# -- compaction ----------------------------------------------------------------


def compacted(keep: list[str] | None) -> Writer:
    writer = turn()
    writer.user("q", "a")
    writer.text("b", "q", "m2")
    writer.compact("B", "b", keep, "s")
    return writer


def go_on(writer: Writer, under: str = "s") -> Writer:
    writer.user("r", under)
    writer.text("c", "r", "m3")
    return writer


def test_the_chain_starts_at_a_boundary_that_preserved_nothing(tmp_path: Path) -> None:
    writer = go_on(compacted(None))

    assert writer.branch(tmp_path) == ["B", "s", "r", "c"]
    assert writer.history(tmp_path) == ["p", "a", "q", "b", "B", "s", "r", "c"]


def test_preserved_rows_are_read_behind_the_summary_in_the_listed_order(tmp_path: Path) -> None:
    writer = go_on(compacted(["b", "q"]))

    assert writer.branch(tmp_path) == ["B", "s", "b", "q", "r", "c"]
    assert writer.history(tmp_path) == ["p", "a", "q", "b", "B", "s", "r", "c"]


def test_the_end_of_the_tree_is_the_tip_when_a_file_ends_at_the_summary(tmp_path: Path) -> None:
    assert compacted(["b"]).branch(tmp_path) == ["B", "s", "b"]


def test_a_listed_row_that_is_missing_undoes_the_list(tmp_path: Path) -> None:
    assert go_on(compacted(["gone", "b"])).branch(tmp_path) == ["B", "s", "r", "c"]


def test_an_older_versions_segment_counts_as_a_list(tmp_path: Path) -> None:
    writer = go_on(compacted(None))
    segment = {"headUuid": uuid_of("q"), "anchorUuid": uuid_of("s"), "tailUuid": uuid_of("b")}
    boundary = next(row for row in writer.rows if row["uuid"] == uuid_of("B"))
    boundary["compactMetadata"]["preservedSegment"] = segment

    assert writer.branch(tmp_path) == ["B", "s", "q", "b", "r", "c"]


def test_a_note_behind_preserved_notes_is_history_before_the_next_prompt(tmp_path: Path) -> None:
    writer = turn()
    writer.hook("h", "a")
    writer.compact("B", "h", ["h"], "s")
    writer.hook("n", "s")

    assert writer.branch(tmp_path) == ["B", "s", "h", "n"]
    assert writer.history(tmp_path) == ["p", "a", "h", "B", "s", "n"]


def test_a_boundary_cancels_the_checkpoint_before_it(tmp_path: Path) -> None:
    writer = turn()
    writer.user("q", "a")
    writer.checkpoint("a", explicit=True)
    writer.compact("B", "q", ["a"], "s")

    assert writer.branch(tmp_path) == ["B", "s", "a"]


def test_going_back_to_a_preserved_row_leaves_those_behind_it(tmp_path: Path) -> None:
    writer = go_on(compacted(["q", "b"]))
    writer.checkpoint("q", explicit=True)

    assert writer.branch(tmp_path) == ["B", "s", "q"]
    assert writer.history(tmp_path) == ["p", "a", "q", "B", "s"]


def test_a_checkpoint_that_is_out_is_none(tmp_path: Path) -> None:
    writer = go_on(compacted(["b"]))
    writer.checkpoint("a", explicit=True)

    assert writer.branch(tmp_path) == ["B", "s", "b", "r", "c"]


def test_going_back_before_a_boundary_that_preserved_nothing_leaves_it(tmp_path: Path) -> None:
    writer = go_on(compacted(None))
    writer.checkpoint("a", explicit=True)

    assert writer.branch(tmp_path) == ["p", "a"]
    assert writer.history(tmp_path) == ["p", "a"]


def test_a_row_whose_parent_is_out_hangs_under_what_was_preserved(tmp_path: Path) -> None:
    writer = go_on(compacted(["b"]))
    writer.user("x", "a")

    assert writer.branch(tmp_path) == ["B", "s", "b", "x"]


def test_a_row_whose_parent_is_out_hangs_under_the_one_before_it_else(tmp_path: Path) -> None:
    writer = compacted([])
    writer.hook("h", "s")
    writer.user("x", "a")

    assert writer.branch(tmp_path) == ["B", "s", "h", "x"]


def test_one_of_several_ends_is_chosen_by_the_checkpoint(tmp_path: Path) -> None:
    writer = go_on(compacted(["b"]))
    writer.user("x", "s")
    without = writer.branch(tmp_path)
    writer.checkpoint("c")

    assert without == ["B", "s", "b", "x"]
    assert writer.branch(tmp_path) == ["B", "s", "b", "r", "c"]


@pytest.mark.parametrize("explicit", [None, True])
def test_a_note_as_checkpoint_chooses_none_of_several_ends_unless_it_binds(
    tmp_path: Path, explicit: bool | None
) -> None:
    writer = go_on(compacted(["b"]))
    writer.system("d", "c")
    writer.user("x", "s")
    writer.checkpoint("d", explicit=explicit)

    ends = {None: ["B", "s", "b", "x"], True: ["B", "s", "b", "r", "c", "d"]}
    assert writer.branch(tmp_path) == ends[explicit]


def test_a_checkpoint_at_no_end_chooses_none_of_several(tmp_path: Path) -> None:
    writer = go_on(compacted(["b"]))
    writer.user("x", "s")
    writer.checkpoint("r")

    assert writer.branch(tmp_path) == ["B", "s", "b", "x"]


def test_history_holds_every_window_with_parallel_siblings(tmp_path: Path) -> None:
    writer = two_calls(turn())
    writer.result("r2", "c2")
    writer.result("r1", "c1")
    writer.text("b", "r1", "m3")
    writer.compact("B", "b", ["b"], "s")
    writer.user("x", "s")
    writer.text("y", "x", "m4")
    writer.compact("C", "y", ["b", "y"], "t")
    writer.user("z", "t")

    assert writer.branch(tmp_path) == ["C", "t", "b", "y", "z"]
    everything = [row["uuid"].removeprefix("uuid-") for row in writer.rows]
    assert writer.history(tmp_path) == everything
    made = writer.transcript(tmp_path)
    firsts = [made.spine.firsts[everything.index(name)] for name in ("B", "C")]
    assert list(made.projection.windows) == [1, *firsts]


def test_what_was_kept_when_summing_up_to_a_place_stays_history_after_the_next_compaction(
    tmp_path: Path,
) -> None:
    writer = turn()
    writer.user("q", "a")
    writer.hook("h", "q")
    writer.text("b", "h", "m2")
    writer.compact("B", "a", ["q", "b"], "s")
    go_on(writer)
    before = writer.history(tmp_path)
    writer.compact("C", "c", None, "t")
    writer.user("x", "t")

    assert before == ["p", "a", "q", "h", "b", "B", "s", "r", "c"]
    assert writer.history(tmp_path) == [*before, "C", "t", "x"]
    assert writer.branch(tmp_path) == ["C", "t", "x"]


def test_a_row_under_what_a_compaction_preserved_leads_to_that_compaction_in_history(
    tmp_path: Path,
) -> None:
    writer = turn()
    writer.compact("B", "a", ["a"], "s")
    go_on(writer, "a")
    writer.compact("C", "c", ["c"], "t")
    writer.user("x", "c")

    assert writer.branch(tmp_path) == ["C", "t", "c", "x"]
    assert writer.history(tmp_path) == ["p", "a", "B", "s", "r", "c", "C", "t", "x"]


def test_what_was_left_in_an_earlier_window_is_no_history(tmp_path: Path) -> None:
    writer = compacted(["q", "b"])
    writer.user("r", "q")
    writer.compact("C", "r", None, "t")

    assert writer.history(tmp_path) == ["p", "a", "q", "B", "s", "r", "C", "t"]


def summed_up_from(writer: Writer, kept: list[str]) -> None:
    """Let the person sum up what came behind rows, and go on."""
    writer.compact("B", kept[-1], kept, "s", anchor="B")
    writer.user("x", "s")


def test_what_was_summed_up_from_a_place_on_is_history(tmp_path: Path) -> None:
    writer = two_calls(turn())
    writer.result("r2", "c2")
    writer.result("r1", "c1")
    writer.system("d", "r1")
    summed_up_from(writer, ["p", "a"])
    before = [row["uuid"].removeprefix("uuid-") for row in writer.rows]

    assert writer.branch(tmp_path) == ["B", "p", "a", "s", "x"]
    assert writer.history(tmp_path) == before
    writer.compact("C", "x", ["x"], "t")
    assert writer.branch(tmp_path) == ["C", "t", "x"]
    assert writer.history(tmp_path) == [*before, "C", "t"]


def test_who_went_back_to_what_was_kept_left_what_was_summed_up_from_there_on(
    tmp_path: Path,
) -> None:
    writer = turn()
    writer.user("q", "a")
    writer.text("b", "q", "m2")
    summed_up_from(writer, ["p", "a"])
    writer.checkpoint("p", explicit=True)

    assert writer.history(tmp_path) == ["p", "B"]


def test_what_was_left_before_summing_up_from_a_place_on_is_no_history(tmp_path: Path) -> None:
    writer = two_branches()
    writer.checkpoint("b", explicit=True)
    summed_up_from(writer, ["p", "a", "q", "b"])

    assert writer.history(tmp_path) == ["p", "a", "q", "b", "B", "s", "x"]


# -- odd trees -----------------------------------------------------------------


def test_a_row_whose_parent_is_nowhere_hangs_under_the_one_before_it(tmp_path: Path) -> None:
    writer = two_branches()
    writer.user("x", "gone")

    assert writer.branch(tmp_path) == ["p", "a", "r", "c", "x"]


def test_a_boundary_whose_earlier_row_is_nowhere_goes_on_with_the_one_before_it(
    tmp_path: Path,
) -> None:
    writer = turn()
    writer.compact("B", "gone", None, "s")

    assert writer.history(tmp_path) == ["p", "a", "B", "s"]


def test_a_child_may_stand_before_its_parent(tmp_path: Path) -> None:
    writer = turn()
    writer.text("b", "q", "m2")
    writer.user("q", "a")
    writer.user("r", "b")

    assert writer.branch(tmp_path) == ["p", "a", "q", "b", "r"]
    assert writer.history(tmp_path) == ["p", "a", "b", "q", "r"]


def test_a_cycle_is_walked_once(tmp_path: Path) -> None:
    writer = Writer()
    writer.user("p", "b")
    writer.text("a", "p", "m1")
    writer.text("b", "a", "m2")
    writer.user("self", "self")

    assert set(writer.branch(tmp_path)) == {"p", "a", "b", "self"}


def test_rows_of_an_older_versions_types_pass_links_on(tmp_path: Path) -> None:
    writer = turn()
    writer.add("progress", "g", "a")
    writer.user("q", "g")

    assert writer.branch(tmp_path) == ["p", "a", "q"]


def test_a_repeated_row_is_on_the_branch_once(tmp_path: Path) -> None:
    writer = turn()
    writer.user("q", "a")
    writer.rows += writer.rows[1:]
    writer.compact("B", "q", None, "s")
    writer.user("x", "s")
    made = writer.transcript(tmp_path)

    assert writer.names(made, host=False) == ["p", "a", "q", "B", "s", "x"]
    assert list(made.projection.branch.seqs) == [1, 2, 3, 6, 7, 8]


def test_a_subagents_rows_in_a_main_file_have_no_seqs(tmp_path: Path) -> None:
    writer = turn()
    writer.user("side", "a", isSidechain=True, agentId="x")
    writer.user("q", "a")
    made = writer.transcript(tmp_path)

    assert writer.names(made, host=False) == ["p", "a", "q"]
    assert made.projection.last_seq == 3


def test_only_attachments_are_a_history_and_no_branch_of_speakers(tmp_path: Path) -> None:
    writer = Writer()
    writer.hook("h1", None)
    writer.hook("h2", "h1")

    assert writer.history(tmp_path) == ["h1", "h2"]
