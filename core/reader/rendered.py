"""Render Markdown as safe HTML: nothing in a text is executed or loaded.

Raw HTML stays text. Images are named and not loaded. Only links to the web and to mail addresses
become links; any other target is shown beside its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

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

Env: TypeAlias = MutableMapping[str, Any]

HIGHLIGHTED = 20_000
"""Maximum number of code points of a code block that is colored."""

SCHEMES = ("http://", "https://", "mailto:")
_TOP_HEADING = 3
"""Level of a text's top headings; the levels above belong to the page."""


def rendered(text: str) -> str:
    """Return Markdown as HTML."""
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
    # Leave out the formatter's rules for line numbers and backgrounds.
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
        parser.add_render_rule(name, _as_method(rule))
    return parser


def _as_method(rule: Callable[[Token, Env], str]) -> Any:
    """Return a rendering rule as a method of the renderer, which is how the parser calls it."""

    def method(
        self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Env
    ) -> str:
        return rule(tokens[place], env)

    return method


# Each rule gets a token, and a dictionary that all rules of one text share.


def _link_open(token: Token, env: Env) -> str:
    target = str(token.attrGet("href") or "")
    links: list[str] = env.setdefault("links", [])
    if target.lower().startswith(SCHEMES):
        links.append("</a>")
        return f'<a href="{escape(target)}" rel="noreferrer noopener" target="_blank">'
    named = f' <span class="dim">({escape(target)})</span>' if target else ""
    links.append(f"{named}</span>")
    return "<span>"


def _link_close(token: Token, env: Env) -> str:
    end: str = env["links"].pop()
    return end


def _image(token: Token, env: Env) -> str:
    source = str(token.attrGet("src") or "")
    named = " ".join(filter(None, (token.content, source)))
    return f'<span class="dim">[image {escape(named)}]</span>'


def _code(token: Token, env: Env) -> str:
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    # A block that is wider than the page can be scrolled, so the keyboard must be able to reach
    # it.
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


def _heading(token: Token, env: Env) -> str:
    level = min(6, int(token.tag[1:]) + _TOP_HEADING - 1)
    return f"<h{level}>" if token.nesting > 0 else f"</h{level}>\n"


def _cell(token: Token, env: Env) -> str:
    # A class, because the Content Security Policy allows no style attributes.
    side = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="{side}">' if side else f"<{token.tag}>"


def _table_open(token: Token, env: Env) -> str:
    return '<div class="wide" tabindex="0"><table>\n'


def _table_close(token: Token, env: Env) -> str:
    return "</table></div>\n"
