"""Markdown as HTML that is safe to show: nothing of a text runs, loads or leads anywhere by itself.

Raw HTML in a text stays text. Images are named and not loaded. Links lead to the web and to
mail alone; any other target is shown beside its text.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from hindnote.core.presentation.view import visible

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

HIGHLIGHTED = 20_000
"""Code points of a block of code that is colored, at most; a longer one stays plain."""

SCHEMES = ("http://", "https://", "mailto:")
_TOP_HEADING = 3
"""Level of a text's first headings: those above belong to the page."""


def rendered(text: str) -> str:
    """Return a text's Markdown as HTML."""
    html: str = _parser().render(visible(text))
    return html


@cache
def code_style(name: str, scope: str) -> str:
    """Return the style sheet of colored code.

    Args:
        name: A style of Pygments.
        scope: Selector before each rule.
    """
    styles: str = HtmlFormatter(style=name).get_style_defs(  # type: ignore[no-untyped-call]
        f"{scope} .code"
    )
    # The formatter's rules for line numbers and backgrounds are for pages of its own.
    kept = [line for line in styles.splitlines() if line.startswith(f"{scope} .code .")]
    return re.sub(r" /\*.*?\*/", "", "\n".join(kept))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "highlight": None})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    for name, rule in (
        ("link_open", _link_open),
        ("link_close", _link_close),
        ("image", _image),
        ("fence", _code),
        ("code_block", _code),
        ("heading_open", _heading),
        ("heading_close", _heading),
        ("th_open", _cell),
        ("td_open", _cell),
        ("table_open", _table_open),
        ("table_close", _table_close),
    ):
        parser.add_render_rule(name, rule)
    return parser


# Each rule gets the renderer, the tokens, the place of one, the options and a dictionary for
# whatever the rules tell each other.


def _leads_outside(token: Token) -> bool:
    return str(token.attrGet("href") or "").lower().startswith(SCHEMES)


def _link_open(
    self: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    token = tokens[place]
    target = escape(str(token.attrGet("href") or ""))
    links: list[str] = env.setdefault("links", [])
    if _leads_outside(token):
        links.append("</a>")
        return f'<a href="{target}" rel="noreferrer noopener" target="_blank">'
    links.append(f' <span class="dim">({target})</span></span>' if target else "</span>")
    return "<span>"


def _link_close(
    self: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    end: str = env["links"].pop()
    return end


def _image(
    self: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    token = tokens[place]
    source = str(token.attrGet("src") or "")
    named = " ".join(filter(None, (token.content, source)))
    return f'<span class="dim">[image {escape(named)}]</span>'


def _code(
    self: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    token = tokens[place]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    # A block that is wider than the page is scrolled, for which the keyboard has to reach it.
    return f'<pre class="code" tabindex="0"><code>{colored(token.content, language)}</code></pre>\n'


def colored(code: str, language: str) -> str:
    """Return code as HTML, colored where the language is known."""
    if not language or len(code) > HIGHLIGHTED:
        return escape(code)
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(code)
    html: str = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return html


def _heading(
    self: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    token = tokens[place]
    level = min(6, int(token.tag[1:]) + _TOP_HEADING - 1)
    return f"<h{level}>" if token.nesting > 0 else f"</h{level}>\n"


def _cell(
    self: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    token = tokens[place]
    # A class, since strict pages take no style of a single element.
    side = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="{side}">' if side else f"<{token.tag}>"


def _table_open(
    self: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    return '<div class="wide" tabindex="0"><table>\n'


def _table_close(
    self: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    return "</table></div>\n"
