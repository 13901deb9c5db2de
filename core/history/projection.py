"""The interface between a host's decoder and the core: one session, decoded lazily.

A decoder reads native entries, allocates *seqs* in append order over the whole file, finds the
active branch, and provides arrays for its slots and the content of each slot on demand. The core
pairs calls with results, builds events and documents, and does paging and search (``timeline``,
``document``, ``operations.selection``).

Seqs start at 1 and depend only on the kinds and roles of entries, never on visible content. So
appending or branching does not renumber anything.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import Struct, field

from hindnote.core.errors import Malformed, class_name

if TYPE_CHECKING:
    from hindnote.core.presentation.models import Presentation


class SlotKind(IntEnum):
    """The kind of the slot at a seq."""

    NOTHING = 0
    """Has a seq but is not an event: an answer without text, a repeated row."""

    USER = 1
    ASSISTANT = 2
    """The text of an answer; an answer without any text is ``NOTHING``."""

    CALL = 3
    RESULT = 4
    COMMAND = 5
    """A command that a person ran: a complete tool event by itself."""

    CONTEXT = 6


class Branch(Struct, weakref=True):
    """The active branch: parallel arrays in ascending order of seq.

    ``answers`` numbers the answers of the model from 1 in branch order: an answer's text slot
    (also when it is ``NOTHING``) and all of its calls have the same number; every other slot has
    0. ``call_ids`` contains the host's call ids of ``CALL`` and ``RESULT`` slots, by position in
    the arrays. ``closing`` is 1 where the slot proves that the conversation went on, so that an
    older call without a result is no longer pending.
    """

    seqs: array[int] = field(default_factory=lambda: array("q"))
    kinds: bytearray = field(default_factory=bytearray)
    answers: array[int] = field(default_factory=lambda: array("q"))
    closing: bytearray = field(default_factory=bytearray)
    call_ids: dict[int, str] = field(default_factory=dict)
    aborted: set[int] = field(default_factory=set)
    """Seqs of calls whose answer was interrupted before they could run."""

    tools: dict[int, str] = field(default_factory=dict)
    """Tool names of ``CALL``, ``RESULT`` and ``COMMAND`` slots, by position. A decoder may leave
    names out; the core then calls ``facts``."""

    times: array[float] = field(default_factory=lambda: array("d"))
    """``times.instant`` of each slot's ``created_at``, NaN for none; parallel to ``seqs``, or
    empty when the decoder does not store times (then ``facts`` is called)."""

    lineage: object = field(default_factory=object)
    """The same object for branches that extend one another only by appended slots. The core then
    reuses what it computed for the shorter branch."""


class SessionHeader(Struct, frozen=True):
    """The facts about a session as a whole."""

    host: str
    session_id: str
    """A subagent's id is ``<main session id>/<agent id>``."""

    started: str | None = None
    cwd: str | None = None
    parent: str | None = None
    """Id of the session that it was forked from, or a subagent's main session."""

    name: str | None = None
    tool_prefix: str = ""
    """Prefix of our tools' names in this host's records."""

    note: str | None = None
    """Shown with every result when the decoder had to guess (an unknown version)."""


class NestedCalls(Struct, frozen=True):
    """Calls that a tool made while it ran, as the host recorded them."""

    records: tuple[str, ...]
    """One compact JSON text per record, in recorded order; without line breaks."""

    names: tuple[str, ...]
    """Tool names of the records, in the same order."""

    complete: bool


class SlotFacts(Struct, frozen=True):
    """The recorded content of one slot. Strings contain no lone surrogates."""

    created_at: str | None = None
    """ISO 8601 time as recorded; a number is converted to UTC; None without a valid time."""

    entry_id: str | None = None
    """The host's own id of the entry; a fork's copy has the same id."""

    text: str = ""
    """Text of a user, assistant or context slot; output of a result or command."""

    tool: str | None = None
    """Tool name of a call, result or command."""

    arguments: str | None = None
    """Arguments of a call or command as compact JSON in recorded key order; None if not
    recorded."""

    failed: bool | None = None
    """Outcome of a result or command; None when none was recorded."""

    output_truncated: bool = False
    full_output_path: str | None = None
    nested: NestedCalls | None = None
    """None when the host recorded nothing; there may still have been nested calls."""


class Damage(Struct, frozen=True):
    """One line of the file that could not be read."""

    offset: int
    """Offset of the line's first byte."""

    size: int
    reason: str


class Projection(Protocol):
    """One decoded session. All attributes describe the same state of the file."""

    @property
    def header(self) -> SessionHeader:
        """The facts about the session as a whole."""
        ...

    @property
    def last_seq(self) -> int:
        """The highest seq allocated, on any branch; 0 in an empty session."""
        ...

    @property
    def branch(self) -> Branch:
        """The active branch. The same object while the state is unchanged."""
        ...

    @property
    def damaged(self) -> Sequence[Damage]:
        """Lines that were skipped, in file order.

        Does not include a line that is still being written.
        """
        ...

    @property
    def windows(self) -> Sequence[int]:
        """First seq of each window on the active branch, ascending; the first is 1."""
        ...

    def facts(self, seq: int) -> SlotFacts:
        """Return the content of a slot on the active branch, decoded on demand."""
        ...


@runtime_checkable
class Presentable(Protocol):
    """Optional for a projection: results of the host's tools as structured data."""

    def presentation(self, seq: int, result: int | None) -> Presentation | None:
        """Return the structured form of a tool event for viewers.

        Args:
            seq: Seq of the event: of a call, a command, or a result without a call.
            result: Seq of the call's result; None for the other two.

        Returns:
            None where there is no structured form.
        """
        ...


@runtime_checkable
class Sided(Protocol):
    """Optional for a projection: access to branches that the session has left."""

    def kind_at(self, seq: int) -> SlotKind | None:
        """Return the kind of the slot at a seq on any branch, which ``facts`` can then read too.

        None where it is not known.
        """
        ...

    def facts(self, seq: int) -> SlotFacts:
        """Return the content of a slot."""
        ...


@runtime_checkable
class Scannable(Protocol):
    """Optional for a projection: raw lines, so that a search decodes fewer slots."""

    @property
    def added_words(self) -> tuple[str, ...]:
        """As ``SessionEntry.added_words``, but valid for each slot by itself."""
        ...

    def raw(self, seq: int) -> Iterable[bytes]:
        """Return the lines from which ``facts`` builds the texts of a slot."""
        ...


# -- checks of a branch that a plugin made ----------------------------------------

_KINDS = bytes(SlotKind)
_CONTAINERS: dict[str, tuple[type, ...]] = {
    "seqs": (array,),
    "kinds": (bytearray, bytes),
    "answers": (array,),
    "closing": (bytearray, bytes),
    "call_ids": (dict,),
    "aborted": (set, frozenset),
    "tools": (dict,),
    "times": (array,),
}
_TYPECODES = {"seqs": "q", "answers": "q", "times": "d"}


def check_shape(branch: Branch) -> None:
    """Raise ``Malformed`` when the containers of a branch have wrong classes or lengths."""
    for name, kinds in _CONTAINERS.items():
        value = getattr(branch, name)
        if type(value) not in kinds:
            raise Malformed(f"{name}, a {class_name(type(value))!r}, not a {kinds[0].__name__}")
    for name, typecode in _TYPECODES.items():
        if (found := getattr(branch, name).typecode) != typecode:
            raise Malformed(f"{name}, an array of {found!r}, not of {typecode!r}")
    size = len(branch.seqs)
    for name in ("kinds", "answers", "closing", "times"):
        length = len(getattr(branch, name))
        if length != size and (name != "times" or length):
            raise Malformed(f"{length:,} {name} for {size:,} seqs; they are parallel")


def check_slots(branch: Branch, start: int, stop: int) -> None:
    """Raise ``Malformed`` for slots from ``start`` up to ``stop`` that break the contract."""
    if unknown := branch.kinds[start:stop].translate(None, _KINDS):
        raise Malformed(f"the kind {unknown[0]}; SlotKind has {min(_KINDS)} to {max(_KINDS)}")
    seqs = branch.seqs[max(start - 1, 0) : stop]
    if seqs and seqs[0] < 1:
        raise Malformed(f"the seq {seqs[0]}; seqs start at 1")
    for earlier, later in pairwise(seqs):
        if earlier >= later:
            raise Malformed(f"the seq {later} behind {earlier}; seqs ascend")
    for name in ("call_ids", "tools"):
        found: dict[int, str] = getattr(branch, name)
        # A dict keeps the order of insertion, so new items are at its end.
        new = min(stop - start, len(found)) if start else len(found)
        _check_types(islice(reversed(found), new), int, f"a key of {name}")
        _check_types(islice(reversed(found.values()), new), str, f"a value of {name}")
    _check_types(branch.aborted, int, "one of aborted")


def _check_types(values: Iterable[object], kind: type, what: str) -> None:
    for found in set(map(type, values)) - {kind}:
        raise Malformed(f"{what} that is a {class_name(found)!r}, not a {kind.__name__}")
