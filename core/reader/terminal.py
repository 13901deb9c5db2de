"""Print a session's pages on a terminal. Rich handles width, colors and ``NO_COLOR``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from hindnote.core.presentation.terminal import STATUS_STYLES, View, print_body
from hindnote.core.presentation.view import visible
from hindnote.core.reader.page import Done, Mark, Said
from hindnote.core.reader.wording import NAMES, left_out, mark_words
from hindnote.core.text.minutes import local_minute

if TYPE_CHECKING:
    from rich.console import Console

    from hindnote.core.reader.page import Page

ROLE_STYLES = {"user": "bold blue", "assistant": "bold green", "context": "dim"}


class PlainMarkdown(Markdown):
    """Markdown whose raw HTML is printed as text; rich alone would leave it out."""

    def __init__(self, text: str) -> None:
        super().__init__(text, hyperlinks=False)
        parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        self.parsed = parser.parse(text)


def show(
    page: Page, console: Console, *, session: str, cwd: str | None, tools: bool, full: bool
) -> None:
    """Print a page.

    In a pipe there are no colors, lines are not broken, and Markdown is not rendered.

    Args:
        page: The page.
        console: Where to print.
        session: What to type for the session.
        cwd: Its directory.
        tools: Show what tools did, and what the model was given to read; else a line for each.
        full: Leave nothing out.
    """
    folded = False
    for number, item in enumerate(page.items):
        is_line = _is_line(item, tools)
        if number and not (folded and is_line):
            console.print()
        folded = is_line
        if isinstance(item, Mark):
            console.print(Text(f"── {visible(mark_words(item))}", style="yellow"), soft_wrap=True)
        elif isinstance(item, Said):
            _said(item, console, tools)
            _rest(console, item.seq, item.omitted, session)
        else:
            _done(item, console, cwd, tools, full)
            if tools:
                _rest(console, item.seq, item.omitted, session)


def _is_line(item: object, tools: bool) -> bool:
    return not tools and (
        isinstance(item, Done) or (isinstance(item, Said) and item.role == "context")
    )


def _said(said: Said, console: Console, tools: bool) -> None:
    head = Text(f"seq {said.seq}  ", style="dim")
    head.append(NAMES[said.role], style=f"not dim {ROLE_STYLES[said.role]}")
    if said.role == "context" and not tools:
        _one_line(console, head.append(f"  {visible(' '.join(said.text[:300].split()))}"))
        return
    if said.created_at:
        head.append(f"  {visible(local_minute(said.created_at))}")
    console.print(head, soft_wrap=True)
    text = visible(said.text)
    if console.is_terminal and said.role == "assistant":
        console.print(Padding(PlainMarkdown(text), (0, 0, 0, 2)))
    elif console.is_terminal:
        console.print(Padding(Text(text), (0, 0, 0, 2)))
    else:
        console.print(Text(text), soft_wrap=True)


def _done(done: Done, console: Console, cwd: str | None, tools: bool, full: bool) -> None:
    view = View(done.shown, cwd, full)
    if tools:
        console.print(view.head(), soft_wrap=True)
        print_body(console, view)
        return
    shown = done.shown
    status = shown.status or "unknown"
    line = Text(f"seq {done.seq}  ", style="dim")
    line.append(visible(shown.tool or "unknown tool"), style="not dim bold")
    if status != "ok":
        line.append(f"  {status}", style=STATUS_STYLES.get(status, "yellow") + " not dim")
    if done.nested:
        line.append(f"  {done.nested:,} nested calls")
    line.append(f"  {visible(done.summary)}", style="not dim")
    _one_line(console, line)


def _one_line(console: Console, line: Text) -> None:
    """Print a line, cut at the terminal's width."""
    if console.is_terminal:
        line.truncate(console.width, overflow="ellipsis")
    console.print(line, soft_wrap=True)


def _rest(console: Console, seq: int, omitted: int, session: str) -> None:
    if omitted:
        command = f"hindnote show {session} --seq {seq} --full"
        console.print(Text(f"{left_out(omitted)} ({command})", style="dim italic"), soft_wrap=True)
