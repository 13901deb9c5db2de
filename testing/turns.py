"""A session as a neutral script of turns, which a writer writes in a host's own format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Person:
    """A message from a person."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call within an answer."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the agent: text, calls or both."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of an earlier call."""

    call_id: str
    output: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction of the context; what came before stays in the session."""

    summary: str


Turn: TypeAlias = Person | Answer | Ran | Compacted

OPENING: tuple[Turn, ...] = (
    Person("Count the lines of the readme."),
    Answer("I count them.", (ToolCall("call-1", "shell", {"command": "wc -l README.md"}),)),
    Ran("call-1", "42 README.md\n"),
    Answer("It has 42 lines."),
)
"""A first exchange: one successful call."""

PARALLEL: tuple[Turn, ...] = (
    Person("Now both, at once. Grüße, 你好 👋"),
    Answer(
        "",
        (
            ToolCall("call-2", "shell", {"command": "wc -l a.txt", "note": "ä\u2028b"}),
            ToolCall("call-3", "read", {"path": "b.txt"}),
        ),
    ),
    Ran("call-2", "7 a.txt\n"),
    Ran("call-3", "no such file: b.txt", failed=True),
    Answer("One is missing."),
)
"""A second exchange: an answer without text, two calls, one of which failed."""

REUSED: tuple[Turn, ...] = (
    Person("Once more."),
    Answer("Again.", (ToolCall("call-1", "shell", {"command": "wc -l README.md"}),)),
    Ran("call-1", "43 README.md\n"),
)
"""A third exchange, in which the provider reuses a call id."""

PENDING: tuple[Turn, ...] = (
    Person("And one that takes long."),
    Answer("It runs.", (ToolCall("call-9", "shell", {"command": "sleep 600"}),)),
)
"""An exchange with a call that has no result yet."""

ARGUMENTS: dict[str, Any] = {
    "zeta": 1,
    "alpha": {"y": [3, 1, 2], "b": 1.0, "": None},
    "mid": "ä\u2028",
    "big": 12345678901234567890,
    "none": {},
}
"""A call's input with unordered keys, and numbers that a float would change."""

BESIDE: tuple[Turn, ...] = (
    Person("Two at once, one of them slow."),
    Answer("", (ToolCall("call-5", "shell", {"n": 5}), ToolCall("call-6", "shell", {"n": 6}))),
    Ran("call-5", "quick\n"),
)
"""An exchange in which one call has its result and a parallel one is still running."""
