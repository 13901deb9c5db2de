from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from hindnote.core.text.messages import MESSAGE_LIMIT
from hindnote.core.tools.operation import ArgumentError, Hints, Operation, Params
from hindnote.core.tools.outcome import Result


class Edit(Params):
    old: str
    note: str | None = None


class Everything(Params):
    text: str = ""
    number: int = 0
    flag: bool = False
    words: str | list[str] | None = None
    numbers: list[int] = Field(default_factory=list)
    edits: list[Edit] = Field(default_factory=list)
    side: Literal["a", "b"] = "a"
    from_: str = Field(alias="from", default="")


class Nothing(Result):
    pass


def bind(**arguments: Any) -> Everything:
    operation = Operation(
        name="toy",
        title="Toy",
        description="A toy.",
        family="notes",
        params=Everything,
        success=Nothing,
        codes=frozenset(),
        hints=Hints(read_only=True),
        handle=lambda call, params: (_ for _ in ()).throw(AssertionError),
        render=lambda result: "",
    )
    return operation.bind(arguments)


@given(st.integers(-(2**53), 2**53))
def test_a_whole_float_counts_as_an_integer(number: int) -> None:
    bound = bind(number=float(number), numbers=[float(number), number])

    assert bound.number == number
    assert bound.numbers == [number, number]
    assert type(bound.number) is int


def test_null_counts_as_omitted() -> None:
    bound = bind(number=None, words=None, edits=[{"old": "x", "note": None}])

    assert bound.model_fields_set == {"edits"}
    assert bound.edits[0].model_fields_set == {"old"}


def test_a_lone_surrogate_becomes_a_replacement_character_one_for_one() -> None:
    bound = bind(text="x\udc88y\ud83d", words=["\ud800"], edits=[{"old": "\udfff"}])

    assert bound.text == "x\ufffdy\ufffd"
    assert bound.words == ["\ufffd"]
    assert bound.edits[0].old == "\ufffd"


def test_a_pair_of_surrogates_stays_the_character_that_it_is() -> None:
    assert bind(text="😀").text == "😀"


@pytest.mark.parametrize(
    "arguments",
    [
        {"number": 1.5},
        {"number": "1"},
        {"number": True},
        {"number": float("nan")},
        {"number": float("inf")},
        {"flag": 1},
        {"flag": "true"},
        {"text": 1},
        {"text": b"bytes"},
        {"words": 5},
        {"words": ["a", 1]},
        {"numbers": "1"},
        {"edits": {"old": "x"}},
        {"edits": [{"old": "x", "new": "y"}]},
        {"edits": ["x"]},
        {"side": "c"},
        {"unknown": 1},
        {"unknown": 1, "text": 5},
        {"": 1},
    ],
)
def test_a_wrong_type_or_an_unknown_field_is_an_argument_error(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="toy: "):
        bind(**arguments)


def test_an_unknown_null_field_counts_as_omitted_too() -> None:
    assert bind(unknown=None) == Everything()


def test_an_unknown_field_is_told_with_those_that_are_known() -> None:
    with pytest.raises(ArgumentError) as caught:
        bind(numbr=1)

    assert "numbr: unknown field" in str(caught.value)
    assert "number" in str(caught.value)
    assert "side, from)" in str(caught.value)


def test_a_nested_mistake_is_told_with_its_place() -> None:
    with pytest.raises(ArgumentError, match=r"edits\.1\.old"):
        bind(edits=[{"old": "x"}, {"old": 5}])


@pytest.mark.parametrize(
    "arguments",
    [
        {"x" * 100_000: 1},
        {"a\nb": 1},
        {"numbers": ["x"] * 10_000},
        {f"k{n}": 1 for n in range(999)},
    ],
    ids=["long", "broken", "many", "all"],
)
def test_the_message_is_one_bounded_line(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError) as caught:
        bind(**arguments)

    message = str(caught.value)
    assert len(message) <= MESSAGE_LIMIT
    assert len(message.splitlines()) == 1


def test_arguments_nested_too_deeply_are_an_argument_error() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]

    with pytest.raises(ArgumentError):
        bind(words=deep)


def test_parameters_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        bind().text = "x"  # type: ignore[misc]
