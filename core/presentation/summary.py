"""What a tool was asked for, on one line."""

from __future__ import annotations

import json
from typing import Any

from hindnote.core.text.counting import counted
from hindnote.core.text.messages import first_words

_TELLING = (
    "command",
    "file_path",
    "path",
    "url",
    "address",
    "query",
    "description",
    "about",
    "subject",
    "name",
    "prompt",
    "content",
    "text",
)
"""Arguments that say most of a call, in the order in which they are taken; of all hosts' tools."""


def summary(tool: str | None, arguments: Any) -> str:
    """Return what a tool was asked for, on one line and shortened; empty when it is not known.

    Args:
        tool: Its name.
        arguments: What it was given, of any shape.
    """
    if not isinstance(arguments, dict):
        return _short(arguments) if arguments else ""
    pattern = arguments.get("pattern")
    if isinstance(pattern, str) and pattern:
        where = arguments.get("path")
        return first_words(f"{pattern} in {where}" if isinstance(where, str) else pattern) or ""
    if isinstance(arguments.get("todos"), list):
        return counted(len(arguments["todos"]), "todo")
    for name in _TELLING:
        value = arguments.get(name)
        if isinstance(value, str) and (words := first_words(value)):
            return words
    return _short(arguments) if arguments else ""


def _short(value: Any) -> str:
    return first_words(json.dumps(value, ensure_ascii=False)) or ""
