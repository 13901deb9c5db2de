"""The checks, in the order in which a call uses what they test.

Each is a function that takes a bench, raises an ``AssertionError`` whose message says how to fix
the plugin, and does not depend on other checks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES, utf8_size
from hindnote.core.errors import HostFailure, Refused
from hindnote.testing.bench import Bench
from hindnote.testing.changing import (
    arguments_are_as_recorded,
    catalogue_is_newest_first,
    fork_inherits_from_its_ancestors,
    fork_names_what_it_came_from,
    no_problem,
    oddly_shaped_row_crashes_nothing,
    reading_along_is_reading_at_once,
    result_closes_no_other_call,
    rolled_back_turns_leave_the_branch,
    subagent_has_a_session_of_its_own,
    window_starts_at_its_first_slot,
)
from hindnote.testing.growth import Held, of_growth
from hindnote.testing.invariants import of_entry, of_session
from hindnote.testing.turns import OPENING, PARALLEL, PENDING, REUSED, Answer, Compacted, Person

Check: TypeAlias = Callable[[Bench], None]


# -- in every call -------------------------------------------------------------


def base_cwd_is_steady(bench: Bench) -> None:
    """The base directory exists and is the same on a second call."""
    first, second = bench.hosts.base_cwd(bench.call), bench.hosts.base_cwd(bench.call)
    assert first == second, (
        f"host_base_cwd answered {first} and then {second} for one call; "
        "derive it from the call alone, not from the process's directory or a counter"
    )


def identity_names_host_and_session(bench: Bench) -> None:
    """The identity belongs to the plugin, does not change, and names the projection's session."""
    bench.append(OPENING)
    first, second = bench.hosts.identity(bench.call), bench.hosts.identity(bench.call)
    assert first == second, (
        f"host_identity answered {first} and then {second} for one call; "
        "derive it from the call alone"
    )
    header = bench.projection().header
    assert header.session_id == first.session_id, (
        f"host_identity names the session {first.session_id!r} and the projection's header "
        f"{header.session_id!r}; take both from the session's own record"
    )
    assert header.host == bench.writer.slug, (
        f"the projection's header names the host {header.host!r}, not {bench.writer.slug!r}"
    )


# -- the projection ------------------------------------------------------------


def session_without_turns_is_empty(bench: Bench) -> None:
    """A session without any turn has no events, and is not an error."""
    found = bench.hosts.current(bench.call)
    assert found is None or not found.branch.seqs, (
        "a session without any turn has slots; allocate a seq only for what was said or run"
    )


def spine_is_parallel_and_ascending(bench: Bench) -> None:
    """The branch's arrays have matching lengths, and its seqs ascend."""
    bench.append(OPENING, PARALLEL)
    projection = bench.projection()
    assert list(projection.branch.seqs), "the branch is empty although turns were appended"
    no_problem(of_session(projection))
    assert projection.branch is bench.projection().branch, (
        "branch is another object each time; keep it as long as the session did not change"
    )


def facts_answer_for_every_slot(bench: Bench) -> None:
    """The content of every slot can be read, is clean, and agrees with the branch's arrays."""
    bench.append(OPENING, PARALLEL, REUSED)
    no_problem(of_session(bench.projection()))


def conversation_comes_back_in_order(bench: Bench) -> None:
    """Each message appears once, unchanged and in order."""
    bench.append(OPENING, PARALLEL)
    said = [
        (row["role"], bench.document(row["seq"]))
        for row in bench.rows()
        if row["role"] in {"user", "assistant"}
    ]
    wanted = [
        ("user" if isinstance(turn, Person) else "assistant", turn.text)
        for turn in (*OPENING, *PARALLEL)
        if isinstance(turn, Person | Answer) and turn.text
    ]
    assert said == wanted, (
        f"the conversation came back as {said}, not as {wanted}; give each person's turn a USER "
        "slot and each answer with text one ASSISTANT slot, in append order"
    )


def calls_pair_with_their_results(bench: Bench) -> None:
    """A call and its result are one event, with the result's status and text."""
    bench.append(OPENING, PARALLEL, REUSED)
    runs = [row for row in bench.rows() if row["role"] == "tool"]
    found = [(row.get("tool"), row.get("tool_status")) for row in runs]
    wanted = [("shell", "ok"), ("shell", "ok"), ("read", "error"), ("shell", "ok")]
    assert found == wanted, (
        f"the calls came back as {found}, not as {wanted}; number the answers in `answers`, put "
        "the host's call id of call and result into `call_ids`, and `failed` on the result"
    )
    outputs = ("42 README.md\n", "7 a.txt\n", "no such file: b.txt", "43 README.md\n")
    for row, output in zip(runs, outputs, strict=True):
        document = bench.document(row["seq"])
        assert document.endswith(f"output:\n{output}"), (
            f"the event at seq {row['seq']} does not end with its output {output!r}: {document!r}"
        )


def running_call_is_pending(bench: Bench) -> None:
    """A call without a result is pending, and unanswered once the conversation has continued."""
    bench.append(OPENING, PENDING)
    status = bench.rows()[-1].get("tool_status")
    assert status == "pending", (
        f"a call that still runs has the status {status!r}; only slots of what was said "
        "afterwards are `closing`"
    )
    bench.append([Person("Never mind.")])
    status = [row for row in bench.rows() if row["role"] == "tool"][-1]["tool_status"]
    assert status == "unanswered", (
        f"a call that got no result before the person went on has the status {status!r}; "
        "a person's slot is `closing`"
    )


def appending_renumbers_nothing(bench: Bench) -> None:
    """Existing seqs do not change when the session grows."""
    bench.append(OPENING, PENDING)
    before = {row["seq"]: row["role"] for row in bench.rows()}
    state = Held(bench.projection())
    branch = state.branch
    held = list(branch.seqs)
    texts = {seq: bench.document(seq) for seq, role in before.items() if role != "tool"}
    bench.append([Person("Go on.")], PARALLEL)
    after = {row["seq"]: row["role"] for row in bench.rows()}
    assert list(branch.seqs) == held, (
        "an append changed the branch that a reader holds; make a new Branch for a new state"
    )
    kept = {seq: after.get(seq) for seq in before}
    assert kept == before, (
        f"after an append the events were renumbered, from {before} to {kept}; "
        "allocate seqs in append order, by an entry's kind alone"
    )
    changed = [seq for seq, text in texts.items() if bench.document(seq) != text]
    assert not changed, f"after an append the texts of the seqs {changed} changed"
    no_problem(of_growth(state, bench.projection()))


def compaction_leaves_history_readable(bench: Bench) -> None:
    """Everything before a compaction is still in the history."""
    bench.append(OPENING, [Compacted("They counted lines.")], PARALLEL)
    said = [bench.document(row["seq"]) for row in bench.rows() if row["role"] == "user"]
    wanted = [turn.text for turn in (*OPENING, *PARALLEL) if isinstance(turn, Person)]
    assert said == wanted, (
        f"across a compaction the person's turns came back as {said}, not as {wanted}; "
        "history goes on behind a compaction"
    )


def damaged_record_costs_only_itself(bench: Bench) -> None:
    """A record that cannot be decoded is counted, and everything else is readable."""
    bench.append(OPENING)
    if not bench.writer.damage(bench.call):
        return
    bench.append(PARALLEL)
    answer = bench.ask("history_list", {"limit": 200})
    assert answer.result.get("damaged_lines") == 1, (
        f"one damaged record was reported as {answer.result.get('damaged_lines')}; "
        "list it in the projection's `damaged`"
    )
    runs = [row for row in bench.rows() if row["role"] == "tool"]
    assert len(runs) == 3, (
        f"beside one damaged record {len(runs)} of 3 calls came back; skip that record alone, and "
        "hang what follows under the nearest readable entry before it"
    )


def file_that_is_no_session_is_refused(bench: Bench) -> None:
    """A file that is not a session is refused with a reason, without a crash or a guess."""
    bench.append(OPENING)
    if bench.call.session_file is None:
        return
    stray = bench.folder / "stray.txt"
    stray.write_bytes(b"\x00\xff just some file\n[1, 2]\n")
    call = bench.call.model_copy(update={"session_file": stray, "session_id": None})
    try:
        found = bench.hosts.current(call)
    except Refused:
        return
    except HostFailure as failure:
        raise AssertionError(
            f"a file that is no session is a failure ({failure}); "
            "raise Refused('unreadable_session', reason)"
        ) from failure
    assert found is None or not found.branch.seqs, (
        "a file that is no session came back with events; raise Refused('unreadable_session', …)"
    )


# -- the catalogue -------------------------------------------------------------


def catalogue_lists_what_can_be_opened(bench: Bench) -> None:
    """Each session is listed once, and opens as the session with the listed id."""
    bench.append(OPENING)
    listed = bench.catalogue()
    if not listed and not hasattr(bench.writer.plugin, "host_sessions"):
        return
    session = bench.hosts.identity(bench.call).session_id
    ids = [entry.id for entry in listed]
    assert session in ids, f"host_sessions lists {ids}, without the running session {session!r}"
    assert len(ids) == len(set(ids)), f"host_sessions lists a session twice: {ids}"
    for entry in listed:
        opened = bench.hosts.open(bench.call, entry)
        assert opened is not None, f"host_sessions lists {entry.id!r}, but it cannot be opened"
        assert opened.header.session_id == entry.id, (
            f"the session listed as {entry.id!r} calls itself {opened.header.session_id!r}; "
            "list a session under the id of its own record"
        )


def catalogue_says_what_the_session_says(bench: Bench) -> None:
    """The catalogue and the session itself agree on the session's facts."""
    bench.append(OPENING)
    for entry in bench.catalogue():
        opened = bench.hosts.open(bench.call, entry)
        if opened is None:
            continue
        no_problem(of_entry(entry, opened))


def catalogue_answers_a_call_of_another_host(bench: Bench) -> None:
    """A call of another host can list this host's sessions."""
    bench.append(OPENING)
    assert bench.call.host == bench.writer.slug, "begin() must make calls of the host itself"
    try:
        bench.catalogue(bench.elsewhere())
    except HostFailure as failure:
        raise AssertionError(
            f"host_sessions cannot be asked by a call of another host ({failure}); "
            "fall back on the places where your host keeps its sessions by default"
        ) from failure


# -- results -------------------------------------------------------------------


def decoration_is_steady_and_small(bench: Bench) -> None:
    """The decoration is constant, and small enough to leave space for the result."""
    for operation in ("history_list", "history_read"):
        first = bench.hosts.decoration(bench.call, operation)
        second = bench.hosts.decoration(bench.call, operation)
        assert first == second, (
            f"host_decoration({operation!r}) answered {first} and then {second}; it is pure text"
        )
        size = utf8_size(first.prefix) + utf8_size(first.suffix)
        assert size <= OUTPUT_BUDGET_BYTES // 4, (
            f"the decoration of {operation} takes {size} of the {OUTPUT_BUDGET_BYTES} bytes of an "
            "answer; a quarter is the most that leaves it useful"
        )


def results_fit_the_budget(bench: Bench) -> None:
    """Both forms of an answer fit into the budget, however long the messages are."""
    much = "naïve 你好 \u2028 " * 20_000
    bench.append(OPENING, [Person(much), Answer(much)] * 3)
    for operation, arguments in (
        ("history_list", {"limit": 200, "max_chars_per_item": 12_000}),
        ("history_read", {"seq": bench.projection().branch.seqs[-1], "limit_chars": 50_000}),
    ):
        answer = bench.ask(operation, arguments)
        assert not answer.is_error, (
            f"{operation} refuses long turns: {dict(answer.result)}; give the text as it was "
            "recorded, and let host_decoration leave room for it"
        )
        sizes = utf8_size(answer.text), utf8_size(answer.structured())
        assert max(sizes) <= OUTPUT_BUDGET_BYTES, (
            f"{operation} delivered {sizes} bytes of text and JSON, over {OUTPUT_BUDGET_BYTES}"
        )


def _asserting(check: Check) -> Check:
    """Return a check that fails instead of crashing when the core refuses a plugin's answer."""

    @wraps(check)
    def run(bench: Bench) -> None:
        try:
            check(bench)
        except HostFailure as failure:
            raise AssertionError(str(failure)) from failure

    return run


_ALL: tuple[Check, ...] = (
    base_cwd_is_steady,
    identity_names_host_and_session,
    session_without_turns_is_empty,
    spine_is_parallel_and_ascending,
    facts_answer_for_every_slot,
    conversation_comes_back_in_order,
    calls_pair_with_their_results,
    arguments_are_as_recorded,
    running_call_is_pending,
    result_closes_no_other_call,
    appending_renumbers_nothing,
    reading_along_is_reading_at_once,
    compaction_leaves_history_readable,
    window_starts_at_its_first_slot,
    rolled_back_turns_leave_the_branch,
    fork_names_what_it_came_from,
    fork_inherits_from_its_ancestors,
    subagent_has_a_session_of_its_own,
    damaged_record_costs_only_itself,
    oddly_shaped_row_crashes_nothing,
    file_that_is_no_session_is_refused,
    catalogue_lists_what_can_be_opened,
    catalogue_says_what_the_session_says,
    catalogue_is_newest_first,
    catalogue_answers_a_call_of_another_host,
    decoration_is_steady_and_small,
    results_fit_the_budget,
)

CHECKS: tuple[Check, ...] = tuple(map(_asserting, _ALL))
"""All checks."""
