from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.project.todos.names import (
    TodoName,
    claimed_id,
    kebab,
    parse_name,
    render_id,
)


@pytest.mark.parametrize(
    "name",
    [
        "001-pending-p1-a.md",
        "1234-ready-p3-fix-the-2nd-thing.md",
        "999999999999999-complete-p2-x.md",
        "000-pending-p1-a.md",
        "001-pending-p1-é.md",
        "001-pending-p1-修复登录错误.md",
        "001-pending-p1-लॉगिन-ठीक-करें.md",
        "0007-pending-p1-a.md",
    ],
)
def test_a_canonical_name_is_taken_apart_and_put_together_again(name: str) -> None:
    parsed = parse_name(name)

    assert parsed is not None
    assert parsed.file == name


@pytest.mark.parametrize(
    "name",
    [
        "01-pending-p1-a.md",
        "001-done-p1-a.md",
        "001-pending-p4-a.md",
        "001-pending-p1-.md",
        "001-pending-p1-A.md",
        "001-pending-p1-a_b.md",
        "001-pending-p1-a--b.md",
        "001-pending-p1-É.md",
        "001-pending-p1-a\u200bb.md",
        "001-pending-p1-a-\u0301.md",
        "001-pending-p1-a.MD",
        "001-pending-p1-a.md\n",
        "٠٠١-pending-p1-a.md",
        "1000000000000000-pending-p1-a.md",
        "../001-pending-p1-a.md",
        "001-pending-p1-a/b.md",
    ],
)
def test_any_other_name_is_not_canonical(name: str) -> None:
    assert parse_name(name) is None


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Fix the LOGIN!", "fix-the-login"),
        ("Café déjà vu", "café-déjà-vu"),
        ("Cafe\u0301", "café"),
        ("修复登录错误", "修复登录错误"),
        ("लॉगिन ठीक करें", "लॉगिन-ठीक-करें"),
        ("Исправить ВХОД", "исправить-вход"),
        ("می\u200cخواهم", "می-خواهم"),
        ("\u3164", "todo"),
        ("修" * 100, "修" * 60),
        ("क\u093f" * 100, "क\u093f" * 30),
        ("😀!", "todo"),
        ("a" * 200, "a" * 60),
        ("x" * 59 + " yes", "x" * 59),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_a_title_becomes_lower_case_words(title: str, expected: str) -> None:
    assert kebab(title) == expected


@given(st.text(), st.integers(1, 10**15 - 1))
def test_every_title_and_id_make_a_canonical_name(title: str, number: int) -> None:
    name = TodoName(render_id(number), "pending", "p1", kebab(title))

    assert parse_name(name.file) == name
    assert name.id == number
    assert name.moved("ready").moved("pending") == name
    assert len(name.file.encode()) <= 255


@pytest.mark.parametrize(
    ("name", "claimed"),
    [("007-whatever.md", 7), ("12_x.md", 12), ("x-12.md", None), (f"{'9' * 16}-x.md", None)],
)
def test_a_number_in_front_of_any_name_is_claimed(name: str, claimed: int | None) -> None:
    assert claimed_id(name) == claimed


def test_a_name_in_another_unicode_form_is_the_same_name() -> None:
    assert parse_name("001-pending-p1-cafe\u0301.md") == parse_name("001-pending-p1-café.md")
