"""Render a session's pages as HTML without scripts and requests; all recorded text is escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

from msgspec import Struct

from hindnote.core.presentation.html import STYLE, Article
from hindnote.core.presentation.view import visible
from hindnote.core.reader.page import Done, Mark, Said
from hindnote.core.reader.rendered import code_style, rendered
from hindnote.core.reader.wording import NAMES, left_out, mark_words
from hindnote.core.text.minutes import local_minute, to_the_minute

if TYPE_CHECKING:
    from hindnote.core.reader.page import Page

BODY_LIMIT = 60_000
"""Maximum number of characters of HTML for one tool's result."""

BODIES_LIMIT = 800_000
"""Maximum number of characters of HTML for all tool results of a page."""

READING_STYLE = """
.said { padding: .6rem .9rem .8rem; }
.said > header { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; border: 0;
  padding: 0; }
.said > header h2, summary b { font-size: .95rem; }
.user { border-left: .25rem solid var(--user); }
.text { overflow-wrap: anywhere; margin-top: .2rem; }
.text > :first-child { margin-top: 0; } .text > :last-child { margin-bottom: 0; }
.plain { white-space: pre-wrap; unicode-bidi: plaintext; }
.seq { color: var(--dim); font-size: .85rem; text-decoration: none; }
.seq:hover { text-decoration: underline; }
time { color: var(--dim); font-size: .85rem; }
details.done, details.context { margin: 0 0 .35rem; border-radius: .4rem; }
details > summary { cursor: pointer; padding: .25rem .6rem; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; border-radius: .4rem; }
details > summary:hover { background: var(--card); }
details[open] { background: var(--card); border: 1px solid var(--edge); margin-bottom: 1rem; }
details[open] > summary { white-space: normal; overflow-wrap: anywhere; }
summary code { font-size: .85rem; }
.mark { display: flex; gap: .75rem; align-items: center; color: var(--dim); margin: 1.5rem 0; }
.mark::before, .mark::after { content: ""; flex: 1; border-top: 1px solid var(--edge); }
.mark > span { max-width: 80%; overflow-wrap: anywhere; }
:target { outline: 2px solid var(--user); }
.code, .wide { overflow-x: auto; }
.code { background: var(--sunken); border-radius: .3rem; padding: .5rem .7rem; }
:not(pre) > code { background: var(--sunken); border-radius: .2rem; padding: 0 .2rem; }
summary > code { background: none; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--edge); padding: .2rem .5rem; }
td.right, th.right { text-align: right; } td.center, th.center { text-align: center; }
blockquote { border-left: .2rem solid var(--edge); margin-left: 0; padding-left: .8rem; }
:root { --user: #0b5fd6; --sunken: #f0f1f2; }
@media (prefers-color-scheme: dark) { :root:not([data-theme]) { --user: #6ea8ff; --sunken: #262b30; } }
:root[data-theme=dark] { --user: #6ea8ff; --sunken: #262b30; }
"""


def style() -> str:
    """Return the style sheet of a page with a session's events."""
    dark = code_style("github-dark", ":root[data-theme=dark]")
    by_system = code_style("github-dark", ":root:not([data-theme])")
    return "\n".join(
        (
            STYLE,
            READING_STYLE,
            code_style("xcode", ":root"),
            dark,
            f"@media (prefers-color-scheme: dark) {{\n{by_system}\n}}",
        )
    )


class Drawing(Struct, frozen=True):
    """Options for rendering a page."""

    cwd: str | None = None
    """The session's directory, for links from paths to files; None for no links."""

    session: str = ""
    """The session's name in the command that shows more."""

    link: Callable[[int], str] | None = None
    """Returns the address of an event's own page; None to name a command instead."""

    anchor: Callable[[int], str] | None = None
    """Returns the address of an event; None for an anchor on this page."""

    full: bool = False
    opened: bool = False
    """Whether tool calls are shown unfolded at first."""

    body_limit: int | None = BODY_LIMIT
    """Maximum number of characters of HTML for one tool's result; None for no limit."""


def drawn(page: Page, how: Drawing) -> str:
    """Return a page's events and marks as HTML elements."""
    return "\n".join(_items(page, how))


def _items(page: Page, how: Drawing) -> Iterator[str]:
    room = BODIES_LIMIT
    for item in page.items:
        if isinstance(item, Mark):
            yield _mark(item)
        elif isinstance(item, Said):
            yield _said(item, how)
        else:
            body = _body(item, how, room)
            room -= len(body)
            yield _done(item, body, how)


def _mark(mark: Mark) -> str:
    name = f' id="window-{mark.number}"' if mark.kind == "window" else ""
    return f'<p class="mark"{name}><span>{escape(visible(mark_words(mark)))}</span></p>'


def _said(said: Said, how: Drawing) -> str:
    name = NAMES[said.role]
    if said.role == "assistant":
        text = rendered(said.text)
    else:
        text = f'<div class="plain">{escape(visible(said.text))}</div>'
    rest = _rest(said.seq, said.omitted, how)
    if said.role == "context":
        first = escape(visible(" ".join(said.text[:300].split())[:150]))
        return (
            f'<details class="context" id="seq-{said.seq}" data-seq="{said.seq}"{_opened(how)}>'
            f'<summary><b>{name}</b> <span class="dim">{first}</span></summary>'
            f'<div class="body">{_facts(said.seq, said.created_at, how)}<div class="text">{text}</div>'
            f"{rest}</div></details>"
        )
    return (
        f'<article class="said {said.role}" id="seq-{said.seq}" data-seq="{said.seq}">'
        f"<header><h2>{name}</h2> {_facts(said.seq, said.created_at, how)}</header>"
        f'<div class="text">{text}</div>{rest}</article>'
    )


def _done(done: Done, body: str, how: Drawing) -> str:
    shown = done.shown
    status = shown.status or "unknown"
    look = status if status in ("ok", "error") else "other"
    told = "" if status == "ok" else f' <span class="{look}">{status}</span>'
    nested = f' <span class="dim">{done.nested:,} nested calls</span>' if done.nested else ""
    asked = f" <code>{escape(visible(done.summary))}</code>" if done.summary else ""
    return (
        f'<details class="done" id="seq-{done.seq}" data-seq="{done.seq}" data-status="{status}"'
        f"{_opened(how)}><summary><b>{escape(visible(shown.tool or 'unknown tool'))}</b>{asked}{told}"
        f'{nested}</summary><div class="body">{_facts(done.seq, done.created_at, how)}{body}</div></details>'
    )


def _opened(how: Drawing) -> str:
    return " open" if how.opened else ""


def _body(done: Done, how: Drawing, room: int) -> str:
    """Return a tool's result as HTML; a link to it when the page has no room."""
    body = Article(done.shown, how.cwd, how.full).body()
    limit = how.body_limit
    if limit is None or len(body) <= min(limit, max(room, 0) if not how.full else limit):
        return body + _rest(done.seq, done.omitted, how)
    return f'<p class="note">too long for this page {_way(done.seq, how)}</p>'


def _rest(seq: int, omitted: int, how: Drawing) -> str:
    if not omitted:
        return ""
    return f'<p class="note">{left_out(omitted)} {_way(seq, how)}</p>'


def _way(seq: int, how: Drawing) -> str:
    """Return the link or the command that shows the whole event."""
    if how.link is not None:
        return f'<a href="{escape(how.link(seq))}">all of it</a>'
    return f"(<code>hindnote show {escape(how.session)} --seq {seq} --full</code>)"


def _facts(seq: int, created_at: str | None, how: Drawing) -> str:
    link = f"#seq-{seq}" if how.anchor is None else how.anchor(seq)
    time = ""
    if created_at:
        # A file may be read in another time zone than here.
        shown = to_the_minute(created_at) if how.anchor is None else local_minute(created_at)
        moment = escape(visible(created_at))
        time = f' <time datetime="{moment}">{escape(visible(shown))}</time>'
    return f'<a class="seq" href="{escape(link)}">seq {seq}</a>{time}'


def document(title: str, about: str, body: str) -> str:
    """Return a whole HTML document that loads nothing and has no script.

    Args:
        title: What it is called, as text.
        about: A line below that, as text.
        body: The elements of the page.
    """
    name, line = escape(visible(title)), escape(visible(about))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{name}</title>
<style>{style()}</style>
</head>
<body>
<h1>{name}</h1>
<p class="about">{line}</p>
<main>
{body}
</main>
</body>
</html>"""
