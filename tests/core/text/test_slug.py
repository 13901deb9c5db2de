from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.text.slug import RESERVED_HOSTS, SLUG_LIMIT, encode_session_id, is_slug, slug

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=100)


@given(NAMES)
def test_a_slug_is_always_a_slug_and_stays_one(name: str) -> None:
    made = slug(name)

    assert is_slug(made)
    assert slug(made) == made
    assert len(made) <= SLUG_LIMIT


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("root", "root"),
        ("Claude Opus 4", "claude-opus-4"),
        ("provider/model:free", "provider-model-free"),
        ("..", "x"),
        ("", "x"),
        ("---a", "a"),
        ("项目", "x"),
        ("a项目", "a--"),
        ("v1.2_x", "v1.2_x"),
    ],
)
def test_a_name_becomes_lower_case_ascii(name: str, made: str) -> None:
    assert slug(name) == made


@pytest.mark.parametrize("name", ["", "A", "-a", ".a", "a/b", "a b", "é", "a\n", "x" * 65])
def test_what_is_no_slug_is_told(name: str) -> None:
    assert not is_slug(name)


def test_the_reserved_host_slugs_are_the_folders_of_a_home() -> None:
    assert {"human", "project", "agents", "models", "session"} == RESERVED_HOSTS


@given(NAMES.filter(len))
def test_a_session_id_is_one_safe_segment_that_leads_back_to_it(session_id: str) -> None:
    segment = encode_session_id(session_id)

    assert unquote(segment) == session_id
    assert segment not in {".", ".."}
    assert not segment.startswith(".")
    assert set(segment) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-%")


def test_an_ordinary_session_id_stays_as_it_is() -> None:
    ordinary = "01a22be3-c9bc-7148-a162-34435c96bde2"

    assert encode_session_id(ordinary) == ordinary


@given(NAMES.filter(len), NAMES.filter(len))
def test_two_session_ids_never_share_a_segment(one: str, other: str) -> None:
    assert (encode_session_id(one) == encode_session_id(other)) is (one == other)
