"""The text of a todo: generated for a new one, and edited in one line for a transition."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hindnote.core.project.contract.todos import TodoStatus
from hindnote.core.project.markdown import Markdown, parse_markdown
from hindnote.core.project.outcome import Declined
from hindnote.core.project.todos.names import TodoName
from hindnote.core.text import frontmatter

OWNED = ("issue_id", "status", "priority", "title")
"""Keys that only the tools may write."""

# Control characters, line ends, and characters that change the text direction. Joiners are
# allowed, since words and emoji of many scripts need them.
_UNFIT = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# Characters that YAML rejects inside double quotes, or folds as line breaks.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def new_content(name: TodoName, title: str, extra: Mapping[str, Any], body: str) -> bytes:
    """Return the content of a new todo. The body is not changed.

    Raises:
        Declined: ``invalid_title`` or ``invalid_frontmatter``.
    """
    if _UNFIT.search(title) or not any(char.isprintable() and char != " " for char in title):
        raise Declined("invalid_title", "title must be one line of visible text, not blank")
    owned = [key for key in OWNED if key in extra]
    if owned:
        raise Declined(
            "invalid_frontmatter",
            f"frontmatter may not hold {', '.join(owned)}; give title, priority and status as "
            "parameters",
        )
    lines = [
        f'issue_id: "{name.rendered_id}"',
        f"status: {name.status}",
        f"priority: {name.priority}",
        f"title: {yaml_value(title)}",
        *(f"{_key(key)}: {yaml_value(value)}" for key, value in extra.items()),
    ]
    return "\n".join(["---", *lines, "---", "", body]).encode()


def _key(key: str) -> str:
    plain = _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED
    return key if plain else yaml_value(key)


def yaml_value(value: Any) -> str:
    """Return a JSON value as one line of YAML: as JSON, which YAML 1.2 includes, made printable."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def with_status(markdown: Markdown, status: TodoStatus) -> bytes:
    """Return a todo's content with another status; every other byte is unchanged.

    Raises:
        Declined: ``invalid_frontmatter`` when the line cannot be edited in place.
    """
    parts, block = markdown.parts, markdown.block
    if parts is not None and block is not None and block.editable:
        text = frontmatter.edited(block, {"status": status}, parts.newline)
        made = parts.opening + text + parts.closing + parts.body
        again = parse_markdown(made)
        if again.body == markdown.body and again.values == {**markdown.values, "status": status}:
            return made.encode()
    raise Declined(
        "invalid_frontmatter",
        "the status line cannot be edited without touching the rest of the frontmatter; write the "
        "block as plain `key: value` lines",
    )
