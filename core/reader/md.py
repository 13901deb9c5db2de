"""A session's pages as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hindnote.core.presentation.terminal import body_text
from hindnote.core.presentation.view import visible
from hindnote.core.reader.page import Done, Mark, Said
from hindnote.core.reader.wording import NAMES, left_out, mark_words
from hindnote.core.text.minutes import to_the_minute

if TYPE_CHECKING:
    from hindnote.core.reader.page import Page

_FENCES = re.compile("`{3,}")
_SPECIAL = re.compile(r"([\\`*_\[\]<>])")


def markdown(
    page: Page, title: str, about: str, *, tools: bool, full: bool, cwd: str | None
) -> str:
    """Return a page as Markdown.

    Args:
        page: The page.
        title: What the session is called.
        about: A line below that.
        tools: Show what tools did, and what the model was given to read; else a line for each.
        full: Leave nothing out.
        cwd: The session's directory.
    """
    parts = [f"# {_plain(title)}", _plain(about)]
    for item in page.items:
        if isinstance(item, Mark):
            parts.append(f"---\n\n*{_plain(mark_words(item))}*")
        elif isinstance(item, Said):
            parts.append("\n\n".join(_said(item, tools)))
        else:
            parts.append("\n\n".join(_done(item, tools, full, cwd)))
    return "\n\n".join(parts) + "\n"


def _said(said: Said, tools: bool) -> Iterator[str]:
    if said.role == "context" and not tools:
        first = " ".join(said.text[:300].split())[:150]
        yield f"- seq {said.seq} **{NAMES[said.role]}** {_plain(first)}"
        return
    yield f"## {NAMES[said.role]} · seq {said.seq}{_time(said.created_at)}"
    yield visible(said.text)
    if said.omitted:
        yield f"*{left_out(said.omitted)}*"


def _done(done: Done, tools: bool, full: bool, cwd: str | None) -> Iterator[str]:
    shown = done.shown
    asked = f" {_code(visible(done.summary))}" if done.summary else ""
    name = _plain(shown.tool or "unknown tool")
    line = f"seq {done.seq} **{name}**{asked} {shown.status or 'unknown'}"
    if not tools:
        yield f"- {line}"
        return
    yield f"### {line}{_time(done.created_at)}"
    text = body_text(shown, cwd, full)
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    yield f"{fence}text\n{text}\n{fence}"
    if done.omitted:
        yield f"*{left_out(done.omitted)}*"


def _time(created_at: str | None) -> str:
    return f" · {visible(to_the_minute(created_at))}" if created_at else ""


def _plain(text: str) -> str:
    """Return a line with the characters escaped that have a meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", visible(" ".join(text.split())))


def _code(text: str) -> str:
    """Return a line as inline code; it may contain backticks."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"
