from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from hindnote.core.project.markdown import parse_markdown
from hindnote.core.project.outcome import Declined
from hindnote.core.project.todos.content import new_content, with_status
from hindnote.core.project.todos.names import TodoName

NAME = TodoName("007", "pending", "p1", "x")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(TEXT, VALUES, max_size=4), TEXT)
def test_what_is_written_parses_back_equal_with_an_independent_parser(
    extra: dict[str, Any], body: str
) -> None:
    extra = {f"k{key}": value for key, value in extra.items()}

    text = new_content(NAME, "A title", extra, body).decode()

    block, _, rest = text.removeprefix("---\n").partition("\n---\n\n")
    assert YAML(typ="safe", pure=True).load(block) == {
        "issue_id": "007",
        "status": "pending",
        "priority": "p1",
        "title": "A title",
        **extra,
    }
    assert rest == body


@pytest.mark.parametrize(
    "value",
    ["a: b", "# x", "- x", "@x", "%x", "*x", "yes", "0012", "x ", "a\nb", "\u2028", "", "😀"],
)
def test_a_value_that_yaml_would_read_as_something_else_survives(value: str) -> None:
    text = new_content(NAME, "t", {"k": value, value: 1}, "").decode()

    assert parse_markdown(text).values["k"] == value
    assert parse_markdown(text).values[value] == 1


@pytest.mark.parametrize(
    "title", ["", "  ", "a\nb", "a\u2028b", "a\u202eb", "\u200d", "\u3000", "a\x1bb", "a\x85b"]
)
def test_a_title_is_one_visible_line(title: str) -> None:
    with pytest.raises(Declined) as caught:
        new_content(NAME, title, {}, "")

    assert caught.value.code == "invalid_title"


@pytest.mark.parametrize(
    "title", ["x" * 241, "😀" * 121, "می\u200cخواهم", "👩\u200d💻", "修复" * 500]
)
def test_no_ceiling_of_delivery_limits_a_title_or_a_key(title: str) -> None:
    text = new_content(NAME, title, {"k" * 257: 1}, "").decode()

    values = parse_markdown(text).values
    assert (values["title"], values["k" * 257]) == (title, 1)


@pytest.mark.parametrize("extra", [{"status": "ready"}, {"title": "x"}])
def test_keys_that_the_tools_write_are_refused(extra: dict[str, Any]) -> None:
    with pytest.raises(Declined) as caught:
        new_content(NAME, "t", extra, "")

    assert caught.value.code == "invalid_frontmatter"


@pytest.mark.parametrize(
    "text",
    [
        "---\nz: 1\r\nstatus: pending\r\na: 2\r\n---\r\nbody\r\n\r\n",
        "\ufeff---\nstatus: pending\n---\nb",
        "---\n# why\nmeta:\n  a: 1\nkey.x: 1\nclé: 2\nv: 1.0\nbig: 9007199254740993\n---\r\nb".replace(
            "v:", "status:   'pending'   # now\nv:"
        ),
        "---\nstatus: pending\nlist:\n- status: pending\ntext: |\n  status: pending\n---\n",
        '---\n"status": "pending"\n---\nstatus: pending\n',
        "---\nstatus: pending\n---",
    ],
)
def test_a_transition_changes_the_value_of_one_line_and_no_other_byte(text: str) -> None:
    made = with_status(parse_markdown(text), "ready").decode()

    for quote in ("'", '"'):
        text = text.replace(f"status:   {quote}pending{quote}", "status:   pending")
        text = text.replace(f'"status": {quote}pending{quote}', '"status": pending')
    assert made == text.replace("pending", "ready", 1)


@pytest.mark.parametrize("text", ["---\n{status: pending, a: 1}\n---\n", "no frontmatter"])
def test_a_block_that_cannot_be_edited_in_place_is_refused(text: str) -> None:
    with pytest.raises(Declined) as caught:
        with_status(parse_markdown(text), "ready")

    assert caught.value.code == "invalid_frontmatter"
