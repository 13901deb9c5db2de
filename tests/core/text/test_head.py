"""What a file begins with: frontmatter, a thematic break, or a block that is never closed."""

from __future__ import annotations

from typing import Any

import pytest

from hindnote.core.text.head import read_head

UNCLOSED = [
    "---\nkind: x\ntitle: t\nbody\n",
    "---\n",
    "\ufeff--- \r\nkind: x\r\n",
    "---\ntitle: x\n...\nbody\n",
    "---\ntitle: x\n...\nbody\n---\nmore\n",
    "---\r\ntitle: x\r\n... \r\nbody\r\n---\r\nmore\r\n",
]
BODY = [
    "---\n\n**Subject: Hello**\n\nsecretword\n\n---\n\n> Final",
    "---\n \t\n# a: b: c\n*x\n---\n",
    "---\r\n\r\n@x\r\n---\r\n",
    "---\nACME LEGAL PLLC\n---\nbody",
    "no frontmatter\n---\n",
    "----\na: 1\n---\n",
    "---x\na: 1\n---\n",
    "",
]


@pytest.mark.parametrize("text", UNCLOSED)
def test_a_block_that_is_never_closed_is_body_and_said_to_be_open(text: str) -> None:
    head = read_head(text)

    assert head.unclosed
    assert (head.parts, head.block, head.error) == (None, None, None)


@pytest.mark.parametrize("text", BODY)
def test_what_is_no_frontmatter_is_body(text: str) -> None:
    head = read_head(text)

    assert (head.parts, head.block, head.error, head.unclosed) == (None, None, None, False)


@pytest.mark.parametrize("text", ["---\n\na: 1\n---\nb", "---\n\n# why\na: 1\n---\nb"])
def test_a_blank_line_before_readable_keys_makes_no_thematic_break(text: str) -> None:
    head = read_head(text)

    assert head.block is not None
    assert head.block.values() == {"a": 1}


@pytest.mark.parametrize(
    "text", ["---\na: b: c\n---\nb", "---\na: 1\na: 2\n---\nb", "---\n\na: 1\na: 2\n---\nb"]
)
def test_a_block_that_cannot_be_read_says_why(text: str) -> None:
    head = read_head(text)

    assert head.parts is not None
    assert head.parts.body == "b"
    assert head.error


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("title: {{title}}", "{{title}}"),
        ("title: {a: {{x}}, b: 1}", {"a": "{{x}}", "b": 1}),
        ("title: [{{x}}, {[a, b]: c}]", ["{{x}}", "{[a, b]: c}"]),
        ("title: {a: 1}", {"a": 1}),
        ("title: [[link]]", [["link"]]),
        ("title:\n  ? [a]\n  : b", "? [a]\n  : b"),
    ],
)
def test_what_json_has_no_form_for_is_shown_as_yaml_has_it(line: str, shown: Any) -> None:
    head = read_head(f"---\n{line}\nother: 1\n---\n")

    assert head.block is not None
    assert head.block.values() == {"title": shown, "other": 1}


def test_a_key_that_is_no_scalar_is_shown_as_yaml_has_it() -> None:
    head = read_head("---\n? {a: b}\n: 1\n---\n")

    assert head.block is not None
    assert head.block.values() == {"{a: b}": 1}


def test_aliases_of_such_values_stay_within_their_bound() -> None:
    lines = [f"a: &a {{{{{'x' * 3_000}}}}}", *(f"b{number}: *a" for number in range(8))]
    head = read_head("---\n" + "\n".join(lines) + "\n---\n")

    assert head.block is not None
    assert sum(len(str(value)) for value in head.block.values().values()) < 12_000
