"""Render presentations as one HTML page: no scripts, no requests, all recorded text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from hindnote.core.presentation.collect import located
from hindnote.core.presentation.models import (
    Bash,
    Edit,
    Fetch,
    Find,
    Grep,
    GrepFile,
    GrepLine,
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
from hindnote.core.text.minutes import to_the_minute

if TYPE_CHECKING:
    from hindnote.core.presentation.collect import Page, Shown
    from hindnote.core.presentation.models import DiffRow

WIDEST = 9
"""Maximum width in digits of a column of line numbers."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --dim: #5b6570; --paper: #fbfbfa; --card: #fff;
  --edge: #dcdfe3; --ok: #1a7f37; --bad: #b3261e; --wait: #8a5a00; --add: #e3f6e8; --del: #fdeaea;
  --path: #7a2a8c; --mark: #fff0b3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ea; --dim: #9aa4ae; --paper: #15181b;
  --card: #1d2125; --edge: #363c42; --ok: #6fdd8b; --bad: #ff9b93; --wait: #f0c168; --add: #14321f;
  --del: #3d1a1a; --path: #dba6ea; --mark: #5c4d10; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: 0; overflow-wrap: anywhere; }
.about, .dim, .note { color: var(--dim); }
.note { font-size: .9rem; }
.about { margin: .25rem 0 1.5rem; overflow-wrap: anywhere; }
article { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem;
  margin: 0 0 1rem; overflow: hidden; }
article > header { display: flex; flex-wrap: wrap; gap: 0 .75rem; padding: .5rem .9rem;
  border-bottom: 1px solid var(--edge); align-items: baseline; }
article > header h2 { font-size: 1rem; margin: 0; }
article > header .dim { font-size: .85rem; }
article > header code { overflow-wrap: anywhere; }
.ok { color: var(--ok); } .error { color: var(--bad); } .other { color: var(--wait); }
.body { padding: .6rem .9rem .8rem; }
.body > * { margin: .35rem 0; }
pre, code, .path { font: .85rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; tab-size: 4; }
pre { overflow-x: auto; margin: 0; padding: .1rem 0; unicode-bidi: plaintext; }
.path { color: var(--path); font-weight: 600; overflow-wrap: anywhere; margin: .6rem 0 .1rem; }
.row { display: block; min-width: max-content; white-space: pre; }
.no { color: var(--dim); user-select: none; display: inline-block; text-align: right;
  margin-right: 1ch; }
.match { font-weight: 600; } .context { color: var(--dim); }
.row.match, .row.context { display: flex; min-width: 0; }
.row.match > span:last-child, .row.context > span:last-child { flex: 1; min-width: 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.no { flex: none; }
.add { background: var(--add); } .del { background: var(--del); }
.gap, .left { color: var(--dim); font-style: italic; }
mark { background: var(--mark); color: inherit; }
a { color: inherit; }
""" + "\n".join(f".w{digits} {{ min-width: {digits}ch; }}" for digits in range(1, WIDEST + 1))


def document(page: Page, full: bool) -> str:
    """Return a page for a browser."""
    title = escape(visible(page.name or f"Session {page.session}"))
    about = " · ".join(visible(part) for part in (page.name and page.session, page.cwd) if part)
    count = len(page.results)
    body = "\n".join(Article(shown, page.cwd, full).html() for shown in page.results)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p class="about">{escape(about)} · {counted(count, "tool result")}</p>
<main>
{body}
</main>
</body>
</html>"""


class Article:
    """One tool event of a page.

    Args:
        shown: The event.
        cwd: The session's directory, for links to paths; None: no links.
        full: Whether to show everything.
    """

    def __init__(self, shown: Shown, cwd: str | None, full: bool) -> None:
        self._cwd = cwd
        self._shown = shown
        self._full = full

    def html(self) -> str:
        """Return the event as an element."""
        shown = self._shown
        status = shown.status or "unknown"
        look = status if status in ("ok", "error") else "other"
        subject = f"<code>{self._text(shown.subject)}</code> " if shown.subject else ""
        return (
            f'<article id="seq-{shown.seq}">\n<header><h2>{self._text(shown.tool or "unknown tool")}'
            f'</h2> {subject}<span class="{look}">{status}</span> <span class="dim">seq {shown.seq}</span> '
            f'<span class="dim">{self._text(to_the_minute(shown.created_at or ""))}</span></header>\n'
            f'<div class="body">\n{self.body()}\n</div>\n</article>'
        )

    def body(self) -> str:
        """Return the rendered result, without the header line."""
        return "\n".join(self._body())

    def _text(self, text: str) -> str:
        return escape(line(text, self._full))

    def _body(self) -> Iterator[str]:
        told = self._shown.presentation
        if isinstance(told, Bash):
            yield from self._bash(told)
        elif isinstance(told, Edit):
            yield from self._changed(told.path, told.sentence)
            yield f'<pre tabindex="0">{"".join(self._diff_row(row, told.gutter) for row in told.rows)}</pre>'
        elif isinstance(told, Grep):
            yield from self._grep(told)
        elif isinstance(told, Find):
            yield from self._pre(told.paths)
            yield from self._noted("no files found" if told.no_matches else "", told.notices)
        elif isinstance(told, Ls):
            yield from self._pre(entry.name + "/" * entry.directory for entry in told.entries)
            yield from self._noted("empty directory" if told.empty else "", told.notices)
        elif isinstance(told, Read):
            where = self._linked(told.path, told.path or "a file")
            yield f'<p class="path">{where}<span class="dim">{escape(reach(told))}</span></p>'
            yield from self._pre(
                text_lines(told.content) if told.content else (), "", told.first_line
            )
            yield from self._noted("", told.notices or recorded_cut(told.truncation))
        elif isinstance(told, Write):
            yield from self._changed(told.path, told.sentence)
            content = self._shown.argument("content")
            yield from self._pre(text_lines(content) if content else ())
        elif isinstance(told, Task):
            yield from self._noted("", task_facts(told))
            yield from self._pre(text_lines(told.prompt or ""), "dim")
            yield from self._pre(text_lines(told.text))
        elif isinstance(told, Fetch):
            yield f'<p class="path">{self._text(told.url or "a page")}</p>'
            yield from self._noted(told.prompt or "", fetch_facts(told))
            yield from self._pre(text_lines(told.text))
        elif isinstance(told, Todos):
            yield from self._pre(f"{todo_mark(item)} {item.text}" for item in told.items)
        elif isinstance(told, Mcp):
            yield from self._arguments()
            yield from self._pre(mcp_lines(told), "error" if told.failed else "")
        elif isinstance(told, Text):
            yield from self._arguments()
            yield from self._pre(text_lines(told.text), "error" if told.failed else "")
        else:
            yield from self._arguments()
            yield '<p class="note">no result</p>'
        for image in told.images if told else ():
            size = "" if image.size is None else f", {counted(image.size, 'byte')}"
            yield f'<p class="note">[image {self._text(image.mime or "")}{size}]</p>'

    def _arguments(self) -> Iterator[str]:
        for name, lines in self._shown.described():
            if name:
                yield f'<p class="note">{self._text(name)}</p>'
            yield from self._pre(lines, "dim")

    def _linked(self, path: str | None, text: str, *below: str | None) -> str:
        """Return a text as a link to a path, if the path can be made absolute."""
        target = located(self._cwd, *below, path) if path else None
        shown = self._text(text)
        return shown if target is None else f'<a href="{escape(target.as_uri())}">{shown}</a>'

    def _changed(self, path: str | None, sentence: str) -> Iterator[str]:
        if path is not None:
            yield f'<p class="path">{self._linked(path, path)}</p>'
        yield f'<p class="note">{self._text(sentence)}</p>'

    def _pre(self, lines: Iterable[str], look: str = "", first: int | None = None) -> Iterator[str]:
        """Yield lines unchanged, with line numbers if ``first`` is given."""
        rows = list(lines)
        cut = clipped(rows, self._full)
        if not cut.head:
            return
        width = len(str((first or 0) + len(rows) - 1))

        def numbered(shown: Iterable[str], begin: int) -> Iterator[str]:
            for number, text in enumerate(shown, begin):
                yield (_number(number, width) if first is not None else "") + escape(text)

        begin = first or 0
        shown = [*numbered(cut.head, begin)]
        if cut.omitted:
            shown.append(f'<span class="left">… {counted(cut.omitted, "more line")}</span>')
            shown += numbered(cut.tail, begin + len(cut.head) + cut.omitted)
        named = f' class="{look}"' if look else ""
        # A line end directly after the tag would be dropped.
        # A block wider than the page is scrolled; tabindex makes it reachable by keyboard.
        yield f'<pre tabindex="0"{named}>\n{chr(10).join(shown)}</pre>'

    def _noted(self, sentence: str, notices: Iterable[str]) -> Iterator[str]:
        for text in (sentence, ". ".join(notices)):
            if text:
                yield f'<p class="note">{self._text(text)}</p>'

    def _bash(self, told: Bash) -> Iterator[str]:
        if told.command:
            lines = text_lines(told.command)
            text = "\n".join(f"{'>' if n else '$'} {row}" for n, row in enumerate(lines))
            yield from self._pre(text.split("\n"), "match")
        whole = full_output(told) if told.full_output_path else FullOutput()
        if told.no_output:
            yield '<p class="note">no output</p>'
        elif self._full and whole.path:
            left_out = f'<p class="note">… {counted(whole.omitted, "more byte")}</p>'
            if whole.omitted and not told.is_beginning:
                yield left_out
            yield from self._pre(text_lines(whole.text))
            if whole.omitted and told.is_beginning:
                yield left_out
        elif told.output:
            # Without a status, the text of a failed call is the error.
            look = "error" if told.failed and not ended(told) else ""
            yield from self._pre(text_lines(told.output), look)
        yield from self._noted("", cut_off(told))
        if told.full_output_path:
            yield self._full_output(told.full_output_path, whole)
        if ending := ended(told):
            yield f'<p class="error">{escape(ending)}</p>'

    def _full_output(self, path: str, whole: FullOutput) -> str:
        shown = self._text(path)
        if whole.path is None:
            return f'<p class="note">full output: {shown} ({escape(whole.problem)})</p>'
        uri = escape(whole.path.as_uri())
        return f'<p class="note">full output: <a href="{uri}">{shown}</a></p>'

    def _diff_row(self, row: DiffRow, gutter: int) -> str:
        look = {"+": " add", "-": " del"}.get(row.marker or "", "")
        if row.marker == "…":
            return f'<span class="row gap">{_number(None, gutter)}⋯</span>'
        return (
            f'<span class="row{look}">{_number(row.line, gutter)}'
            f"{escape(row.marker or ' ')} {self._text(row.text)}</span>"
        )

    def _grep(self, told: Grep) -> Iterator[str]:
        if not told.no_matches:
            files = counted(told.file_count, "file")
            matches = counted(told.match_count, "match")
            yield f'<p class="note">{matches} in {files}</p>'
        for file in told.files:
            yield from self._file(file)
        yield from self._pre(row.text for row in told.loose if row.text != "--")
        if told.match_count and self._shown.literal:
            yield '<p class="note">Marked words were found again in the shown lines.</p>'
        yield from self._noted("no matches found" if told.no_matches else "", told.notices)

    def _file(self, file: GrepFile) -> Iterator[str]:
        if file.path is not None:
            guess = ' <span class="dim">(path guessed)</span>' if file.guessed else ""
            yield f'<p class="path">{self._text(file.path)}{guess}</p>'
        width = max(len(str(row.line)) for block in file.blocks for row in block)
        apart = max(map(len, file.blocks)) > 1
        gap = '<span class="row gap">⋯</span>' if apart else ""
        yield (
            '<pre tabindex="0">'
            + gap.join(
                "".join(self._grep_row(row, width) for row in block) for block in file.blocks
            )
            + "</pre>"
        )

    def _grep_row(self, row: GrepLine, width: int) -> str:
        text = line(row.text, self._full)
        literal = self._shown.literal if row.kind == "match" else None
        shown = marked(text, literal) if literal else escape(text)
        number = _number(row.line, width)
        return f'<span class="row {row.kind}">{number}<span>{shown}</span></span>'


def _number(number: int | None, width: int) -> str:
    shown = "" if number is None else number
    # A class, since a strict content security policy forbids style attributes.
    return f'<span class="no w{min(width, WIDEST)}">{shown}</span>'


def marked(text: str, literal: re.Pattern[str]) -> str:
    """Return a text escaped, with the searched text marked."""
    pieces, end = [], 0
    for found in literal.finditer(text):
        pieces += [escape(text[end : found.start()]), f"<mark>{escape(found.group())}</mark>"]
        end = found.end()
    return "".join(pieces) + escape(text[end:])
