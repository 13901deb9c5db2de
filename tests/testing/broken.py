"""The example host with one defect each: what every check of the kit is there to find."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from logbook import plugin
from logbook.session import Logbook, open_logbook
from logbook.testing import Writer

from hindnote.hosting import (
    Branch,
    Damage,
    Decoration,
    FileCache,
    HostCall,
    HostIdentity,
    LineFile,
    Projection,
    Refused,
    SessionEntry,
    SessionHeader,
    SlotFacts,
    SlotKind,
    hookimpl,
)

count = itertools.count(1)


class Host:
    """The example's plugin; an answer that is given takes the place of its own.

    Args:
        open: Returns the projection of a file.
        **answers: Functions by the hook's name, without ``host_``.
    """

    def __init__(
        self,
        open: Callable[[Path], Projection | None] = open_logbook,
        **answers: Callable[..., Any],
    ) -> None:
        self._open = open
        self._answers = answers

    def _answer(self, hook: str) -> Callable[..., Any]:
        return self._answers.get(hook, getattr(plugin, f"host_{hook}"))

    @hookimpl
    def host_base_cwd(self, call: HostCall) -> Path:
        return self._answer("base_cwd")(call)

    @hookimpl
    def host_identity(self, call: HostCall) -> HostIdentity:
        return self._answer("identity")(call)

    @hookimpl
    def host_projection(self, call: HostCall, session: SessionEntry | None) -> Projection | None:
        file = session.file if session else call.session_file
        if file and call.agent_id and not session and "main" not in self._answers:
            file = file.with_suffix(f".{call.agent_id}.log")
        return self._open(file) if file else None

    @hookimpl
    def host_sessions(self, call: HostCall) -> Iterable[SessionEntry]:
        return self._answer("sessions")(call)

    @hookimpl
    def host_decoration(self, operation: str) -> Decoration | None:
        return self._answer("decoration")(operation)


class BrokenWriter(Writer):
    """Writes logbooks for a host with a defect."""

    def __init__(self, host: Host) -> None:
        super().__init__()
        self.plugin = host


class Living(Logbook):
    """The example's decoder as its own projection, so that a defect is one method."""

    @property
    def header(self) -> SessionHeader | None:
        return self._header

    @property
    def branch(self) -> Branch:
        return self._branch

    @branch.setter
    def branch(self, branch: Branch) -> None:
        self._branch = branch

    @property
    def last_seq(self) -> int:
        return len(self._slots)

    @property
    def windows(self) -> tuple[int, ...]:
        return self._windows

    @property
    def damaged(self) -> tuple[Damage, ...]:
        return self._damaged

    def facts(self, seq: int) -> SlotFacts:
        return self._slots[seq - 1]


def reading(kind: type[Living]) -> Host:
    """A host that decodes its sessions with ``kind``, anew each time."""
    return Host(open=lambda file: kind(LineFile(file)))


# -- once for every call -------------------------------------------------------


def wandering(call: HostCall) -> Path:
    return call.cwd if next(count) % 2 else call.cwd.parent


def renamed(call: HostCall) -> HostIdentity:
    return HostIdentity(host=plugin.SLUG, session_id="another", agent="a", model="m")


# -- the projection ------------------------------------------------------------


class CountsItsHead(Living):
    def _take(self, row: dict[str, Any]) -> None:
        super()._take(row)
        if "logbook" in row:
            self._slot(SlotKind.CONTEXT, SlotFacts(text="a logbook"))


class LosesClosing(Living):
    def _slot(self, *args: Any, **options: Any) -> None:
        super()._slot(*args, **options)
        if len(self.branch.seqs) > 1:
            del self.branch.closing[1:]


class PrintsArgumentsInLines(Living):
    def facts(self, seq: int) -> SlotFacts:
        facts = super().facts(seq)
        if facts.arguments is None:
            return facts
        arguments = json.dumps(json.loads(facts.arguments), indent=1)
        return SlotFacts(facts.created_at, tool=facts.tool, arguments=arguments)


class GivesArgumentsAsObjects(Living):
    def facts(self, seq: int) -> SlotFacts:
        facts = super().facts(seq)
        if facts.arguments is None:
            return facts
        return SlotFacts(tool=facts.tool, arguments=json.loads(facts.arguments))


class Shouts(Living):
    def facts(self, seq: int) -> SlotFacts:
        facts = super().facts(seq)
        return SlotFacts(facts.created_at, text=facts.text.upper(), tool=facts.tool)


class ForgetsWhichCall(Living):
    def _slot(self, *args: Any, **options: Any) -> None:
        super()._slot(*args, **{**options, "call_id": None})


class NeverCloses(Living):
    def _slot(self, *args: Any, **options: Any) -> None:
        super()._slot(*args, **{**options, "closing": False})


class CountsFromTheEnd(Living):
    """Its seqs begin behind the number of its lines, which grows."""

    @property
    def _shift(self) -> int:
        return len(self._file.path.read_bytes().splitlines())

    def extend(self) -> None:
        super().extend()
        for position in range(len(self.branch.seqs)):
            self.branch.seqs[position] = self._shift + position + 1

    @property
    def last_seq(self) -> int:
        return self._shift + len(self._slots)

    def facts(self, seq: int) -> SlotFacts:
        return super().facts(seq - self._shift)


class GrowsInPlace(Living):
    def extend(self) -> None:
        held = self.branch
        super().extend()
        for name in held.__struct_fields__:
            setattr(held, name, getattr(self.branch, name))
        self.branch = held


class ForgetsWhatWasCompacted(Living):
    def _take(self, row: dict[str, Any]) -> None:
        if "summary" in row:
            self._slots.clear()
            self.branch = type(self.branch)()
        super()._take(row)


class HidesDamage(Living):
    def extend(self) -> None:
        super().extend()
        self._damaged = ()


def refusing_anything(file: Path) -> Projection | None:
    try:
        return open_logbook(file)
    except Refused as refused:
        raise Refused("not_found", refused.refusal.message) from refused


def crashing(file: Path) -> Projection | None:
    logbook = Living(LineFile(file))
    return logbook if logbook.header.session_id else None  # type: ignore[union-attr]


# -- the catalogue -------------------------------------------------------------


def by_name_of_file(call: HostCall) -> list[SessionEntry]:
    entries = plugin.host_sessions(call)
    more = [entry.model_copy(update={"id": entry.file.name}) for entry in entries]
    return [*entries, *more]


def without_times(call: HostCall) -> list[SessionEntry]:
    entries = plugin.host_sessions(call)
    return [entry.model_copy(update={"started": "2000-01-01T00:00:00Z"}) for entry in entries]


def at_home_alone(call: HostCall) -> list[SessionEntry]:
    if call.host != plugin.SLUG:
        raise ValueError(call.host)
    return list(plugin.host_sessions(call))


# -- what is delivered ---------------------------------------------------------


def numbered(operation: str) -> Decoration:
    return Decoration(prefix=f"answer {next(count)}: ")


def wordy(operation: str) -> Decoration:
    return Decoration(prefix="x" * 40_000)


@dataclass(frozen=True)
class Defect:
    """A host with one thing wrong, and what the check says of it."""

    check: str
    host: Host
    told: tuple[str, ...]
    """Parts of the message: what is wrong, and how to mend it."""


DEFECTS = {
    "a base directory that changes": Defect(
        "base_cwd_is_steady",
        Host(base_cwd=wandering),
        ("for one call", "derive it from the call alone"),
    ),
    "a session of another name": Defect(
        "identity_names_host_and_session",
        Host(identity=renamed),
        ("names the session 'another'", "take both from the session's own record"),
    ),
    "a seq for the file's head": Defect(
        "session_without_turns_is_empty",
        reading(CountsItsHead),
        ("without any turn has slots", "allocate a seq only for what was said or run"),
    ),
    "arrays of different lengths": Defect(
        "spine_is_parallel_and_ascending",
        reading(LosesClosing),
        ("1 closing for 12 seqs", "they are parallel"),
    ),
    "arguments over several lines": Defect(
        "facts_answer_for_every_slot",
        reading(PrintsArgumentsInLines),
        ("take more than one line", "print them as compact JSON"),
    ),
    "arguments that are no text": Defect(
        "facts_answer_for_every_slot",
        reading(GivesArgumentsAsObjects),
        ("arguments, a 'dict'", "not a str"),
    ),
    "a text that was changed": Defect(
        "conversation_comes_back_in_order",
        reading(Shouts),
        ("COUNT THE LINES", "in append order"),
    ),
    "calls without ids": Defect(
        "calls_pair_with_their_results",
        reading(ForgetsWhichCall),
        ("None", "into `call_ids`"),
    ),
    "turns that close nothing": Defect(
        "running_call_is_pending",
        reading(NeverCloses),
        ("'pending'", "a person's slot is `closing`"),
    ),
    "seqs that depend on what follows": Defect(
        "appending_renumbers_nothing",
        reading(CountsFromTheEnd),
        ("were renumbered", "allocate seqs in append order"),
    ),
    "a branch that grows in place": Defect(
        "appending_renumbers_nothing",
        Host(open=FileCache(GrowsInPlace).get),
        ("the branch that a reader holds", "a new Branch for a new state"),
    ),
    "a compaction that deletes": Defect(
        "compaction_leaves_history_readable",
        reading(ForgetsWhatWasCompacted),
        ("across a compaction", "history goes on behind a compaction"),
    ),
    "damage that is not told": Defect(
        "damaged_record_costs_only_itself",
        reading(HidesDamage),
        ("reported as None", "list it in the projection's `damaged`"),
    ),
    "a refusal of another code": Defect(
        "file_that_is_no_session_is_refused",
        Host(open=refusing_anything),
        ("'not_found'", "raise Refused('unreadable_session', reason)"),
    ),
    "a crash over a strange file": Defect(
        "file_that_is_no_session_is_refused",
        Host(open=crashing),
        ("AttributeError", "raise Refused('unreadable_session', reason)"),
    ),
    "a session under two names": Defect(
        "catalogue_lists_what_can_be_opened",
        Host(sessions=by_name_of_file),
        ("'voyage-1.log' calls itself 'voyage-1'", "list a session under the id of its own record"),
    ),
    "a catalogue with other facts": Defect(
        "catalogue_says_what_the_session_says",
        Host(sessions=without_times),
        ("is listed with started '2000-", "let one function read them for both"),
    ),
    "a catalogue for its own calls": Defect(
        "catalogue_answers_a_call_of_another_host",
        Host(sessions=at_home_alone),
        ("ValueError", "keeps its sessions by default"),
    ),
    "a decoration that counts": Defect(
        "decoration_is_steady_and_small",
        Host(decoration=numbered),
        ("and then prefix='answer ", "it is pure text"),
    ),
    "a decoration that fills the answer": Defect(
        "results_fit_the_budget",
        Host(decoration=wordy),
        ("page_too_large", "let host_decoration leave room"),
    ),
}
