"""Which characters a terminal gets."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.text.controls import HIDDEN, escaped, escaped_line
from hindnote.hosts.pi import paths


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text\n\twith a tab", "plain text\n\twith a tab"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x1b[31mred\x9b0m", r"\x1b[31mred\x9b0m"),
        ("a\rb\x7f", r"a\rb\x7f"),
        ("a\u202eb\u2066c\u200f", r"a\u202eb\u2066c\u200f"),
        ("ze\u200bro\ufeff", r"ze\u200bro\ufeff"),
        ("\U000e0041tag", r"\U000e0041tag"),
        ("line\u2028end\x85", r"line\u2028end\x85"),
        ("half \ud83d", r"half \ud83d"),
        ("a\u200db \u200c", r"a\u200db \u200c"),
        ("a\ufe0f", r"a\ufe0f"),
        # A family, a heart, a keycap, Persian: joiners and selectors that show something.
        ("👩‍👩‍👧 ❤️ 1️⃣ می‌خواهم", "👩‍👩‍👧 ❤️ 1️⃣ می‌خواهم"),
    ],
)
def test_hidden_characters_are_escaped_and_others_stay(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_name_stays_on_one_line() -> None:
    assert escaped_line("a\nb\tc\x1b") == r"a\nb\tc\x1b"


@given(st.text())
def test_nothing_is_hidden_in_what_was_escaped(text: str) -> None:
    assert HIDDEN.search(escaped(text)) is None
    assert escaped(escaped(text)) == escaped(text)


def test_every_control_and_every_mark_of_direction_is_hidden() -> None:
    odd = [
        char
        for code in range(0x110000)
        if unicodedata.category(char := chr(code)) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(char)
        in {"RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
    ]
    assert [char for char in odd if not HIDDEN.match(char)] == ["\t", "\n"]


def test_pi_s_extension_hides_the_same_characters() -> None:
    source = (Path(paths.SOURCE) / "draw.ts").read_text()
    [pattern] = re.findall(r"^const HIDDEN =\n?\s*/(.*)/gu;$", source, re.MULTILINE)
    written = re.sub(r"\\u\{([0-9a-f]+)\}", lambda m: f"\\U{int(m[1], 16):08x}", pattern)
    theirs = re.compile(written)
    for code in (*range(0x20000), *range(0xE0000, 0xE1001)):
        char = chr(code)
        for text in (char, f"a{char}b", f"é{char}é"):
            assert bool(HIDDEN.search(text)) == bool(theirs.search(text)), hex(code)
