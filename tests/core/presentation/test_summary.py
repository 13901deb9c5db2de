from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.presentation.summary import summary
from hindnote.core.text.messages import WORDS_SHOWN


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"command": "ls\n -la", "description": "List"}, "ls -la"),
        ({"pattern": "def ", "path": "src"}, "def in src"),
        ({"pattern": "def"}, "def"),
        ({"file_path": "/w/a.py", "limit": 3}, "/w/a.py"),
        ({"todos": [{}, {}]}, "2 todos"),
        ({"address": "@human/x", "content": "long"}, "@human/x"),
        ({"command": "", "odd": [1]}, '{"command": "", "odd": [1]}'),
        ({}, ""),
        (None, ""),
        ("text", '"text"'),
        ({"command": "x" * 300}, "x" * (WORDS_SHOWN - 1) + "…"),
    ],
)
def test_a_call_is_told_by_what_says_most_of_it(arguments: Any, told: str) -> None:
    assert summary("tool", arguments) == told


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["command", "pattern", "path", "todos"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@given(JSON)
def test_any_arguments_are_told_on_one_short_line(arguments: Any) -> None:
    told = summary(None, arguments)

    assert len(told.splitlines()) <= 1
    assert len(told) <= WORDS_SHOWN
