"""What a search's call and its notices tell about the printed lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import PurePosixPath
from typing import Any

_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
_CHOICE = re.compile(r"\{([^{}]*)\}")
_CHOICES = 64


@dataclass(frozen=True, slots=True)
class Query:
    """The known facts about a search; the defaults mean that its call is unknown."""

    name: str | None = None
    """Name of the searched path: the only path in the result if it is a file."""

    context: int | None = None
    """Number of lines around each match that were requested."""

    wanted: tuple[re.Pattern[str], ...] = ()
    """Each matching line contains one of these texts, and no other line does; empty if unknown."""

    glob: re.Pattern[str] | None = None
    """Matches the names of the files."""

    limited: bool = False
    """Whether the limit was reached; then matches right after the last are shown as context."""

    unfinished: bool = False
    """Whether the end of the result was cut off."""

    def holds(self, text: str) -> bool | None:
        """Return whether a text matches; None when unknown."""
        if not self.wanted:
            return None
        return any(pattern.search(text) for pattern in self.wanted)


def query(arguments: Mapping[str, Any] | None, notices: Sequence[str]) -> Query:
    """Return the facts from a call and from the notices of its result."""
    limited = any("matches limit reached" in notice for notice in notices)
    unfinished = any("B limit reached" in notice for notice in notices)
    if arguments is None:
        return Query(limited=limited, unfinished=unfinished)
    path, context = arguments.get("path"), arguments.get("context")
    if isinstance(context, bool) or not isinstance(context, int | float):
        context = 0
    return Query(
        name=PurePosixPath(path.replace("\\", "/")).name or None if isinstance(path, str) else None,
        # In this order: NaN fails the comparison, so it never reaches int().
        context=int(min(context, 1_000_000)) if context > 0 else 0,
        wanted=tuple(_wanted(arguments)),
        glob=_glob(arguments.get("glob")),
        limited=limited,
        unfinished=unfinished,
    )


def literals(arguments: Mapping[str, Any]) -> list[str]:
    """Return the plain texts that a search looked for; empty for anything else."""
    pattern = arguments.get("pattern")
    if not isinstance(pattern, str):
        return []
    if arguments.get("literal") is True:
        return [pattern] if pattern else []
    # An escaped punctuation character is literal, so `a\.b|c` is two plain texts.
    parts = re.split(r"(\\[^\w\s])|(\|)", pattern)
    texts = [""]
    for plain, escaped, bar in zip(
        parts[::3], [*parts[1::3], None], [*parts[2::3], None], strict=True
    ):
        if _SPECIAL.search(plain):
            return []
        texts[-1] += plain + (escaped[1:] if escaped else "")
        if bar:
            texts.append("")
    return texts if all(texts) else []


def _wanted(arguments: Mapping[str, Any]) -> list[re.Pattern[str]]:
    flags = re.IGNORECASE if arguments.get("ignoreCase") is True else re.NOFLAG
    return [re.compile(re.escape(text), flags) for text in literals(arguments)]


def _glob(glob: object) -> re.Pattern[str] | None:
    if not isinstance(glob, str) or not glob or glob.startswith("!") or len(glob) > 200:
        return None
    choices = [glob.rsplit("/", 1)[-1] if "{" not in glob else glob]
    if "/" in choices[0]:
        return None
    while (found := _CHOICE.search(choices[0])) and len(choices) < _CHOICES:
        whole = found.group()
        choices = [
            choice.replace(whole, one, 1) for choice in choices for one in found.group(1).split(",")
        ]
    if any(mark in choices[0] for mark in "{}\\"):
        return None
    return re.compile("|".join(translate(choice) for choice in choices))
