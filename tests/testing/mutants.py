"""The example host with one answer changed each: what the kit must not pass."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from broken import Host, Living, reading
from logbook import plugin
from logbook.session import Voyage, open_logbook

from hindnote.hosting import (
    Ancestor,
    Branch,
    HostCall,
    HostIdentity,
    Refused,
    SlotFacts,
    SlotKind,
    instant,
)

NAN = float("nan")


# -- one thing of a projection changed -----------------------------------------


def altered(change: Callable[[Voyage], Any], **answers: Callable[..., Any]) -> Host:
    """A host whose decoded sessions are changed; the same one for the same state."""
    known: dict[int, tuple[Voyage, Any]] = {}

    def opened(file: Path) -> Any:
        voyage = open_logbook(file)
        if voyage is None:
            return None
        if id(voyage) not in known:
            known[id(voyage)] = (voyage, change(voyage))
        return known[id(voyage)][1]

    return Host(open=opened, **answers)


def fields(**changes: Callable[[Voyage], Any]) -> Host:
    """A host some of whose projections' attributes are others."""
    return altered(
        lambda voyage: replace(voyage, **{name: make(voyage) for name, make in changes.items()})
    )


def branch(**changes: Callable[[Branch], Any]) -> Host:
    """A host some of whose branches' attributes are others."""

    def changed(voyage: Voyage) -> Voyage:
        made = {name: make(voyage.branch) for name, make in changes.items()}
        return replace(voyage, branch=msgspec.structs.replace(voyage.branch, **made))

    return altered(changed)


def facts(change: Callable[[SlotFacts], dict[str, Any]]) -> Host:
    """A host some of whose slots' facts are others."""

    def changed(voyage: Voyage) -> Voyage:
        slots = [msgspec.structs.replace(slot, **change(slot)) for slot in voyage.slots]
        return replace(voyage, slots=slots)

    return altered(changed)


def arguments(change: Callable[[dict[str, Any]], str]) -> Host:
    """A host that prints the input of calls in another way."""
    return facts(
        lambda slot: (
            {} if slot.arguments is None else {"arguments": change(json.loads(slot.arguments))}
        )
    )


def changing(**changes: Callable[[Any], Any]) -> Callable[[HostCall], list[Any]]:
    """The example's catalogue, some of whose entries' fields are others."""
    return lambda call: [
        entry.model_copy(update={name: make(entry) for name, make in changes.items()})
        for entry in plugin.host_sessions(call)
    ]


def catalogue(change: Callable[[list[Any]], list[Any]]) -> Host:
    """A host whose catalogue is changed."""
    return Host(sessions=lambda call: change(list(plugin.host_sessions(call))))


def entries(**changes: Callable[[Any], Any]) -> Host:
    """A host some of whose entries' fields are others."""
    return Host(sessions=changing(**changes))


def moved(step: int) -> Callable[[Voyage], tuple[int, ...]]:
    return lambda voyage: (1, *(seq + step for seq in voyage.windows[1:]))


def by_seq(known: str) -> Callable[[Branch], dict[int, str]]:
    return lambda old: {old.seqs[at]: name for at, name in getattr(old, known).items()}


# -- a decoder with one thing wrong --------------------------------------------


class KeepsItsLineage(Living):
    def _undo(self) -> None:
        lineage = self._branch.lineage
        super()._undo()
        self._branch.lineage = lineage


class NeverUndoes(Living):
    def _undo(self) -> None:
        pass


class GivesSeqsAgain(Living):
    def _undo(self) -> None:
        super()._undo()
        del self._slots[len(self._branch.seqs) :]


class CountsAnswersOfAllBranches(Living):
    def _undo(self) -> None:
        answers = self._answers
        super()._undo()
        self._answers = answers


class KeepsLeftWindows(Living):
    def _undo(self) -> None:
        windows = self._windows
        super()._undo()
        self._windows = windows


class CutsTooMuch(Living):
    def _undo(self) -> None:
        super()._undo()
        super()._undo()


class ClosesWithResults(Living):
    def _slot(self, *args: Any, **options: Any) -> None:
        super()._slot(*args, **{**options, "closing": True})


class ClosesWithPersonsAlone(Living):
    def _slot(self, kind: SlotKind, *args: Any, **options: Any) -> None:
        super()._slot(kind, *args, **{**options, "closing": kind is SlotKind.USER})


class ClosesWithTextsAlone(Living):
    def _slot(self, kind: SlotKind, *args: Any, **options: Any) -> None:
        said = kind in (SlotKind.USER, SlotKind.ASSISTANT, SlotKind.CONTEXT)
        super()._slot(kind, *args, **{**options, "closing": said})


class CountsAnswersAnew(Living):
    """It forgets how many answers there were each time that it reads on."""

    def extend(self) -> None:
        self._answers = 0
        super().extend()


class BeginsAWindowWithEachReading(Living):
    def extend(self) -> None:
        super().extend()
        if len(self._slots) > 1:
            self._windows = tuple(sorted({*self._windows, len(self._slots)}))


class DropsNeighbors(Living):
    """It keeps one call of each answer."""

    def _answer(self, row: dict[str, Any], at: str | None) -> None:
        super()._answer({**row, "calls": (row.get("calls") or [])[:1]}, at)


class TrustsItsRows(Living):
    def _take(self, row: Any) -> None:
        if isinstance(row, dict) and "person" in row:
            row["person"].strip()
        super()._take(row)


class GivesUpAtOnce(Living):
    def _take(self, row: Any) -> None:
        before = len(self._damaged)
        try:
            super()._take(row)
        except Exception as error:
            raise Refused("unreadable_session", str(error)) from error
        assert len(self._damaged) == before


class CountsDamageTwice(Living):
    @property
    def damaged(self) -> Any:
        return self._damaged * 2


class Scans(Living):
    """It offers its lines to a search, all of them but the one that was asked for."""

    added_words = ()

    def raw(self, seq: int) -> Iterator[bytes]:
        yield b"{}"


def along(kind: type[Living]) -> Host:
    """A host that goes on reading where it was, with a decoder."""
    known: dict[Path, Living] = {}

    def opened(file: Path) -> Any:
        from hindnote.hosting import LineFile

        if file not in known:
            known[file] = kind(LineFile(file))
        else:
            known[file].extend()
        return known[file].voyage

    return Host(open=opened)


# -- identities ----------------------------------------------------------------


def inheriting(change: Callable[[tuple[Ancestor, ...]], Any]) -> Host:
    """A host whose identities name other ancestors."""

    def identity(call: HostCall) -> HostIdentity | None:
        found = plugin.host_identity(call)
        return found and found.model_copy(update={"ancestors": change(found.ancestors)})

    return Host(identity=identity)


def of_a_mate(call: HostCall) -> HostIdentity:
    known = plugin.host_identity(call)
    named = known.session_id if call.agent_id is None else f"{known.session_id}/{call.agent_id}"
    return known.model_copy(update={"session_id": named})


def by_the_clock(call: HostCall) -> HostIdentity:
    from broken import count

    return plugin.host_identity(call).model_copy(update={"session_id": f"s{next(count)}"})


SPINE = "spine_is_parallel_and_ascending"
FACTS = "facts_answer_for_every_slot"
WINDOW = "window_starts_at_its_first_slot"
UNDO = "rolled_back_turns_leave_the_branch"
SAYS = "catalogue_says_what_the_session_says"
INHERITS = "fork_inherits_from_its_ancestors"

MUTANTS: dict[str, tuple[str, Host, str]] = {
    # What a branch says of time.
    "times an hour late": (
        FACTS,
        branch(times=lambda old: array("d", [at + 3600 for at in old.times])),
        "fill `times` with instant",
    ),
    "times of the slot before": (
        FACTS,
        branch(times=lambda old: array("d", [NAN, *old.times[:-1]])),
        "fill `times` with instant",
    ),
    "times in milliseconds": (
        FACTS,
        branch(times=lambda old: array("d", [at * 1000 for at in old.times])),
        "fill `times` with instant",
    ),
    "times that are zero": (
        FACTS,
        branch(times=lambda old: array("d", bytes(8 * len(old.times)))),
        "fill `times` with instant",
    ),
    "times that are missing though recorded": (
        FACTS,
        branch(times=lambda old: array("d", [NAN for _ in old.times])),
        "fill `times` with instant",
    ),
    "a time that is a word": (
        FACTS,
        facts(lambda slot: {"created_at": "yesterday"}),
        "is no ISO 8601 time",
    ),
    "the newest slot first": (
        SPINE,
        altered(
            lambda voyage: replace(
                voyage,
                slots=[
                    msgspec.structs.replace(slot, created_at=f"20{60 - at}-03-01T00:00:00Z")
                    for at, slot in enumerate(voyage.slots)
                ],
                branch=msgspec.structs.replace(
                    voyage.branch,
                    times=array(
                        "d",
                        [
                            instant(f"20{60 - seq + 1}-03-01T00:00:00Z")
                            for seq in voyage.branch.seqs
                        ],
                    ),
                ),
            )
        ),
        "before a slot above it",
    ),
    # Tools.
    "a tool of another name": (
        FACTS,
        branch(tools=lambda old: dict.fromkeys(old.tools, "wrench")),
        "is of the tool 'wrench'",
    ),
    "tools of the call before": (
        FACTS,
        branch(
            tools=lambda old: dict(
                zip(old.tools, [*list(old.tools.values())[1:], "last"], strict=True)
            )
        ),
        "in `tools`",
    ),
    "tools by seq": (SPINE, branch(tools=by_seq("tools")), "in `tools`, and of"),
    "a tool of what a person said": (
        SPINE,
        branch(tools=lambda old: {0: "shell", **old.tools}),
        "tools names position 0",
    ),
    "calls without a name": (
        FACTS,
        altered(
            lambda voyage: replace(
                voyage,
                slots=[msgspec.structs.replace(slot, tool=None) for slot in voyage.slots],
                branch=msgspec.structs.replace(voyage.branch, tools={}),
            )
        ),
        "has no tool name",
    ),
    # Windows.
    "no window behind a compaction": (WINDOW, fields(windows=lambda voyage: (1,)), "not [1, "),
    "a window one slot late": (WINDOW, fields(windows=moved(1)), "the windows are [1, "),
    "a window one slot early": (WINDOW, fields(windows=moved(-1)), "the windows are [1, "),
    "a window behind the end": (
        WINDOW,
        fields(windows=lambda voyage: (1, voyage.last_seq + 1)),
        "the windows are [1, ",
    ),
    "a window that was taken back": (UNDO, reading(KeepsLeftWindows), "the branch has no seq"),
    "a window for each reading": (
        "reading_along_is_reading_at_once",
        along(BeginsAWindowWithEachReading),
        "and read at once",
    ),
    # What closes.
    "results that close": (
        "result_closes_no_other_call",
        reading(ClosesWithResults),
        "its neighbor may run",
    ),
    "persons alone close": (
        "result_closes_no_other_call",
        reading(ClosesWithPersonsAlone),
        "an answer is `closing`",
    ),
    "texts alone close": (
        "result_closes_no_other_call",
        reading(ClosesWithTextsAlone),
        "one of calls alone",
    ),
    "results that close, by themselves": (SPINE, reading(ClosesWithResults), "is `closing`"),
    # Branches.
    "a lineage kept across a rollback": (UNDO, along(KeepsItsLineage), "share a `lineage`"),
    "turns that cannot be taken back": (UNDO, reading(NeverUndoes), "leaves out what was taken"),
    "seqs that are given again": (UNDO, along(GivesSeqsAgain), "last_seq fell"),
    "a rollback that takes more": (UNDO, reading(CutsTooMuch), "after a rollback"),
    "answers counted on all branches": (
        UNDO,
        reading(CountsAnswersOfAllBranches),
        "number the answers from 1",
    ),
    "answers counted anew": (
        "reading_along_is_reading_at_once",
        along(CountsAnswersAnew),
        "the branch has other answers",
    ),
    # Answers and ids.
    "answers without a number": (
        SPINE,
        branch(answers=lambda old: array("q", bytes(8 * len(old.answers)))),
        "is of an answer of the model",
    ),
    "a number on what a person said": (
        SPINE,
        branch(answers=lambda old: array("q", [max(at, 1) for at in old.answers])),
        "is of no answer of the model",
    ),
    "answers numbered in tens": (
        SPINE,
        branch(answers=lambda old: array("q", [at * 10 for at in old.answers])),
        "number the answers from 1",
    ),
    "call ids by seq": (SPINE, branch(call_ids=by_seq("call_ids")), "not seqs"),
    "an id on what a person said": (
        SPINE,
        branch(call_ids=lambda old: {0: "call-0", **old.call_ids}),
        "call_ids names position 0",
    ),
    "an aborted call that is nowhere": (
        SPINE,
        branch(aborted=lambda old: {999}),
        "aborted names the seq 999",
    ),
    "a last seq that is too small": (SPINE, fields(last_seq=lambda voyage: 2), "but last_seq is 2"),
    "one call of each answer": (
        "calls_pair_with_their_results",
        reading(DropsNeighbors),
        "number the answers",
    ),
    # Arguments and texts.
    "arguments in another order": (
        "arguments_are_as_recorded",
        arguments(lambda given: json.dumps(given, sort_keys=True)),
        "keep the order",
    ),
    "arguments through floats": (
        "arguments_are_as_recorded",
        arguments(
            lambda given: json.dumps(
                {k: float(v) if type(v) is int else v for k, v in given.items()}
            )
        ),
        "the digits of the numbers",
    ),
    "arguments without what is null": (
        "arguments_are_as_recorded",
        arguments(
            lambda given: json.dumps(
                {
                    k: {i: j for i, j in v.items() if j is not None} if isinstance(v, dict) else v
                    for k, v in given.items()
                }
            )
        ),
        "keep the order",
    ),
    "arguments as Python prints them": (FACTS, arguments(repr), "is no JSON object"),
    "arguments in a list": (FACTS, arguments(lambda given: json.dumps([given])), "no JSON object"),
    "outputs without their ends": (
        "calls_pair_with_their_results",
        facts(lambda slot: {"text": slot.text.rstrip()}),
        "does not end with its output",
    ),
    "results without an outcome": (
        "calls_pair_with_their_results",
        facts(lambda slot: {"failed": None}),
        "`failed` on the result",
    ),
    "failures and successes exchanged": (
        "calls_pair_with_their_results",
        facts(lambda slot: {"failed": None if slot.failed is None else not slot.failed}),
        "`failed` on the result",
    ),
    "a lone surrogate": (
        FACTS,
        facts(lambda slot: {"text": f"{slot.text}\ud800"}),
        "lone surrogate",
    ),
    # The catalogue.
    "the oldest first": (
        "catalogue_is_newest_first",
        catalogue(lambda listed: listed[::-1]),
        "newest first",
    ),
    "by name": (
        "catalogue_is_newest_first",
        catalogue(lambda listed: sorted(listed, key=lambda entry: entry.id)),
        "newest first",
    ),
    "sizes that are zero": (SAYS, entries(size=lambda entry: 0), "is listed with 0 bytes"),
    "sizes off by one": (SAYS, entries(size=lambda entry: entry.size + 1), "bytes, and its file"),
    "modified never": (SAYS, entries(modified=lambda entry: 0.0), "is listed as modified at 0.0"),
    "its own parent": (
        SAYS,
        altered(
            lambda voyage: replace(
                voyage,
                header=msgspec.structs.replace(voyage.header, parent=voyage.header.session_id),
            ),
            sessions=changing(parent=lambda entry: entry.id),
        ),
        "is its own parent",
    ),
    "its own parent in the catalogue": (
        SAYS,
        entries(parent=lambda entry: entry.id),
        "with parent 'voyage-1'",
    ),
    "a directory that was lost": (SAYS, entries(cwd=lambda entry: None), "with cwd None"),
    "a name that nobody gave": (SAYS, entries(name=lambda entry: "ship"), "with name 'ship'"),
    "a prompt of two lines": (SAYS, entries(prompt=lambda entry: "a\nb"), "give its first words"),
    "a prompt that nobody wrote": (
        SAYS,
        entries(prompt=lambda entry: "Land ahoy!"),
        "stands in no event of a person",
    ),
    "added words that are not told": (
        SAYS,
        altered(
            lambda voyage: replace(
                voyage,
                slots=[
                    msgspec.structs.replace(slot, text=f"{slot.text} [painting]")
                    for slot in voyage.slots
                ],
            ),
            sessions=changing(added_words=lambda entry: ("image",)),
        ),
        "pass over the session",
    ),
    "a fork without a parent": (
        "fork_names_what_it_came_from",
        entries(parent=lambda entry: None),
        "without the fork",
    ),
    "a fork that is not listed": (
        "fork_names_what_it_came_from",
        catalogue(lambda listed: [entry for entry in listed if entry.parent is None]),
        "without the fork",
    ),
    "a fork that forgets what it came from": (
        "fork_names_what_it_came_from",
        altered(
            lambda voyage: replace(
                voyage, header=msgspec.structs.replace(voyage.header, parent=None)
            )
        ),
        "names None as its parent",
    ),
    "a fork that inherits nothing": (
        INHERITS,
        inheriting(lambda found: ()),
        "names the ancestors []",
    ),
    "a fork that knows its parent alone": (
        INHERITS,
        inheriting(lambda found: found[:1]),
        "names the ancestors ['voyage-2']",
    ),
    "ancestors that begin with the oldest": (
        INHERITS,
        inheriting(lambda found: found[::-1]),
        "the nearest first",
    ),
    "a session that is a fork of nothing": (
        INHERITS,
        inheriting(lambda found: found or (Ancestor(session_id="voyage-0"),)),
        "is no fork",
    ),
    "a fork that was made in milliseconds": (
        INHERITS,
        inheriting(lambda found: tuple(one.model_copy(update={"forked": 1.8e12}) for one in found)),
        "give seconds since the epoch",
    ),
    "a subagent that is not listed": (
        "subagent_has_a_session_of_its_own",
        catalogue(lambda listed: [entry for entry in listed if "/" not in entry.id]),
        "without the subagent",
    ),
    "a subagent with a notebook of its own": (
        "subagent_has_a_session_of_its_own",
        Host(identity=of_a_mate),
        "shares the notebook",
    ),
    "a subagent that reads its main session": (
        "subagent_has_a_session_of_its_own",
        Host(main=lambda call: None),
        "return the subagent's own session",
    ),
    # Rows that are not as they should be.
    "a decoder that trusts its rows": (
        "oddly_shaped_row_crashes_nothing",
        reading(TrustsItsRows),
        "check what a row holds",
    ),
    "a decoder that gives up": (
        "oddly_shaped_row_crashes_nothing",
        reading(GivesUpAtOnce),
        "list it in `damaged`",
    ),
    "damage that counts twice": (
        "damaged_record_costs_only_itself",
        reading(CountsDamageTwice),
        "was reported as 2",
    ),
    "lines that hold nothing": (SPINE, reading(Scans), "a search would miss it"),
    "an identity by the clock": (
        "identity_names_host_and_session",
        Host(identity=by_the_clock),
        "derive it from the call alone",
    ),
}
