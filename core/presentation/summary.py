"""Describe a tool call on one line."""

from __future__ import annotations

import json
from typing import Any

from hindnote.core.text.messages import counted, first_words

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
"""The most descriptive arguments of all hosts' tools, in order of preference."""


def summary(tool: str | None, arguments: Any) -> str:
    """Return a description of a call on one line, shortened; empty when there is none.

    Args:
        tool: The tool's name.
        arguments: Its arguments, of any type.
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
