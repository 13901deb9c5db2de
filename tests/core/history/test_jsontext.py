from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, Struct

from hindnote.core.history.jsontext import (
    MAX_DEPTH,
    Unreadable,
    accepted,
    compact,
    mend,
    parse,
    placeholder,
    shaped,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Surrogates too: a host may have written any of them as an escape.
    | st.text(st.characters(), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_what_json_wrote_is_read_and_compacted_without_change(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "replace")

    expected = json.loads(mend(data))

    assert parse(data) == expected
    text = compact(data)
    assert json.loads(text) == expected
    assert "\n" not in text
    text.encode()


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (rb'"x\udc88y"', "x\ufffdy"),
        (rb'"x\ud83dy"', "x\ufffdy"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (rb'"\\ud83d"', r"\ud83d"),
        (rb'"\\\ud83d"', "\\\ufffd"),
        (b'"\xff\xfe"', "\ufffd\ufffd"),
        (b'\xef\xbb\xbf"x"', "x"),
    ],
)
def test_lone_surrogates_and_bad_bytes_become_replacement_characters(
    escaped: bytes, text: str
) -> None:
    assert parse(escaped) == text


@pytest.mark.parametrize(
    "data",
    [
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"-1e999",
        b"1" * 5000,
        b"[" * 1100 + b"]" * 1100,
        b'{"a":' * 1100 + b"1" + b"}" * 1100,
        b"[" * 200_000,
        b'{"type":"message","id":"a","cont{"type":"message","id":"b"}',
        b'"raw\nnewline"',
        b"\x00" * 100,
        b"",
    ],
)
def test_what_cannot_be_passed_on_as_json_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        parse(data)
    with pytest.raises(Unreadable):
        parse(b'{"x":' + data + b"}")


def test_deep_but_allowed_nesting_is_read() -> None:
    data = b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1)

    assert compact(data).encode() == data
    parse(data)


def test_brackets_inside_strings_are_no_nesting() -> None:
    text = "[" * 5000 + '"' + "{" * 5000

    assert parse(json.dumps([text]).encode()) == [text]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'{ "b" : 1.0,\n "a":[ 1e+21 , 1e-7, -0 ] }', '{"b":1.0,"a":[1e+21,1e-7,-0]}'),
        (rb'"\u00e9 \ud83d\ude00 \u0041"', '"é 😀 A"'),
        (rb'"\u001b \u2028 \u0022 \u005c \\u0041 \n"', r'"\u001b \u2028 \u0022 \u005c \\u0041 \n"'),
        (rb'"\ud83d"', rb'"\ufffd"'.decode("unicode_escape")),
        (rb'"a\/b \\/"', r'"a/b \\/"'),
        (b'"100000000000000000000000"', '"100000000000000000000000"'),
    ],
)
def test_compact_keeps_numbers_and_order_and_spells_out_characters(raw: bytes, text: str) -> None:
    assert compact(raw) == text


@pytest.mark.parametrize(
    ("raw", "shape", "value"),
    [
        (b'"caf\xe9"', str, "caf\ufffd"),
        (b'"x"', list, None),
        (b"", str, None),
        (b'"\xe9', str, None),
        (b'["caf\xe9", 1]', list, ["caf\ufffd", 1]),
    ],
)
def test_a_part_is_read_with_bytes_that_are_no_text_replaced(
    raw: bytes, shape: type[object], value: object
) -> None:
    assert shaped(Raw(raw), shape) == value


class _Line(Struct):
    text: Any = None
    rest: Raw = Raw()


def test_an_accepted_line_is_read_in_its_shape_and_mended_where_it_must_be() -> None:
    assert accepted(b'{"text":"a","rest":[1],"more":2}', _Line) == _Line("a", Raw(b"[1]"))
    assert accepted(b'{"text":"\\ud800"}', _Line).text == "\ufffd"


@pytest.mark.parametrize(
    ("coded", "size"),
    [(b"abc", 3), (b"abcd", 4), (b"", 0), (b"x" * 12_345, 12_345)],
)
def test_a_placeholder_tells_the_size_of_what_was_coded(coded: bytes, size: int) -> None:
    raw = Raw(b'"' + base64.b64encode(coded) + b'"')

    assert placeholder("image image/png", raw) == f"[image image/png, {size:,} bytes]"


@pytest.mark.parametrize("raw", [Raw(), Raw(b"5"), Raw(b"null")])
def test_a_placeholder_of_what_is_no_text_tells_no_size(raw: Raw) -> None:
    assert placeholder("image", raw) == "[image]"
