"""What an operation ends with: a success, or a refusal with a code.

Inside, an operation ends with an ``Outcome``. A caller of the tool gets the *wire
result* derived from it by ``wire``: the success model's fields at the root, or
``{"error": <message>, "code": <code>}``. A private helper transport carries the
*envelope* instead: ``{"ok": true, "data": …}`` or ``{"ok": false, "error": {…}}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

from msgspec import Struct, field
from pydantic import ConfigDict

from hindnote.core.tools.field_docs import Described

if TYPE_CHECKING:
    from pydantic import BaseModel

RefusalCode = Literal[
    "address_collision",
    "already_exists",
    "ambiguous_edit",
    "ambiguous_session",
    "changed",
    "invalid_address",
    "invalid_cwd",
    "invalid_frontmatter",
    "invalid_glob",
    "invalid_offset",
    "invalid_selection",
    "invalid_session",
    "invalid_time",
    "io_error",
    "locked",
    "no_current_session",
    "no_match",
    "not_an_event",
    "not_found",
    "not_on_branch",
    "not_text",
    "nothing_to_do",
    "output_too_large",
    "outside_home",
    "page_too_large",
    "read_only_home",
    "too_large",
    "unknown_seq",
    "unknown_session",
    "unreadable_session",
]
"""Every reason for which an operation declines. The list is closed."""

REFUSAL_CODES: frozenset[str] = frozenset(get_args(RefusalCode))

MESSAGE_LIMIT = 2_000
"""Code points of a refusal's message, at most."""

QUOTE_LIMIT = 200
"""Code points of quoted input inside a message, at most, so that facts keep their room."""

# Not compiled here, as most calls refuse nothing.
_LINE_BREAKS = "[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]"
_NAMED_BREAKS = {"\n": "\\n", "\r": "\\r", "\x0b": "\\v", "\x0c": "\\f"}


class Result(Described):
    """Base of every success model: closed and frozen, optional fields left *unset*.

    A field that was not set is absent from the wire result; a field set to
    ``None`` is there as ``null``. Never set an optional field to ``None``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


S_co = TypeVar("S_co", bound=Result, covariant=True)


class Success(Struct, Generic[S_co], frozen=True):
    """An operation that did what was asked."""

    data: S_co
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Facts for the host alone (a note's text before and after); in no representation."""


class Refusal(Struct, frozen=True):
    """An operation that was understood and declined.

    ``message`` is one line that holds every fact the caller needs to recover.
    """

    code: RefusalCode
    message: str


Outcome: TypeAlias = Success[S_co] | Refusal


class Refused(Exception):
    """Raised where an operation is declined; ``core.call`` turns it into a refusal.

    Args:
        code: One of the closed list of refusal codes.
        message: The facts, and what to do. Line breaks are escaped and the
            length is bounded here, so callers need not.
    """

    def __init__(self, code: RefusalCode, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.refusal = Refusal(code, one_line(message))

    @property
    def code(self) -> RefusalCode:
        """The refusal's code."""
        return self.refusal.code


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return _NAMED_BREAKS.get(char, f"\\u{ord(char):04x}")


def one_line(message: str) -> str:
    """Return ``message`` with line breaks escaped, cut to the message limit."""
    line = _visible(message)
    return line if len(line) <= MESSAGE_LIMIT else line[: MESSAGE_LIMIT - 1] + "…"


def quote(value: str) -> str:
    """Return caller's input for use in a message: quoted, one line, cut at ``QUOTE_LIMIT``.

    Input is cut here, before it meets the facts of a message, so that no long
    input can push a fact over the message limit.
    """
    return f"“{_visible(cut(value))}”"


def _visible(text: str) -> str:
    """Return a text on one line, with nothing that a terminal would obey or hide."""
    if text.isascii() and text.isprintable():
        return text
    from hindnote.core.text.controls import escaped

    return escaped(re.sub(_LINE_BREAKS, _escape, text))


def cut(value: str) -> str:
    """Return caller's input for use in a message, cut at ``QUOTE_LIMIT``."""
    return value if len(value) <= QUOTE_LIMIT else value[: QUOTE_LIMIT - 1] + "…"


def wire(outcome: Outcome[Result]) -> dict[str, Any]:
    """Return what a caller of the tool gets, as JSON-ready data."""
    if isinstance(outcome, Refusal):
        return {"error": outcome.message, "code": outcome.code}
    return outcome.data.model_dump(mode="json", exclude_unset=True)


def wire_json(result: BaseModel) -> str:
    """Return a success as compact JSON, printed as ``JSON.stringify`` would."""
    return result.model_dump_json(exclude_unset=True)


def envelope(outcome: Outcome[Result]) -> dict[str, Any]:
    """Return the outcome as a private helper transport carries it."""
    if isinstance(outcome, Refusal):
        return {"ok": False, "error": {"code": outcome.code, "message": outcome.message}}
    return {"ok": True, "data": wire(outcome)}


def render_refusal(refusal: Refusal) -> str:
    """Return the one line that a model reads for a refusal."""
    return f"error: {refusal.code}: {refusal.message}"
