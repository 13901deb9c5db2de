from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.text import clean, clean_json

ANY_TEXT = st.text(st.characters(), max_size=60)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(ANY_TEXT)
def test_a_cleaned_text_encodes_and_keeps_every_position(text: str) -> None:
    cleaned = clean(text)

    cleaned.encode()
    assert len(cleaned) == len(text)
    assert all(
        new == old or (new == "\ufffd" and "\ud800" <= old <= "\udfff")
        for old, new in zip(text, cleaned, strict=True)
    )


@given(ANY_JSON)
def test_cleaned_json_encodes(value: Any) -> None:
    json.dumps(clean_json(value), ensure_ascii=False).encode()


def test_keys_are_cleaned_too() -> None:
    assert clean_json({"\ud800": ["\udfff"]}) == {"\ufffd": ["\ufffd"]}
