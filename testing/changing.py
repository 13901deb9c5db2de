"""Checks of a session that changes other than by growing: windows, branches, forks, subagents."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from time import time
from typing import Any

from hindnote.core.errors import HostFailure, Refused
from hindnote.core.history.projection import SlotKind
from hindnote.testing.bench import Bench, Delegating, Forking, Rewinding
from hindnote.testing.growth import Held, of_growth, of_rebuilding
from hindnote.testing.invariants import of_session
from hindnote.testing.turns import (
    ARGUMENTS,
    BESIDE,
    OPENING,
    PARALLEL,
    PENDING,
    Answer,
    Compacted,
    Person,
    ToolCall,
)

DAY = 86_400.0

_ODD: tuple[Any, ...] = (None, 7, "x", [], {}, [[1]])


def no_problem(problems: Iterable[str]) -> None:
    """Fail with the first problem, if there is one."""
    first = next(iter(problems), None)
    assert first is None, first


# -- slots ---------------------------------------------------------------------


def arguments_are_as_recorded(bench: Bench) -> None:
    """A call's input keeps the order of its keys and the digits of its numbers."""
    bench.append([Person("Write."), Answer("", (ToolCall("call-1", "write", ARGUMENTS),))])
    projection = bench.projection()
    calls = [
        seq
        for seq, kind in zip(projection.branch.seqs, projection.branch.kinds, strict=True)
        if kind == SlotKind.CALL
    ]
    assert len(calls) == 1, f"one call came back as the {len(calls)} slots {calls}"
    found = projection.facts(calls[0]).arguments or ""
    assert _in_order(found) == _in_order(json.dumps(ARGUMENTS)), (
        f"a call's arguments came back as {found}, not as {json.dumps(ARGUMENTS)}; keep the order "
        "of the keys and the digits of the numbers as the host recorded them"
    )


def _in_order(text: str) -> Any:
    return json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str)


def result_closes_no_other_call(bench: Bench) -> None:
    """A call next to one that has its result is still running, until the agent continues."""
    bench.append(OPENING, BESIDE)
    _statuses(bench, ["ok", "ok", "pending"], "a result is not `closing`: its neighbor may run")
    bench.append([Answer("", (ToolCall("call-8", "shell", {"n": 8}),))])
    _statuses(
        bench,
        ["ok", "ok", "unanswered", "pending"],
        "an answer is `closing`, also one of calls alone",
    )


def _statuses(bench: Bench, wanted: list[str], how: str) -> None:
    found = [row["tool_status"] for row in bench.rows() if row["role"] == "tool"]
    assert found == wanted, f"the calls have the statuses {found}, not {wanted}; {how}"


# -- a session that changes ----------------------------------------------------


def window_starts_at_its_first_slot(bench: Bench) -> None:
    """Each compaction begins a window, at the first slot after it."""
    bench.append(OPENING)
    last, size = bench.projection().last_seq, _size(bench)
    bench.append([Compacted("They counted lines.")])
    if (bench.projection().last_seq, _size(bench)) == (last, size):
        # The host never compacts, so its writer ignored the turn.
        return
    bench.append(PARALLEL)
    projection = bench.projection()
    wanted = [1, next(seq for seq in projection.branch.seqs if seq > last)]
    assert list(projection.windows) == wanted, (
        f"after one compaction the windows are {list(projection.windows)}, not {wanted}; a window "
        "starts at the first slot behind the one before it"
    )


def _size(bench: Bench) -> int:
    file = bench.call.session_file
    return file.stat().st_size if file is not None and file.is_file() else -1


def reading_along_is_reading_at_once(bench: Bench) -> None:
    """A session read after each of its turns equals the one that is read only at the end."""
    turns = (*OPENING, *PARALLEL, Compacted("They counted lines."), *PENDING)
    held: Held | None = None
    for turn in turns:
        bench.append([turn])
        if held is not None:
            no_problem(of_growth(held, bench.projection()))
        held = Held(bench.projection())
    file = bench.call.session_file
    if file is None or not file.is_file():
        return
    copy = bench.folder / "copied" / file.name
    copy.parent.mkdir()
    shutil.copyfile(file, copy)
    fresh = bench.hosts.current(bench.call.model_copy(update={"session_file": copy}))
    if fresh is not None:
        no_problem(of_rebuilding(bench.projection(), fresh))


def rolled_back_turns_leave_the_branch(bench: Bench) -> None:
    """Rewound turns are no longer listed and keep their seqs; later turns get new seqs."""
    if not isinstance(bench.writer, Rewinding):
        return
    bench.append(OPENING, PARALLEL, [Compacted("They counted lines.")])
    held = Held(bench.projection())
    bench.writer.rewind(bench.call)
    bench.append([Person("Another way."), Answer("Yes.")])
    wanted = [OPENING[0], Person("Another way.")]
    found = bench.said()
    assert found == [turn.text for turn in wanted if isinstance(turn, Person)], (
        f"after a rollback the person's turns are {found}; the branch leads from the session's "
        "last entry to its first, and leaves out what was taken back"
    )
    after = bench.projection()
    no_problem(of_growth(held, after))
    no_problem(of_session(after))
    reused = [seq for seq in after.branch.seqs if held.last_seq >= seq and seq not in held.slots]
    assert not reused and after.branch.seqs[-1] > held.last_seq, (
        f"what was said after a rollback has seqs up to {after.branch.seqs[-1]}, though "
        f"{held.last_seq} were allocated; a seq that was taken back is not given again"
    )


def fork_names_what_it_came_from(bench: Bench) -> None:
    """A fork is a separate session, and names the one that it was made from."""
    if not isinstance(bench.writer, Forking):
        return
    bench.append(OPENING)
    session = bench.projection().header.session_id
    call = bench.writer.fork(bench.call)
    bench.writer.append(call, [Person("In the fork.")])
    header = bench.projection(call).header
    assert header.session_id != session, f"a fork of {session!r} has the same id"
    assert header.parent == session, (
        f"a fork of {session!r} names {header.parent!r} as its parent; the parent is the id of "
        "the session that it was made from"
    )
    listed = {entry.id: entry.parent for entry in bench.catalogue()}
    assert listed.get(header.session_id, "") == session, (
        f"host_sessions lists the sessions and parents {listed}, without the fork "
        f"{header.session_id!r} of {session!r}"
    )
    assert "In the fork." in bench.said(call), "what was said in a fork is not in it"
    assert "In the fork." not in bench.said(), (
        "what was said in a fork is also in the session that it was made from"
    )


def fork_inherits_from_its_ancestors(bench: Bench) -> None:
    """The identity of a fork names the sessions whose notes it inherits, nearest first."""
    if not isinstance(bench.writer, Forking):
        return
    bench.append(OPENING)
    session = bench.projection().header.session_id
    own = [one.session_id for one in bench.hosts.identity(bench.call).ancestors]
    assert not own, (
        f"the session {session!r} is no fork, and its identity names the ancestors {own}"
    )
    call, line = bench.call, [session]
    for words in ("In the fork.", "In the fork of the fork."):
        call = bench.writer.fork(call)
        bench.writer.append(call, [Person(words), Answer("Seen.")])
        found = bench.hosts.identity(call).ancestors
        named = [one.session_id for one in found]
        assert named == line, (
            f"the identity of a fork names the ancestors {named}, not {line}; give the sessions "
            "that it descends from, the nearest first"
        )
        late = [one.forked for one in found if one.forked and one.forked > time() + DAY]
        assert not late, (
            f"an ancestor is said to have been forked at {late[0]}; give seconds since the epoch, "
            "or None"
        )
        line = [bench.projection(call).header.session_id, *line]


def subagent_has_a_session_of_its_own(bench: Bench) -> None:
    """A subagent shares its session's notebook, and has its own history."""
    if not isinstance(bench.writer, Delegating):
        return
    bench.append(OPENING)
    call = bench.writer.delegate(bench.call)
    assert call.agent_id, "delegate() must return a call whose agent_id is set"
    bench.writer.append(call, [Person("Look at a.txt."), Answer("Seen.")])
    session = bench.projection().header.session_id
    shared = bench.hosts.identity(call).session_id
    assert shared == session, (
        f"a subagent of {session!r} has the identity of session {shared!r}; it shares the "
        "notebook of its main session"
    )
    header = bench.projection(call).header
    wanted = (f"{session}/{call.agent_id}", session)
    assert (header.session_id, header.parent) == wanted, (
        f"for a subagent's call the projection is {header.session_id!r}, of parent "
        f"{header.parent!r}, not {wanted}; return the subagent's own session"
    )
    listed = {entry.id: entry.parent for entry in bench.catalogue()}
    assert listed.get(header.session_id, "") == session, (
        f"host_sessions lists the sessions and parents {listed}, without the subagent "
        f"{header.session_id!r} of {session!r}"
    )
    assert bench.said(call) == ["Look at a.txt."], (
        f"a subagent's session holds {bench.said(call)}, not what it was asked alone"
    )
    assert "Look at a.txt." not in bench.said(), "a subagent's turns are also its main session's"


def oddly_shaped_row_crashes_nothing(bench: Bench) -> None:
    """A row of a known kind with values of wrong types is skipped, and never causes a crash."""
    bench.append(OPENING, PARALLEL)
    file = bench.call.session_file
    if file is None or not file.is_file():
        return
    rows = _rows(file.read_bytes())
    for row in [odd for known in rows for odd in _oddities(known)]:
        line = json.dumps(row, ensure_ascii=False)
        with file.open("a", encoding="utf-8") as out:
            out.write(line + "\n")
        try:
            no_problem(of_session(bench.projection(), ordered=False))
        except (HostFailure, Refused) as error:
            raise AssertionError(
                f"a row of an odd shape ends all reading of its session ({error}); check what "
                f"a row holds before using it, and list it in `damaged`: {line[:300]}"
            ) from error


def _rows(data: bytes) -> list[dict[str, Any]]:
    """Return the first row with each set of keys; empty when the file is not JSON Lines."""
    found: dict[frozenset[str], dict[str, Any]] = {}
    for line in data.splitlines()[1:]:
        try:
            row = json.loads(line)
        except ValueError:
            return []
        if isinstance(row, dict):
            found.setdefault(frozenset(row), row)
    return list(found.values())


def _oddities(value: Any) -> Iterator[Any]:
    """Yield copies of a value in which one part has another type."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from ({**value, key: odd} for odd in (*_ODD, *_oddities(part)))
    elif isinstance(value, list) and value:
        yield from ([odd, *value[1:]] for odd in (*_ODD, *_oddities(value[0])))


# -- the catalogue -------------------------------------------------------------


def catalogue_is_newest_first(bench: Bench) -> None:
    """The session that changed last is listed first, whatever its name."""
    bench.append(OPENING)
    other = bench.writer.begin(bench.folder)
    files = (bench.call.session_file, other.session_file)
    if None in files or files[0] == files[1]:
        return
    bench.writer.append(other, OPENING)
    for order in (files, files[::-1]):
        for age, file in enumerate(order):
            assert file is not None
            os.utime(file, (1_700_000_000 - 1000 * age,) * 2)
        listed = [entry.file for entry in bench.catalogue() if entry.file in files]
        if len(listed) == len(files):
            assert listed == list(order), (
                f"host_sessions lists {[file.name for file in listed]}, though the first of them "
                "changed before the second; list the newest first"
            )
