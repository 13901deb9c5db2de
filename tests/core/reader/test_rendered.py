"""Markdown as HTML: whatever a text holds, nothing of it runs, loads or leads anywhere else."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.reader.rendered import HIGHLIGHTED, rendered
from hindnote.core.text.controls import HIDDEN

TAGS = {
    "a", "blockquote", "br", "code", "div", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
    "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {"class", "href", "rel", "start", "tabindex", "target"}
VOID = {"br", "hr"}


class Checker(HTMLParser):
    """Collects what a page may not hold."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.problems.append(f"<{tag}>")
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            leads = name == "href" and not (value or "").lower().startswith(
                ("http://", "https://", "mailto:")
            )
            if name not in ATTRIBUTES or leads:
                self.problems.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.problems == []
    assert checker.open == []
    return checker


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Title", "<h3>Title</h3>\n"),
        (
            "|a|b|\n|:-:|-:|",
            (
                '<div class="wide" tabindex="0"><table>\n<thead>\n<tr>\n<th class="center">a</th>\n'
                '<th class="right">b</th>\n</tr>\n</thead>\n</table></div>\n'
            ),
        ),
        ("**b** ~~s~~", "<p><strong>b</strong> <s>s</s></p>\n"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        ("![alt](http://e/x.png)", '<p><span class="dim">[image alt http://e/x.png]</span></p>\n'),
        ("[x](src/a.py)", '<p><span>x <span class="dim">(src/a.py)</span></span></p>\n'),
        (
            "[x](https://e.org/?a=1&b='2')",
            (
                '<p><a href="https://e.org/?a=1&amp;b=\'2\'" rel="noreferrer noopener" '
                'target="_blank">x</a></p>\n'
            ),
        ),
    ],
)
def test_markdown_becomes_html_that_is_safe_to_show(text: str, html: str) -> None:
    shown = rendered(text)

    checked(shown)
    assert shown.replace("&#x27;", "'").replace("%27", "'") == html


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "file:///etc",
        "//e/x",
        "#x",
    ],
)
def test_a_link_leads_to_the_web_and_to_mail_alone(target: str) -> None:
    for text in (f"[x]({target})", f"[x](<{target}>)", f"[x]: {target}\n\n[x]", f"<{target}>"):
        assert "<a " not in rendered(text)


def test_code_is_colored_where_its_language_is_known_and_it_is_short() -> None:
    assert '<span class="k">def</span>' in rendered("```python\ndef f(): pass\n```")
    assert "<span" not in rendered("```nolanguage\ndef f(): pass\n```")
    assert "<span" not in rendered(f"```python\n{'x = 1' * HIGHLIGHTED}\n```")


PIECES = st.lists(
    st.sampled_from(
        ["<script>", "</script>", "<img src=x onerror=y>", "```", "```html\n", "|a|b|\n|:-:|-:|\n|1|2|\n", "\n", "\n\n", "[", "](",
         ")", "javascript:", "http://e/", '"', "'", "<", ">", "&lt;", "&#x3c;script&#x3e;", "!", "|",
         "|-|\n", "# ", "* ", "1. ", "> ", "`", "\\", "<!--", "-->", "\u202e", "\x1b", "é", "~~", "**"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(PIECES | st.text(max_size=80))
def test_no_text_makes_an_element_of_its_own(text: str) -> None:
    shown = rendered(text)

    checked(shown)
    assert HIDDEN.search(shown) is None
