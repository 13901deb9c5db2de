from __future__ import annotations

import json
from io import BytesIO

import pytest

from hindnote.hosts.mcp.stdin import Mended, mended


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (r'"a\ud83d"', "a\ufffd"),
        (r'"a\uDC4B"', "a\ufffd"),
        (r'"\ud83d\udc4b"', "👋"),
        (r'{"k\ud800": ["\udfff"]}', {"k\ufffd": ["\ufffd"]}),
        (r'"\\ud83d"', r"\ud83d"),
    ],
)
def test_half_of_a_pair_becomes_the_replacement_character(line: str, value: object) -> None:
    assert json.loads(mended(line)) == value


@pytest.mark.parametrize("line", ["", "\n", '{"a": "é\u2028"}\n', r'{"torn\ud8'])
def test_any_other_line_is_left_as_it_is(line: str) -> None:
    assert mended(line) == line


def test_a_stream_is_read_line_by_line_to_its_end() -> None:
    lines = Mended(BytesIO(b"1\n" + rb'"\ud83d"' + b"\n"), encoding="utf-8")

    assert [lines.readline(), lines.readline(), lines.readline()] == ["1\n", '"\ufffd"\n', ""]
