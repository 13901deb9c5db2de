from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hindnote.core.delivery.budget import OUTPUT_BUDGET_BYTES, Budget, measure
from hindnote.core.delivery.window import (
    DEFAULT_LIMIT_CHARS,
    MAX_LIMIT_CHARS,
    WindowParams,
    WindowResult,
    continuation,
    fit_window,
    start_of,
)
from hindnote.core.errors import Refused
from hindnote.core.plugins.models import Decoration

FAMILY = "👩\u200d👩\u200d👧é"


class Read(WindowResult):
    address: str


def read(source: str, budget: Budget | None = None, address: str = "a.md", **params: Any) -> Read:
    def build(text: str, total: int, following: int | None) -> Read:
        return Read(text=text, total_chars=total, next_offset_chars=following, address=address)

    asked = WindowParams.model_validate(params)
    return fit_window(source, asked, budget or Budget(), build, render)


def render(result: Read) -> str:
    suffix = continuation(result.next_offset_chars)
    return f"{result.address}\n\n{result.text}{suffix}"


def rejoined(source: str, budget: Budget | None = None, **params: Any) -> tuple[str, int]:
    text = ""
    windows = 0
    offset: int | None = 0
    while offset is not None:
        window = read(source, budget, offset_chars=offset, **params)
        assert window.total_chars == len(source)
        assert (budget or Budget()).allows(measure(window, render(window)))
        text += window.text
        windows += 1
        offset = window.next_offset_chars
    return text, windows


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(TEXTS, st.integers(1, 60))
@example(source="", limit=1)
@example(source="a\r\nb\r\n", limit=1)
@example(source=FAMILY * 4, limit=3)
def test_windows_rejoin_to_the_source(source: str, limit: int) -> None:
    assert rejoined(source, limit_chars=limit)[0] == source


@given(TEXTS.filter(len), st.integers(200, 2_000))
def test_windows_rejoin_when_the_budget_and_not_the_caller_cuts(source: str, limit: int) -> None:
    source *= 40
    budget = Budget(Decoration(prefix="<", suffix=">"), limit=limit)

    assert rejoined(source, budget, limit_chars=MAX_LIMIT_CHARS)[0] == source


def test_a_long_text_of_joined_characters_rejoins() -> None:
    source = FAMILY * 20_000

    text, windows = rejoined(source, limit_chars=MAX_LIMIT_CHARS)

    assert text == source
    assert windows >= len(source.encode()) // OUTPUT_BUDGET_BYTES


@pytest.mark.parametrize("filler", ["\x01", '"', "\\", "\n", "é", "部", "😀", "a"])
def test_both_forms_of_the_longest_window_fit_and_one_character_more_does_not(filler: str) -> None:
    source = filler * MAX_LIMIT_CHARS

    window = read(source, limit_chars=MAX_LIMIT_CHARS)

    assert Budget().allows(measure(window, render(window)))
    count = len(window.text)
    assert count < len(source)
    more = window.model_copy(update={"text": source[: count + 1], "next_offset_chars": count + 1})
    assert not Budget().allows(measure(more, render(more)))


def test_a_text_that_fits_only_without_a_continuation_is_delivered_whole() -> None:
    source = "a" * 400
    whole = read(source)
    budget = Budget(limit=max(measure(whole, render(whole)).json, len(render(whole))))

    assert read(source, budget).next_offset_chars is None


@pytest.mark.parametrize(
    ("offset", "text", "following"),
    [
        (0, "abc", 3),
        (2, "cde", 5),
        (5, "f", None),
        (6, "", None),
        (-2, "ef", None),
        (-99, "abc", 3),
    ],
)
def test_an_offset_counts_from_the_start_or_from_the_end(
    offset: int, text: str, following: int | None
) -> None:
    window = read("abcdef", offset_chars=offset, limit_chars=3)

    assert (window.text, window.next_offset_chars) == (text, following)


def test_an_offset_past_the_end_is_refused_with_the_largest_legal_one() -> None:
    with pytest.raises(Refused) as caught:
        read("abc", offset_chars=4)

    assert caught.value.code == "invalid_offset"
    assert "3" in caught.value.refusal.message


def test_a_window_that_cannot_hold_one_character_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        read("abc", address="x" * OUTPUT_BUDGET_BYTES)

    assert caught.value.code == "output_too_large"


def test_an_empty_text_is_a_complete_read() -> None:
    window = read("")

    assert (window.text, window.total_chars, window.next_offset_chars) == ("", 0, None)


def test_the_default_limit_is_twelve_thousand_code_points() -> None:
    assert len(read("a" * 20_000).text) == DEFAULT_LIMIT_CHARS == 12_000


@pytest.mark.parametrize("limit", [0, -1, MAX_LIMIT_CHARS + 1])
def test_a_limit_out_of_range_is_no_window(limit: int) -> None:
    with pytest.raises(ValueError, match="limit_chars"):
        WindowParams(limit_chars=limit)


@given(st.integers(0, 100), st.integers(0, 300))
def test_a_start_is_never_outside_the_text(total: int, before_its_end: int) -> None:
    offset = total - before_its_end

    assert 0 <= start_of(total, offset) <= total


def test_a_continuation_is_said_only_of_an_incomplete_read() -> None:
    assert continuation(None) == ""
    assert continuation(12) == "\n[truncated; continue at offset_chars=12]"
