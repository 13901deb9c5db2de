from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.hosts.mcp.wire import Unreadable, is_id, read, write

DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{ torn", "not JSON"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b"-Infinity", "not a JSON number"),
        (b'"\xff"', "not UTF-8"),
        (DEEP, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused_with_the_reason(line: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(line)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"id": 7, "params": NaN}', 7),
        (b'{"params": {"id": 1, "a": [{"id": 2}]}, "id": "x\\u00e9", NaN', "xé"),
        (b'{"id": 1.5, "params": ' + DEEP, 1.5),
        (b'{"params": ' + b"[" * 5000 + b"]" * 5000 + b', "id": 9}', 9),
        (b'{"id": 3, "a": "\xff"}', 3),
        (b'{"id": null, NaN}', None),
        (b'{"id": true, NaN}', None),
        (b'{"a": "id", "b": ":", NaN', None),
        (b'{"params": {"id": 5}', None),
        (b'{"id', None),
    ],
)
def test_the_id_of_a_line_beyond_reading_is_the_one_at_its_top(line: bytes, found: object) -> None:
    with pytest.raises(Unreadable) as caught:
        read(line)

    assert caught.value.id == found


def test_looking_for_an_id_takes_time_as_the_line_is_long() -> None:
    """A string without its end, full of quotes, would be scanned from each of them."""
    with pytest.raises(Unreadable):
        read(b'{"a": "' + b'\\"' * 500_000)


def test_a_number_with_too_many_digits_is_infinity() -> None:
    assert read(b"1" * 5000) == math.inf


def test_half_a_character_in_an_id_goes_back_as_it_came() -> None:
    line = b'{"id": "\\ud83d"}'

    assert json.loads(write(read(line))) == {"id": "\ud83d"}


@pytest.mark.parametrize("value", [None, True, [], {}, math.inf, math.nan])
def test_what_is_neither_text_nor_finite_number_is_no_id(value: object) -> None:
    assert not is_id(value)


@given(st.binary())
def test_any_bytes_are_a_value_or_refused(line: bytes) -> None:
    try:
        read(line)
    except Unreadable as bad:
        assert bad.id is None or is_id(bad.id)
