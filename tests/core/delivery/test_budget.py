from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from hindnote.core.delivery.budget import (
    OUTPUT_BUDGET_BYTES,
    Budget,
    Size,
    longest,
    longest_rows,
    measure,
    utf8_size,
)
from hindnote.core.plugins.models import Decoration
from hindnote.core.tools.outcome import Result


class Text(Result):
    text: str


@given(st.integers(0, 500), st.integers(-1, 600))
def test_the_longest_that_fits_is_found(limit: int, bound: int) -> None:
    assert longest(limit, lambda n: n <= bound) == max(0, min(limit, bound))


def test_the_search_asks_a_logarithm_of_times() -> None:
    asked: list[int] = []

    def fits(count: int) -> bool:
        asked.append(count)
        return count <= 12_345

    assert longest(50_000, fits) == 12_345
    assert len(asked) <= 17


@given(st.integers(0, 2 * OUTPUT_BUDGET_BYTES), st.integers(0, 2 * OUTPUT_BUDGET_BYTES))
def test_both_forms_must_fit(json: int, text: int) -> None:
    fits = json <= OUTPUT_BUDGET_BYTES and text <= OUTPUT_BUDGET_BYTES

    assert Budget().allows(Size(json, text)) is fits


def test_the_last_byte_counts() -> None:
    assert Budget().allows(Size(OUTPUT_BUDGET_BYTES, OUTPUT_BUDGET_BYTES))
    assert not Budget().allows(Size(OUTPUT_BUDGET_BYTES + 1, 0))
    assert not Budget().allows(Size(0, OUTPUT_BUDGET_BYTES + 1))


def test_a_decoration_s_bytes_are_counted_against_the_text_alone() -> None:
    budget = Budget(Decoration(prefix="é", suffix="!"))

    assert budget.allows(Size(OUTPUT_BUDGET_BYTES, OUTPUT_BUDGET_BYTES - 3))
    assert not budget.allows(Size(0, OUTPUT_BUDGET_BYTES - 2))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_sizes_are_those_of_the_encoded_forms(text: str) -> None:
    result = Text(text=text)

    size = measure(result, text)

    assert size.text == len(text.encode()) == utf8_size(text)
    assert size.json == len(result.model_dump_json().encode())


def test_sizes_add_up() -> None:
    assert Size(1, 2) + Size(3, 4) == Size(4, 6)


class _Rows(Result):
    rows: list[str]
    more: int


@given(
    rows=st.lists(st.text(st.sampled_from('aé"\n👩'), max_size=30), max_size=20),
    limit=st.integers(20, 200),
    asked=st.integers(0, 20),
)
def test_rows_are_kept_in_order_while_both_forms_fit(
    rows: list[str], limit: int, asked: int
) -> None:
    asked = min(asked, len(rows))
    budget = Budget(limit=limit)

    def build(count: int) -> _Rows:
        return _Rows(rows=rows[:count], more=len(rows) - count)

    def text(result: _Rows) -> str:
        return "\n".join([f"{result.more} more", *result.rows])

    def fits(count: int) -> bool:
        return budget.fits(build(count), text(build(count)))

    sizes = (Size(utf8_size(to_json(row).decode()), utf8_size(row)) for row in rows[:asked])
    frame = measure(build(0), text(build(0)))

    count = longest_rows(sizes, asked, frame, fits, budget)

    assert count == 0 or fits(count)
    assert count == asked or not fits(count + 1)
