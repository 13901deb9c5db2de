"""What a host's decoder gives the core: one native session, lazily.

A decoder reads native entries, allocates *seqs* in append order over the whole
file, finds the active branch, and answers with arrays for the spine and facts
per slot on demand. Pairing calls with results, events, documents, paging and
search are the core's (``timeline``, ``document``, ``selection``).

Seqs start at 1 and depend on the kind of an entry and its role alone, never on
visible content, so appending or branching renumbers nothing.
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
    """What lies at a seq on the active branch."""

    NOTHING = 0
    """Takes its seq and is no event: an answer without text, a repeated row."""

    USER = 1
    ASSISTANT = 2
    """The text of an answer; an answer without any text is ``NOTHING``."""

    CALL = 3
    RESULT = 4
    COMMAND = 5
    """A command that the person ran: a tool event complete in itself."""

    CONTEXT = 6


class Branch(Struct, weakref=True):
    """The active branch: parallel arrays in ascending order of seq.

    ``answers`` numbers the answers of the model from 1 in branch order, the same
    number on an answer's text slot (also when it is ``NOTHING``) and on each of
    its calls; 0 on every other slot. ``call_ids`` holds the host's call id for
    ``CALL`` and ``RESULT`` slots, by position in the arrays. ``closing`` is 1
    where the slot's presence says that the conversation went on, so that an
    older call without a result is no longer pending.
    """

    seqs: array[int] = field(default_factory=lambda: array("q"))
    kinds: bytearray = field(default_factory=bytearray)
    answers: array[int] = field(default_factory=lambda: array("q"))
    closing: bytearray = field(default_factory=bytearray)
    call_ids: dict[int, str] = field(default_factory=dict)
    aborted: set[int] = field(default_factory=set)
    """Seqs of calls whose answer was cut off before they could run."""

    tools: dict[int, str] = field(default_factory=dict)
    """Tool names of ``CALL``, ``RESULT`` and ``COMMAND`` slots, by position. A decoder that
    knows a name from its spine puts it here; for one that is missing, ``facts`` is asked."""

    times: array[float] = field(default_factory=lambda: array("d"))
    """``instants.instant`` of each slot's ``created_at``, NaN for none; parallel to ``seqs``,
    or empty when the decoder keeps no times (then ``facts`` is asked)."""

    lineage: object = field(default_factory=object)
    """Shared by branches of which each only appended slots to the one before it, everything
    older unchanged; what was worked out for the older one then still holds."""


class SessionHeader(Struct, frozen=True):
    """What a session says of itself."""

    host: str
    session_id: str
    """A subagent's is ``<main session id>/<agent id>``."""

    started: str | None = None
    cwd: str | None = None
    parent: str | None = None
    """Id of the session that it was forked from, or a subagent's main session."""

    name: str | None = None
    tool_prefix: str = ""
    """What stands before our tools' names in this host's records."""

    note: str | None = None
    """Said with the answers when the decoder had to guess (an unknown version)."""


class NestedCalls(Struct, frozen=True):
    """Calls that a tool made while it ran, exactly as the host stored them."""

    records: tuple[str, ...]
    """One compact JSON text per record, in recorded order; no line breaks."""

    names: tuple[str, ...]
    """Tool names of the records, in the same order."""

    complete: bool


class SlotFacts(Struct, frozen=True):
    """The recorded facts of one slot. Strings hold no lone surrogates."""

    created_at: str | None = None
    """ISO 8601 as recorded; a number is given as UTC; None when nothing usable was."""

    entry_id: str | None = None
    """The host's own id of the entry, the same in a fork's copy."""

    text: str = ""
    """Text of a user, assistant or context slot; output of a result or command."""

    tool: str | None = None
    """Tool name of a call, result or command."""

    arguments: str | None = None
    """Compact JSON in recorded key order, of a call or command; None if not recorded."""

    failed: bool | None = None
    """Of a result or command; None when it recorded no outcome."""

    output_truncated: bool = False
    full_output_path: str | None = None
    nested: NestedCalls | None = None
    """None when the host recorded nothing, which proves nothing."""


class Damage(Struct, frozen=True):
    """One line of the file that could not be read."""

    offset: int
    """Byte at which the line starts."""

    size: int
    reason: str


class Projection(Protocol):
    """One decoded session. All of it describes one state of the file."""

    @property
    def header(self) -> SessionHeader:
        """What the session says of itself."""
        ...

    @property
    def last_seq(self) -> int:
        """The highest seq allocated, on any branch; 0 in an empty session."""
        ...

    @property
    def branch(self) -> Branch:
        """The active branch. The same object as long as the state is the same."""
        ...

    @property
    def damaged(self) -> Sequence[Damage]:
        """Lines that were skipped, in file order; a line still being written is none."""
        ...

    @property
    def windows(self) -> Sequence[int]:
        """First seq of each window on the active branch, ascending; the first is 1."""
        ...

    def facts(self, seq: int) -> SlotFacts:
        """Return the facts of a slot on the active branch, decoded on demand."""
        ...


@runtime_checkable
class Presentable(Protocol):
    """What a projection may offer beyond: the results of its host's tools as structure."""

    def presentation(self, seq: int, result: int | None) -> Presentation | None:
        """Return what a viewer gets of a tool event.

        Args:
            seq: Seq of the event: of a call, a command, or a result without a call.
            result: Seq of the call's result; None for the other two.

        Returns:
            None where the host has nothing to say beyond the facts.
        """
        ...


@runtime_checkable
class Sided(Protocol):
    """What a projection may offer beyond: a look at the branches that the session has left."""

    def kind_at(self, seq: int) -> SlotKind | None:
        """Return what lies at a seq of any branch, which ``facts`` then reads as well.

        None where nothing can be said.
        """
        ...

    def facts(self, seq: int) -> SlotFacts:
        """Return the facts of a slot."""
        ...


@runtime_checkable
class Scannable(Protocol):
    """What a projection may offer beyond: a search then decodes fewer slots."""

    @property
    def added_words(self) -> tuple[str, ...]:
        """The promise of ``SessionEntry.added_words``, for each slot by itself."""
        ...

    def raw(self, seq: int) -> Iterable[bytes]:
        """Return the lines of which ``facts`` makes the texts of a slot."""
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
    """Raise ``Malformed`` when the containers of a branch are of other classes or lengths."""
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
    """Raise ``Malformed`` for slots from ``start`` up to ``stop`` that the contract does not have."""
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
        # A dict keeps the order of insertion, so what is new stands at its end.
        new = min(stop - start, len(found)) if start else len(found)
        _check_types(islice(reversed(found), new), int, f"a key of {name}")
        _check_types(islice(reversed(found.values()), new), str, f"a value of {name}")
    _check_types(branch.aborted, int, "one of aborted")


def _check_types(values: Iterable[object], kind: type, what: str) -> None:
    for found in set(map(type, values)) - {kind}:
        raise Malformed(f"{what} that is a {class_name(found)!r}, not a {kind.__name__}")
