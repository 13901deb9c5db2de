"""What all renderers need: text that is safe to show, and shortening with a count."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindnote.core.text.controls import replaced
from hindnote.core.text.messages import counted

if TYPE_CHECKING:
    from hindnote.core.presentation.models import Bash, Fetch, Mcp, Read, Task, Todo, Truncation

LINE_LIMIT = 2_000
"""Maximum length of a shown line, in characters."""

_HEAD, _TAIL = 150, 50


@dataclass(frozen=True, slots=True)
class Clipped:
    """Lines to show: the first ones, the number left out, and the last ones."""

    head: tuple[str, ...]
    omitted: int = 0
    tail: tuple[str, ...] = ()


def visible(text: str) -> str:
    """Return a text with every control character replaced by a visible symbol."""
    return replaced(text, _mark)


def _mark(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨{code:04X}⟩"


def line(text: str, full: bool) -> str:
    """Return one line for display: visible, and cut with a count when it is too long."""
    text = text.removesuffix("\r")
    if full or len(text) <= LINE_LIMIT:
        return visible(text)
    left = len(text) - LINE_LIMIT
    return f"{visible(text[:LINE_LIMIT])} … {counted(left, 'more character')}"


def clipped(lines: Sequence[str], full: bool) -> Clipped:
    """Return lines for display, leaving out the middle when there are too many."""
    omitted = len(lines) - _HEAD - _TAIL
    if full or omitted <= 1:
        return Clipped(tuple(line(text, full) for text in lines))
    head = tuple(line(text, full) for text in lines[:_HEAD])
    return Clipped(head, omitted, tuple(line(text, full) for text in lines[-_TAIL:]))


def text_lines(text: str) -> list[str]:
    """Return a text's lines; a line end at the end does not begin another line."""
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


def ended(told: Bash) -> str:
    """Return how a command failed; empty for a success."""
    if told.status:
        return visible(told.status)
    return f"exit code {told.exit_code}" if told.exit_code else "cancelled" * told.aborted


def cut_off(told: Bash) -> list[str]:
    """Return the tool's notices about the shown part, without the path of the whole output."""
    end = f". Full output: {told.full_output_path}"
    notices = [notice.removesuffix(end) for notice in told.notices]
    return notices or recorded_cut(told.truncation)


def recorded_cut(truncation: Truncation | None) -> list[str]:
    """Return a notice for a text that only the record calls truncated."""
    if truncation is None:
        return []
    shown, total = truncation.shown_bytes, truncation.total_bytes
    if shown is not None and total is not None:
        return [f"truncated: {shown:,} of {counted(total, 'byte')} shown"]
    if truncation.total_lines is not None:
        return [f"truncated: of {counted(truncation.total_lines, 'line')} in all"]
    return ["truncated"]


def reach(told: Read) -> str:
    """Return the range of shown lines of a file; empty when all are shown."""
    if not told.content or (told.first_line == 1 and told.total_lines is None):
        return ""
    last = told.first_line + len(text_lines(told.content)) - 1
    of = "" if told.total_lines is None else f" of {told.total_lines:,}"
    return f"  lines {told.first_line:,} to {last:,}{of}"


def task_facts(told: Task) -> list[str]:
    """Return the facts about a subagent's work, other than its prompt and answer."""
    facts = [f"subagent {told.agent_type}"] if told.agent_type else ["subagent"]
    if told.in_background:
        facts.append("in the background")
    if told.tool_calls is not None:
        facts.append(counted(told.tool_calls, "tool call"))
    if told.tokens is not None:
        facts.append(counted(told.tokens, "token"))
    if told.milliseconds is not None:
        facts.append(f"{told.milliseconds / 1000:,.1f} s")
    if told.agent_id:
        facts.append(f"id {told.agent_id}")
    return [", ".join(facts)]


def fetch_facts(told: Fetch) -> list[str]:
    """Return the facts about a web page, other than its text."""
    facts = [] if told.status is None else [f"status {told.status}"]
    if told.size is not None:
        facts.append(counted(told.size, "byte"))
    return [", ".join(facts)] if facts else []


def todo_mark(item: Todo) -> str:
    """Return a check box for the status of a todo."""
    return {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}.get(
        item.status or "", "[?]"
    )


def mcp_lines(told: Mcp) -> list[str]:
    """Return the lines of an MCP tool's answer; JSON is pretty-printed."""
    if told.value is None:
        return text_lines(told.text)
    return json.dumps(told.value, ensure_ascii=False, indent=2).split("\n")
