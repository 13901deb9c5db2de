from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.text import spellings
from hindnote.core.text.matching import Matcher

# Letters that fold in odd ways, composites, singletons, marks of two classes, Hangul.
ODD = "aAiIsSkKıİſßẞςσΣéÉeE\u0301\u0323\u0302\u0307ệẹêÅ\u212b\u030aåΩ\u2126;\u037e가각\u1100\u1161\u11a8拉\uf925ṡẛ "
odd_texts = st.text(st.sampled_from(ODD), max_size=8)
odd_literals = st.text(st.sampled_from(ODD), min_size=1, max_size=4)


def found(query: str | list[str], text: str) -> tuple[int, int] | None:
    matcher = Matcher.from_query(query)
    assert matcher is not None
    return matcher.first(text)


@pytest.mark.parametrize("query", [None, "", [], [""], ["", ""]])
def test_an_empty_query_disables_filtering(query: str | list[str] | None) -> None:
    assert Matcher.from_query(query) is None


def test_empty_entries_of_a_list_are_ignored() -> None:
    matcher = Matcher.from_query(["", "b", "b"])

    assert matcher is not None
    assert matcher.literals == ("b",)
    assert matcher.first("aab") == (2, 3)


@pytest.mark.parametrize(
    ("query", "text", "span"),
    [
        ("NEEDLE", "İİİİ needle", (5, 11)),
        ("NEEDLE", "ẞẞ needle", (3, 9)),
        ("回滚", "部署失败后回滚", (5, 7)),
        ("デプロイ", "本番デプロイ", (2, 6)),
        ("straẞe", "die straße", (4, 10)),
        ("ς", "ΣΟΦΟΣ", (0, 1)),
        ("kelvin", "300 \u212aelvin", (4, 10)),
        ("\u212aelvin", "300 kelvin", (4, 10)),
        ("sun", "\u017fun", (0, 3)),
        ("i\u0307x", "ix", None),
        ("i\u0307x", "İx", (0, 2)),
        ("a;b", "a\u037eb", (0, 3)),
        (".*", "a.*", (1, 3)),
        ("a", "b", None),
    ],
)
def test_offsets_are_exact_in_the_original(
    query: str, text: str, span: tuple[int, int] | None
) -> None:
    assert found(query, text) == span


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("café", "cafe\u0301"),
        ("cafe\u0301", "CAFÉ"),
        ("Ångström", "A\u030angstro\u0308m"),
        ("\u212bngström", "ångström"),
        ("Åb", "\u212bb"),
        ("Ω", "\u2126"),
        ("e\u0323\u0302", "e\u0302\u0323"),
        ("ệ", "e\u0302\u0323"),
        ("ê\u0323", "ệ"),
        ("각", "\u1100\u1161\u11a8"),
        ("가\u11a8", "각"),
        ("\u1100\u1161", "가"),
        ("J\u030c", "ǰ"),
        ("ǰ", "J\u030c"),
        ("拉", "\uf925"),
        ("\u0344", "\u0308\u0301"),
        ("\u0bca", "\u0bc6\u0bbe"),
    ],
)
def test_canonically_equivalent_spellings_match_whole(query: str, text: str) -> None:
    assert found(query, f"x {text} y") == (2, 2 + len(text))


def test_the_earliest_of_several_literals_wins_and_at_one_place_the_longest() -> None:
    assert found(["cd", "b", "bc"], "abcd") == (1, 3)
    assert found(["cd", "b", "bc"], "äbcd") == (1, 3)


def test_count_takes_matches_that_do_not_overlap() -> None:
    one, two = Matcher.from_query("aa"), Matcher.from_query(["aa", "é"])

    assert one is not None
    assert two is not None
    assert one.count("AAaaa") == 2
    assert two.count("aaaaé e\u0301") == 4


def test_many_marks_stay_cheap_and_still_match() -> None:
    marks = "".join(chr(code) for code in (*range(0x300, 0x315), *range(0x316, 0x32A)))
    text = unicodedata.normalize("NFD", "a" + marks)

    assert found("a" + marks, text) == (0, len(text))
    assert found("a" + marks, unicodedata.normalize("NFC", text)) is not None


def test_every_canonical_decomposition_lies_in_the_scanned_blocks() -> None:
    outside = [
        hex(ord(char))
        for char in filter(unicodedata.decomposition, map(chr, range(0x110000)))
        if not unicodedata.decomposition(char).startswith("<")
        and not any(low <= ord(char) < high for low, high in spellings._BLOCKS)
    ]

    assert outside == []


def test_ascii_twins_are_all_there_are() -> None:
    ascii_fold = re.compile("[\x00-\x7f]", re.IGNORECASE)
    others = "".join(map(chr, range(0x80, 0x110000)))
    decomposed = filter(unicodedata.decomposition, others)
    spelled = {char for char in decomposed if unicodedata.normalize("NFD", char).isascii()}

    assert spelled.union(ascii_fold.findall(others)) == {
        "\u212a",
        "\u017f",
        "\u0130",
        "\u0131",
        "\u037e",
        "\u1fef",
    }


@given(text=odd_texts.filter(len), data=st.data())
def test_what_stands_in_a_text_is_found_there(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    span = found(text[start:end], text)

    assert span is not None
    assert span[0] <= start


@given(text=odd_texts, literal=odd_literals, form=st.sampled_from(["NFC", "NFD"]))
def test_any_form_of_a_literal_is_found_in_any_form_of_a_text(
    text: str, literal: str, form: str
) -> None:
    shown = unicodedata.normalize(form, literal)  # type: ignore[arg-type]

    span = found(literal, f"{text}|{shown}|")

    assert span is not None
    assert span[0] <= len(text) + 1


@given(text=odd_texts, literal=odd_literals)
def test_a_match_is_the_literal_in_another_spelling_or_case(text: str, literal: str) -> None:
    span = found(literal, text)

    hits = [
        (start, end)
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        if _same(text[start:end], literal)
    ]
    assert (span is None) == (not hits)
    if span is not None:
        assert span in hits
        assert span[0] == hits[0][0]


@given(
    text=st.text(st.sampled_from("abAB; k"), max_size=12),
    literals=st.lists(st.text(st.sampled_from("abK\u212a;\u037eé"), min_size=1, max_size=3)),
)
def test_the_fast_search_of_ascii_agrees_with_the_slow_one(text: str, literals: list[str]) -> None:
    matcher = Matcher.from_query(literals)
    if matcher is None:
        return
    spans = list(matcher.spans(text))

    assert matcher.first(text) == (spans[0] if spans else None)
    assert matcher.count(text) == len(spans)


def _same(one: str, other: str) -> bool:
    return _pairwise(one, other) or _pairwise(
        unicodedata.normalize("NFD", one), unicodedata.normalize("NFD", other)
    )


def _pairwise(one: str, other: str) -> bool:
    return len(one) == len(other) and all(
        re.fullmatch(re.escape(a), b, re.IGNORECASE) for a, b in zip(one, other, strict=True)
    )
