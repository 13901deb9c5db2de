"""A plugin's projection, wrapped: read on demand, and every value checked.

Checks are cheap compared with decoding: values are checked by exact class, and the arrays of a
branch are used as they are, since exact built-in arrays run no plugin code. The kind of each slot
is checked when the timeline first reads it (``core.history.projection``).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hindnote.core.errors import Malformed, class_name
from hindnote.core.history.projection import (
    Branch,
    Damage,
    NestedCalls,
    SessionHeader,
    SlotFacts,
    SlotKind,
    check_shape,
)
from hindnote.core.plugins.border import exactly, plain_optional, plain_text
from hindnote.core.plugins.guard import answering, crash, raised, stdout_to_stderr

if TYPE_CHECKING:
    from hindnote.core.plugins.source import Source
    from hindnote.core.presentation.models import Presentation

_REQUIRED = ("last_seq", "branch", "damaged", "windows", "facts")
_SCANNABLE = ("added_words", "raw")
_HOOK = "host_projection"
ID_SHOWN = 100
"""Maximum length of a session's id in a message, in code points."""

_TEXT = (str, type(None))
_OUTCOME = (bool, type(None))
_TEXTS = ("created_at", "entry_id", "tool", "arguments", "full_output_path")


def checked(source: Source, answer: object) -> Checked:
    """Return a plugin's projection, wrapped; decodes nothing yet.

    Raises:
        HostFailure: It is not a projection, or belongs to another host.
    """
    with answering(source, _HOOK):
        header = _header(getattr(answer, "header", None), source.slug)
        # Looked up without running any code, since reading an attribute may decode the session.
        missing = [name for name in _REQUIRED if not _has(answer, name)]
        if missing:
            raise Malformed(
                f"{class_name(type(answer))!r}, which is no projection: it lacks {', '.join(missing)}"
            )
    scannable = all(_has(answer, name) for name in _SCANNABLE)
    return (CheckedScannable if scannable else Checked)(source, header, answer)


class Checked:
    """Wraps one session of a plugin; offers the attributes of ``Projection``.

    Each attribute is read from the plugin at most once, except ``facts``, which is called for each
    slot. Reading one raises ``HostFailure`` when the plugin's code fails or its answer breaks the
    contract, and ``Refused`` with ``unreadable_session``. As thread-safe as the plugin's
    projection.
    """

    def __init__(self, source: Source, header: SessionHeader, answer: object) -> None:
        self._source = source
        self._answer: Any = answer
        self.header = header

    @cached_property
    def last_seq(self) -> int:
        """The highest seq allocated on any branch."""
        with self._asking("last_seq"):
            found = exactly(self._answer.last_seq, int, "last_seq")
            if found < 0:
                raise Malformed(f"last_seq {found}; an empty session has 0")
            return found

    @cached_property
    def branch(self) -> Branch:
        """The active branch."""
        with self._asking("branch"):
            branch = exactly(self._answer.branch, Branch)
            check_shape(branch)
            return branch

    @cached_property
    def damaged(self) -> Sequence[Damage]:
        """The lines that were skipped, in file order."""
        with self._asking("damaged"):
            return tuple(map(_damage, self._answer.damaged))

    @cached_property
    def windows(self) -> Sequence[int]:
        """The first seq of each window on the active branch."""
        with self._asking("windows"):
            found = tuple(exactly(seq, int) for seq in self._answer.windows)
            if found[:1] != (1,) or sorted(set(found)) != list(found):
                raise Malformed(f"{found[:10]}; windows ascend, and the first starts at seq 1")
            return found

    def facts(self, seq: int) -> SlotFacts:
        """Return the content of a slot on the active branch."""
        try:
            if stdout_to_stderr.is_on:
                return _facts(self._answer.facts(seq))
            with stdout_to_stderr:
                return _facts(self._answer.facts(seq))
        except BaseException as error:  # noqa: BLE001
            raise self._raised(f"facts({seq})", error) from crash(error)

    def kind_at(self, seq: int) -> SlotKind | None:
        """Return the kind of the slot at a seq, on any branch.

        None where the plugin does not know.
        """
        if not _has(self._answer, "kind_at"):
            return None
        with self._asking(f"kind_at({seq})"):
            answer = self._answer.kind_at(seq)
            return None if answer is None else exactly(answer, SlotKind, "kind_at")

    def presentation(self, seq: int, result: int | None) -> Presentation | None:
        """Return the structured form of a tool event for viewers.

        None where the plugin has none.
        """
        if not _has(self._answer, "presentation"):
            return None
        from pydantic import BaseModel, ValidationError

        from hindnote.core.presentation.models import rebuilt

        with self._asking(f"presentation({seq})"):
            answer = self._answer.presentation(seq, result)
            if answer is None:
                return None
            if not issubclass(type(answer), BaseModel):
                raise Malformed(f"a {class_name(type(answer))!r}, not a presentation")
            try:
                return rebuilt(answer)
            except ValidationError as error:
                raise Malformed(
                    f"no presentation: {error.error_count()} fields are wrong"
                ) from None

    def _asking(self, name: str) -> Any:
        return answering(self._source, _HOOK, self._part(name))

    def _raised(self, name: str, error: BaseException) -> BaseException:
        return raised(self._source, _HOOK, self._part(name), error)

    def _part(self, name: str) -> str:
        return f"{name} of session {self.header.session_id[:ID_SHOWN]}"


class CheckedScannable(Checked):
    """Wraps a session whose raw lines a search may read (``Scannable``)."""

    @cached_property
    def added_words(self) -> tuple[str, ...]:
        """Words that ``facts`` adds to the text of the lines."""
        with self._asking("added_words"):
            return tuple(plain_text(word, "added_words") for word in self._answer.added_words)

    def raw(self, seq: int) -> Iterable[bytes]:
        """Return the lines from which ``facts`` builds the texts of a slot."""
        try:
            if stdout_to_stderr.is_on:
                lines = tuple(self._answer.raw(seq))
            else:
                with stdout_to_stderr:
                    lines = tuple(self._answer.raw(seq))
            for line in lines:
                if type(line) is not bytes:
                    raise Malformed(f"a {class_name(type(line))!r}, not bytes")
        except BaseException as error:  # noqa: BLE001
            raise self._raised(f"raw({seq})", error) from crash(error)
        return lines


def _has(answer: object, name: str) -> bool:
    missing = object()
    return inspect.getattr_static(answer, name, missing) is not missing


def _header(answer: object, slug: str) -> SessionHeader:
    header = exactly(answer, SessionHeader, "header")
    if plain_text(header.host, "the header's host") != slug:
        raise Malformed(f"a session of {header.host!r}, not of {slug!r}, its own")
    return SessionHeader(
        slug,
        plain_text(header.session_id, "the header's session_id"),
        started=plain_optional(header.started, "the header's started"),
        cwd=plain_optional(header.cwd, "the header's cwd"),
        parent=plain_optional(header.parent, "the header's parent"),
        name=plain_optional(header.name, "the header's name"),
        tool_prefix=plain_text(header.tool_prefix, "the header's tool_prefix"),
        note=plain_optional(header.note, "the header's note"),
    )


def _damage(answer: object) -> Damage:
    found = exactly(answer, Damage)
    return Damage(
        exactly(found.offset, int, "offset"),
        exactly(found.size, int, "size"),
        plain_text(found.reason, "reason"),
    )


def _facts(facts: object) -> SlotFacts:
    # Runs for each slot that a search decodes, so correct facts need no loop and no further call.
    if (
        type(facts) is SlotFacts
        and type(facts.text) is str
        and type(facts.created_at) in _TEXT
        and type(facts.entry_id) in _TEXT
        and type(facts.tool) in _TEXT
        and type(facts.arguments) in _TEXT
        and type(facts.full_output_path) in _TEXT
        and type(facts.failed) in _OUTCOME
        and type(facts.output_truncated) is bool
    ):
        if facts.nested is not None:
            _check_nested(facts.nested)
        return facts
    raise _wrong(exactly(facts, SlotFacts))


def _wrong(facts: SlotFacts) -> Malformed:
    """Return the error for facts that failed the checks."""
    for name in ("text", *_TEXTS, "failed", "output_truncated"):
        value: object = getattr(facts, name)
        wanted = bool if name in ("failed", "output_truncated") else str
        optional = name not in ("text", "output_truncated")
        if type(value) is not wanted and not (optional and value is None):
            return Malformed(f"{name}, a {class_name(type(value))!r}, not a {wanted.__name__}")
    return Malformed("facts that changed while they were read")


def _check_nested(answer: object) -> None:
    nested = exactly(answer, NestedCalls, "nested")
    exactly(nested.complete, bool, "nested.complete")
    for name in ("records", "names"):
        found = exactly(getattr(nested, name), tuple, f"nested.{name}")
        if not set(map(type, found)) <= {str}:
            raise Malformed(f"nested.{name} with something that is not a str")
