from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.history import ends
from hindnote.core.history.ends import first_lines, last_lines_with

LINES = st.lists(st.sampled_from([b"", b"x", b"a MARK", b"MARK", b"y" * 30, b"MARK MARK"]))


def read_of(data: bytes) -> ends.Read:
    return lambda offset, size: data[offset : offset + size]


@given(lines=LINES, piece=st.integers(1, 40), end=st.booleans())
def test_both_ends_find_the_lines_that_a_split_finds(
    lines: list[bytes], piece: int, end: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if end else b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ends, "FIRST_PIECE", piece)
        patch.setattr(ends, "_PIECE", piece)
        first = list(first_lines(read_of(data), len(data), 1 << 20))
        last = list(last_lines_with(read_of(data), 0, len(data), b"MARK", b"a M"))

    every = data.split(b"\n")
    assert first == [line for line in every if line]
    assert last == [line for line in reversed(every) if b"MARK" in line]


def test_zero_bytes_end_a_line() -> None:
    data = b"\0\0MARK 1\0MARK 2\n\0"

    assert list(first_lines(read_of(data), len(data), 99)) == [b"MARK 1", b"MARK 2"]
    assert list(last_lines_with(read_of(data), 0, len(data), b"MARK")) == [b"MARK 2", b"MARK 1"]


def test_a_line_that_goes_on_behind_the_limit_is_left_out() -> None:
    assert list(first_lines(read_of(b"one\ntwo\nthree"), 13, 9)) == [b"one", b"two"]


def test_nothing_before_the_start_is_found() -> None:
    data = b"MARK 1\nMARK 2\nMARK 3"

    assert list(last_lines_with(read_of(data), 7, len(data), b"MARK")) == [b"MARK 3", b"MARK 2"]


def test_a_line_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ends, "LONGEST", 20)
    data = b"MARK 1\n" + b"x" * 30 + b"MARK" + b"x" * 30 + b"\nMARK 3\n"

    assert list(last_lines_with(read_of(data), 0, len(data), b"MARK")) == [b"MARK 3", b"MARK 1"]
