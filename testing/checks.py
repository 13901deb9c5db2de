"""The checks, in the order in which a call meets what they look at.

Each is a function of a bench, fails with an ``AssertionError`` whose message says
how to mend the plugin, and needs nothing that another check left behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES, utf8_size
from hindnote.core.errors import HostFailure
from hindnote.core.history.projection import SlotKind
from hindnote.core.history.times import instant
from hindnote.core.plugins.models import HostCall, SessionEntry
from hindnote.core.text import clean
from hindnote.core.tools.outcome import Refused
from hindnote.testing.bench import Bench
from hindnote.testing.turns import OPENING, PARALLEL, PENDING, REUSED, Answer, Compacted, Person

Check: TypeAlias = Callable[[Bench], None]


# -- once for every call -------------------------------------------------------


def base_cwd_is_steady(bench: Bench) -> None:
    """The base directory exists and is the same when asked twice."""
    first, second = bench.hosts.base_cwd(bench.call), bench.hosts.base_cwd(bench.call)
    assert first == second, (
        f"host_base_cwd answered {first} and then {second} for one call; "
        "derive it from the call alone, not from the process's directory or a counter"
    )


def identity_names_host_and_session(bench: Bench) -> None:
    """The identity is the plugin's own, steady, and names the session that it projects."""
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
    """A session in which nothing was said yet has no event, and is no error."""
    found = bench.hosts.current(bench.call)
    assert found is None or not found.branch.seqs, (
        "a session without any turn has slots; allocate a seq only for what was said or run"
    )


def spine_is_parallel_and_ascending(bench: Bench) -> None:
    """The branch's arrays belong together, and its seqs ascend within the session."""
    bench.append(OPENING, PARALLEL)
    projection = bench.projection()
    branch = projection.branch
    seqs = list(branch.seqs)
    assert seqs == sorted(set(seqs)), f"the branch's seqs do not ascend: {seqs}"
    assert seqs, "the branch is empty although turns were appended"
    assert seqs[0] >= 1, f"seqs start at 1; the branch has {seqs[0]}"
    assert seqs[-1] <= projection.last_seq, (
        f"the branch has seq {seqs[-1]}, but last_seq is {projection.last_seq}"
    )
    windows = list(projection.windows)
    assert windows[:1] == [1], f"the first window starts at seq 1; windows is {windows}"
    assert windows == sorted(set(windows)), f"windows do not ascend: {windows}"
    allowed = {SlotKind.CALL, SlotKind.RESULT}
    strays = [p for p in branch.call_ids if branch.kinds[p] not in allowed]
    assert not strays, f"call_ids names positions that are neither call nor result: {strays}"
    assert branch is bench.projection().branch, (
        "branch is another object each time; keep it as long as the session did not change"
    )


def facts_answer_for_every_slot(bench: Bench) -> None:
    """Every slot's facts can be had, and are clean."""
    bench.append(OPENING, PARALLEL)
    projection = bench.projection()
    for position, seq in enumerate(projection.branch.seqs):
        facts = projection.facts(seq)
        kind = SlotKind(projection.branch.kinds[position])
        for text in (facts.text, facts.tool or "", facts.arguments or ""):
            assert text == clean(text), f"seq {seq} holds a lone surrogate; replace it by U+FFFD"
        if facts.created_at is not None:
            assert instant(facts.created_at) == instant(facts.created_at), (
                f"seq {seq}: created_at {facts.created_at!r} is no ISO 8601 time; "
                "give None when nothing usable was recorded"
            )
        if kind is SlotKind.CALL:
            assert facts.tool, f"the call at seq {seq} has no tool name"
            assert facts.arguments is not None, f"the call at seq {seq} has no arguments"
            assert _is_object(facts.arguments), (
                f"seq {seq}: arguments {facts.arguments!r} is no JSON object; print the call's "
                "input as the host recorded it"
            )
            assert "\n" not in facts.arguments, (
                f"seq {seq}: arguments take more than one line; print them as compact JSON"
            )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def conversation_comes_back_in_order(bench: Bench) -> None:
    """What was said is there once, word for word, in order."""
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
    """A call without a result is pending, and unanswered once the conversation went on."""
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
    """What has a seq keeps it, however the session grows."""
    bench.append(OPENING, PENDING)
    before = {row["seq"]: row["role"] for row in bench.rows()}
    branch = bench.projection().branch
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


def compaction_leaves_history_readable(bench: Bench) -> None:
    """What went before a compaction is still history."""
    bench.append(OPENING, [Compacted("They counted lines.")], PARALLEL)
    said = [bench.document(row["seq"]) for row in bench.rows() if row["role"] == "user"]
    wanted = [turn.text for turn in (*OPENING, *PARALLEL) if isinstance(turn, Person)]
    assert said == wanted, (
        f"across a compaction the person's turns came back as {said}, not as {wanted}; "
        "history goes on behind a compaction"
    )


def damaged_record_costs_only_itself(bench: Bench) -> None:
    """A record that cannot be read is counted, and everything else is served."""
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
    """A file of something else is a refusal with a reason, never a crash or a guess."""
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


def _catalogue(bench: Bench, call: HostCall) -> list[SessionEntry]:
    return list(bench.hosts.sessions(call, bench.writer.slug))


def catalogue_lists_what_can_be_opened(bench: Bench) -> None:
    """Sessions are listed once each, and what is listed opens as what it is called."""
    bench.append(OPENING)
    listed = _catalogue(bench, bench.call)
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
    """What the catalogue tells of a session is what the session tells of itself."""
    bench.append(OPENING)
    for entry in _catalogue(bench, bench.call):
        opened = bench.hosts.open(bench.call, entry)
        if opened is None:
            continue
        for fact in ("started", "cwd", "parent", "name"):
            listed, recorded = getattr(entry, fact), getattr(opened.header, fact)
            assert listed == recorded, (
                f"the session {entry.id!r} is listed with {fact} {listed!r}, and its header says "
                f"{recorded!r}; let one function read them for both, since a search leaves out "
                "sessions by what the catalogue says"
            )


def catalogue_answers_a_call_of_another_host(bench: Bench) -> None:
    """A call from elsewhere may ask for this host's sessions too."""
    bench.append(OPENING)
    assert bench.call.host == bench.writer.slug, "begin() must make calls of the host itself"
    try:
        _catalogue(bench, bench.elsewhere())
    except HostFailure as failure:
        raise AssertionError(
            f"host_sessions cannot be asked by a call of another host ({failure}); "
            "fall back on the places where your host keeps its sessions by default"
        ) from failure


# -- what is delivered ---------------------------------------------------------


def decoration_is_steady_and_small(bench: Bench) -> None:
    """The decoration is the same every time, and leaves room for what it decorates."""
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
    """Both forms of an answer fit, however much was said."""
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
    """Return a check that fails, and does not crash, when the core refuses a plugin's answer."""

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
    running_call_is_pending,
    appending_renumbers_nothing,
    compaction_leaves_history_readable,
    damaged_record_costs_only_itself,
    file_that_is_no_session_is_refused,
    catalogue_lists_what_can_be_opened,
    catalogue_says_what_the_session_says,
    catalogue_answers_a_call_of_another_host,
    decoration_is_steady_and_small,
    results_fit_the_budget,
)

CHECKS: tuple[Check, ...] = tuple(map(_asserting, _ALL))
"""All of them."""
