from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.errors import Refused
from hindnote.core.notes.edits import Replacement, apply


def edit(body: str, *edits: tuple[str, str], replace_all: bool = False) -> str:
    return apply(body, [Replacement(*e) for e in edits], replace_all=replace_all, shown="n.md")[0]


@pytest.mark.parametrize(
    ("body", "old", "new", "expected"),
    [
        ("one two", "two", "2", "one 2"),
        ("a", "a", "a\nb", "a\nb"),
        ("a\r\nb\nc\r\n", "a\nb", "X", "X\nc\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", "a\r\nB\nc\r\n"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\nb", "b", "b\nc", "a\nb\nc"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("a\r\nb\r\n", "a\r\nb", "x\ny\nz", "x\r\ny\r\nz\r\n"),
        ("a\nb\n", "a\r\nb", "x", "x\n"),
        ("a\nb\n", "a", "x\r\ny", "x\r\ny\nb\n"),
        ("x\r\n\r\ny", "x\n\ny", "z", "z"),
        (".*+?[a](b)\\d", ".*+?[a](b)\\d", "\\1\\g<0>", "\\1\\g<0>"),
        ("👩‍👩‍👧é", "é", "e", "👩‍👩‍👧e"),
    ],
)
def test_an_edit_does_what_it_says(body: str, old: str, new: str, expected: str) -> None:
    assert edit(body, (old, new)) == expected


def test_edits_apply_in_order_to_what_the_ones_before_made() -> None:
    assert edit("a", ("a", "b"), ("b", "c")) == "c"


def test_replace_all_replaces_each_occurrence_once() -> None:
    body, applied = apply("aaaa\r\nx", [Replacement("aa", "a")], replace_all=True, shown="n.md")

    assert (body, applied) == ("aa\r\nx", 2)


@pytest.mark.parametrize(
    ("body", "old", "code", "fact"),
    [
        ("x\nx", "x", "ambiguous_edit", "on lines 1, 2;"),
        ("aaa", "aa", "ambiguous_edit", "occurs 2 times, on lines 1, 1;"),
        ("a\r\n\r\nb\r\n", "\n", "ambiguous_edit", "occurs 3 times, on lines 1, 2, 3;"),
        ("x\n" * 25, "x", "ambiguous_edit", "18, 19, 20 and more, 25 in all;"),
        ("abc", "d", "no_match", "edits[0] of “n.md”"),
        ("abc", "", "no_match", "old_text is empty"),
        ("abc", "ABC", "no_match", "does not occur"),
    ],
)
def test_an_edit_that_is_not_clear_is_refused_with_the_facts(
    body: str, old: str, code: str, fact: str
) -> None:
    with pytest.raises(Refused) as caught:
        edit(body, (old, "new"))

    assert caught.value.code == code
    assert fact in caught.value.refusal.message


def test_a_refusal_names_the_edit_and_nothing_of_the_others_is_done() -> None:
    with pytest.raises(Refused) as caught:
        edit("a b", ("a", "x"), ("missing", "y"))

    assert "edits[1]" in caught.value.refusal.message


def test_facts_survive_a_long_old_text() -> None:
    line = "y" * 3000
    with pytest.raises(Refused) as caught:
        edit(f"{line}\n{line}", (line, "x"))

    assert "on lines 1, 2;" in caught.value.refusal.message


@given(
    st.lists(st.sampled_from(["a", "b", "\n", "\r\n"]), max_size=12).map("".join),
    st.lists(st.sampled_from(["a", "b", "\n"]), min_size=1, max_size=3).map("".join),
    st.lists(st.sampled_from(["x", "\n"]), max_size=3).map("".join),
)
def test_replace_all_equals_replacing_in_the_text_with_plain_line_ends(
    body: str, old: str, new: str
) -> None:
    plain = body.replace("\r\n", "\n")
    try:
        made = edit(body, (old, new), replace_all=True)
    except Refused:
        assert old not in plain
        return
    assert made.replace("\r\n", "\n") == plain.replace(old, new).replace("\r\n", "\n")


@given(
    st.lists(st.sampled_from(["a", "b", "c", "\n", "\r\n"]), max_size=10),
    st.lists(st.sampled_from(["d", "\r\n", "\n"]), max_size=4),
)
def test_what_an_edit_does_not_name_keeps_its_bytes(before: list[str], after: list[str]) -> None:
    head, tail = "".join(before), "".join(after)

    assert edit(f"{head}<here>{tail}", ("<here>", "<there>")) == f"{head}<there>{tail}"


def test_counting_overlaps_takes_linear_time() -> None:
    started = time.process_time()
    with pytest.raises(Refused):
        edit("a\r\n" * 200_000, ("a\na\na", "x"))

    assert time.process_time() - started < 5


def test_a_long_text_that_repeats_itself_is_counted_in_bounded_time() -> None:
    started = time.process_time()
    with pytest.raises(Refused) as caught:
        edit("a" * 800_000, ("a" * 400_000, "x"))

    assert time.process_time() - started < 5
    assert caught.value.code == "ambiguous_edit"
    assert "occurs at least " in caught.value.refusal.message


def test_a_body_that_would_not_fit_into_memory_is_refused_before_it_is_made() -> None:
    with pytest.raises(Refused) as caught:
        edit("a" * 300_000, ("a", "b" * 900_000), replace_all=True)

    assert caught.value.code == "too_large"
    assert "edits[0]" in caught.value.refusal.message
    assert "about 270,000,000,000 characters" in caught.value.refusal.message
