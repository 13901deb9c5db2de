"""Render presentations in a terminal. Rich handles width, colors and ``NO_COLOR``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO
from typing import TYPE_CHECKING

from rich.cells import get_character_cell_size
from rich.console import Console
from rich.style import Style
from rich.text import Text as Line

from hindnote.core.cli.console import SafeConsole
from hindnote.core.presentation.collect import located
from hindnote.core.presentation.models import (
    Bash,
    Edit,
    Fetch,
    Find,
    Grep,
    GrepFile,
    Ls,
    Mcp,
    Read,
    Task,
    Text,
    Todos,
    Write,
)
from hindnote.core.presentation.output import FullOutput, full_output
from hindnote.core.presentation.view import (
    clipped,
    cut_off,
    ended,
    fetch_facts,
    line,
    mcp_lines,
    reach,
    recorded_cut,
    task_facts,
    text_lines,
    todo_mark,
    visible,
)
from hindnote.core.text.messages import counted
from hindnote.core.text.minutes import local_minute

if TYPE_CHECKING:
    from pathlib import Path

    from hindnote.core.presentation.collect import Page, Shown

STATUS_STYLES = {"ok": "green", "error": "bold red", "pending": "yellow", "unanswered": "yellow"}
DIFF_STYLES = {"+": "green", "-": "red", "…": "dim", None: ""}


def show(page: Page, full: bool, console: Console | None = None) -> None:
    """Print a page; to a pipe without colors and without wrapping lines."""
    console = console or SafeConsole(highlight=False)
    if not page.results:
        console.print("no tool results")
    for number, shown in enumerate(page.results):
        if number:
            console.print()
        view = View(shown, page.cwd, full)
        console.print(view.head(), soft_wrap=True)
        print_body(console, view)


def body_text(shown: Shown, cwd: str | None, full: bool) -> str:
    """Return the rendered result as plain text, as it is printed to a pipe."""
    out = StringIO()
    console = Console(file=out, color_system=None, highlight=False, force_terminal=False)
    print_body(console, View(shown, cwd, full))
    lines = out.getvalue().removesuffix("\n").split("\n")
    return "\n".join(line.removeprefix("  ") for line in lines)


def print_body(console: Console, view: View) -> None:
    """Print the rendered result, without the header line."""
    for part in view.body():
        # A pipe has no width at which to wrap lines.
        pieces = folded(part, console.width - 2) if console.is_terminal else [part]
        for piece in pieces:
            console.print(Line("  ").append_text(piece), soft_wrap=True)


class Row(Line):
    """A line whose continuation is indented below its text."""

    indent = 0
    """Width of what comes before the text, in cells."""

    prose = False
    """Whether it is wrapped between words."""


def folded(part: Line, width: int) -> Iterator[Line]:
    """Yield a line in pieces of at most ``width`` cells.

    Everything except prose is wrapped anywhere, as terminals do, so that no space is lost.
    """
    part.expand_tabs(8)
    if part.cell_len <= width:
        yield part
        return
    indent = part.indent if isinstance(part, Row) and part.indent * 2 < width else 0
    prose = isinstance(part, Row) and part.prose
    breaks: list[int] = []
    used = 0
    for place, character in enumerate(part.plain):
        size = get_character_cell_size(character)
        if used + size > width:
            begin = breaks[-1] if breaks else 0
            word = part.plain.rfind(" ", begin + 1, place) + 1 if prose else 0
            breaks.append(word or place)
            used = indent + sum(map(get_character_cell_size, part.plain[breaks[-1] : place]))
        used += size
    first, *others = part.divide(breaks)
    yield first
    for piece in others:
        yield Line(" " * indent).append_text(piece)


class View:
    """Renders one tool event for a terminal."""

    def __init__(self, shown: Shown, cwd: str | None, full: bool) -> None:
        self._cwd = cwd
        self._shown = shown
        self._full = full

    def head(self) -> Line:
        """Return the header line of the event."""
        shown = self._shown
        head = Line(f"seq {shown.seq}  ", style="dim")
        head.append(visible(shown.tool or "unknown tool"), style="bold not dim")
        if shown.subject:
            head.append(f" {line(shown.subject, self._full)}", style="not dim")
        status = shown.status or "unknown"
        head.append(f"  {status}", style=STATUS_STYLES.get(status, "yellow") + " not dim")
        if shown.created_at:
            head.append(f"  {visible(local_minute(shown.created_at))}")
        return head

    def body(self) -> Iterator[Line]:
        """Yield the lines below the header."""
        told = self._shown.presentation
        if isinstance(told, Bash):
            yield from self._bash(told)
        elif isinstance(told, Edit):
            yield from self._edit(told)
        elif isinstance(told, Grep):
            yield from self._grep(told)
        elif isinstance(told, Find):
            yield from self._listed([(path, path.endswith("/")) for path in told.paths])
            yield from self._noted(told.no_matches, "no files found", told.notices)
        elif isinstance(told, Ls):
            yield from self._listed(
                [(e.name + "/" * e.directory, e.directory) for e in told.entries]
            )
            yield from self._noted(told.empty, "empty directory", told.notices)
        elif isinstance(told, Read):
            yield from self._read(told)
        elif isinstance(told, Write):
            yield self._path(told.path, told.sentence)
            content = self._shown.argument("content")
            yield from self._lines(text_lines(content) if content else (), "dim")
        elif isinstance(told, Task):
            yield from self._noted(False, "", task_facts(told))
            yield from self._lines(text_lines(told.prompt or ""), "dim")
            yield from self._lines(text_lines(told.text))
        elif isinstance(told, Fetch):
            yield Line(line(told.url or "a page", self._full), style="underline")
            yield from self._noted(bool(told.prompt), told.prompt or "", fetch_facts(told))
            yield from self._lines(text_lines(told.text))
        elif isinstance(told, Todos):
            yield from self._lines(f"{todo_mark(item)} {item.text}" for item in told.items)
        elif isinstance(told, Mcp):
            yield from self._arguments()
            yield from self._lines(mcp_lines(told), "red" if told.failed else "")
        elif isinstance(told, Text):
            yield from self._arguments()
            yield from self._lines(text_lines(told.text), "red" if told.failed else "")
        else:
            yield from self._arguments()
            yield Line("no result", style="dim")
        for image in told.images if told else ():
            size = "" if image.size is None else f", {counted(image.size, 'byte')}"
            yield Line(f"[image {visible(image.mime or '')}{size}]", style="dim")

    def _arguments(self) -> Iterator[Line]:
        for name, lines in self._shown.described():
            if name:
                yield Line(line(name, self._full), style="dim italic")
            yield from self._lines(lines, "dim")

    def _path(self, path: str | None, text: str, *below: str | None) -> Line:
        """Return a text as a link to a path, if the terminal supports links."""
        shown = Line(line(text, self._full))
        target = located(self._cwd, *below, path)
        if path and target is not None:
            self._link(shown, target)
        return shown

    def _link(self, shown: Line, target: Path) -> None:
        shown.stylize(Style(link=target.as_uri()))

    def _lines(self, lines: Iterable[str], style: str = "") -> Iterator[Line]:
        cut = clipped(list(lines), self._full)
        for text in cut.head:
            yield Line(text, style=style)
        if cut.omitted:
            yield Line(f"… {counted(cut.omitted, 'more line')}", style="dim italic")
        for text in cut.tail:
            yield Line(text, style=style)

    def _noted(self, nothing: bool, sentence: str, notices: Iterable[str]) -> Iterator[Line]:
        if nothing:
            yield Line(sentence, style="dim")
        if told := ". ".join(notices):
            shown = Row(f"({line(told, self._full)})", style="dim italic")
            shown.prose = True
            yield shown

    def _listed(self, names: list[tuple[str, bool]]) -> Iterator[Line]:
        folders = {line(name, self._full) for name, folder in names if folder}
        for shown in self._lines(name for name, _ in names):
            if shown.plain in folders:
                shown.stylize("bold blue")
            yield shown

    def _bash(self, told: Bash) -> Iterator[Line]:
        if told.command:
            for number, text in enumerate(text_lines(told.command)):
                yield Line(f"{'>' if number else '$'} {line(text, self._full)}", style="bold")
        whole = full_output(told) if told.full_output_path else FullOutput()
        if told.no_output:
            yield Line("no output", style="dim")
        elif self._full and whole.path:
            left_out = Line(f"… {counted(whole.omitted, 'more byte')}", style="dim italic")
            if whole.omitted and not told.is_beginning:
                yield left_out
            yield from self._lines(text_lines(whole.text))
            if whole.omitted and told.is_beginning:
                yield left_out
        elif told.output:
            # Without a status, the text of a failed call is the error.
            style = "red" if told.failed and not ended(told) else ""
            yield from self._lines(text_lines(told.output), style)
        yield from self._noted(False, "", cut_off(told))
        if told.full_output_path:
            yield self._full_output(told.full_output_path, whole)
        if ending := ended(told):
            yield Line(ending, style="bold red")

    def _full_output(self, path: str, whole: FullOutput) -> Line:
        shown = Line(f"full output: {line(path, self._full)}", style="dim")
        if whole.path is None:
            return shown.append(f" ({whole.problem})")
        self._link(shown, whole.path)
        return shown if self._full else shown.append(" (--full shows it)")

    def _edit(self, told: Edit) -> Iterator[Line]:
        yield self._path(told.path, told.sentence)
        for row in told.rows:
            number = "" if row.line is None else str(row.line)
            text = "⋯" if row.marker == "…" else line(row.text, self._full)
            style = DIFF_STYLES.get(row.marker, "")
            marker = row.marker if row.marker in ("+", "-") else " "
            shown = Row(f"{marker}{number:>{told.gutter}} {text}", style=style)
            shown.indent = told.gutter + 2
            yield shown

    def _grep(self, told: Grep) -> Iterator[Line]:
        if not told.no_matches:
            files = counted(told.file_count, "file")
            matches = counted(told.match_count, "match")
            yield Line(f"{matches} in {files}", style="dim")
        for file in told.files:
            yield from self._file(file)
        for row in told.loose:
            if row.text != "--":
                yield Line(line(row.text, self._full))
        yield from self._noted(told.no_matches, "no matches found", told.notices)

    def _file(self, file: GrepFile) -> Iterator[Line]:
        given = self._shown.arguments if isinstance(self._shown.arguments, dict) else {}
        below = given.get("path") if isinstance(given.get("path"), str) else None
        if below and file.path and below.rsplit("/", 1)[-1] == file.path:
            below = below[: -len(file.path)]
        if file.path is not None:
            name = self._path(file.path, file.path, below)
            name.stylize("bold magenta")
            yield name.append(" (path guessed)", style="dim") if file.guessed else name
        width = max(len(str(row.line)) for block in file.blocks for row in block)
        for number, block in enumerate(file.blocks):
            if number and len(file.blocks) > 1 and max(map(len, file.blocks)) > 1:
                yield Line(f"{'⋯':>{width}}", style="dim")
            for row in block:
                match = row.kind == "match"
                # The mark distinguishes matches where there are no colors.
                mark = ":" if match else "-"
                shown = Row(f"{row.line:>{width}}{mark} ", style="green" if match else "dim")
                shown.indent = width + 2
                text = Line(line(row.text, self._full), style="bold not dim" if match else "dim")
                if match and (literal := self._shown.literal):
                    for found in literal.finditer(text.plain):
                        text.stylize("underline", *found.span())
                yield shown.append_text(text)

    def _read(self, told: Read) -> Iterator[Line]:
        yield self._path(told.path, told.path or "a file").append(reach(told), style="dim")
        if told.content:
            yield from self._lines(text_lines(told.content))
        if not told.notices:
            yield from self._noted(False, "", recorded_cut(told.truncation))
        yield from self._noted(False, "", told.notices)
