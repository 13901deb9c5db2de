from __future__ import annotations

from datetime import UTC, datetime
from math import nan

import pytest

from hindnote.core.recall.asking import Question
from hindnote.core.recall.dates import Date, dates


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what broke in March?", Date(3)),
        ("the outage of 7 July 2025", Date(7, 7, 2025)),
        ("on December 3rd, 2025", Date(12, 3, 2025)),
        ("since 2025-11", Date(11, None, 2025)),
        ("on 2025-11-18 at noon", Date(11, 18, 2025)),
        ("Sept 4", Date(9, 4)),
    ],
)
def test_a_date_is_read_as_it_is_written(text: str, found: Date) -> None:
    assert [date for _, date in dates(text)] == [found]


@pytest.mark.parametrize(
    "text", ["May I merge?", "March on", "the marching ants", "version 2025-99"]
)
def test_what_only_looks_like_a_month_is_none(text: str) -> None:
    assert list(dates(text)) == []


def test_a_time_fits_its_month_and_best_its_day() -> None:
    noon = datetime(2025, 7, 7, 12, tzinfo=UTC).timestamp()
    assert Date(7, 7, 2025).fits(noon) == Date(7).fits(noon) == 1.0
    assert 0 < Date(7, 8, 2025).fits(noon) < 1
    assert Date(7, 7, 2024).fits(noon) == Date(8).fits(noon) == Date(7).fits(nan) == 0.0


def test_the_words_of_a_date_are_asked_for_last_and_marked() -> None:
    question = Question.of("flaky tests in January 2026")
    assert [question.terms[place] for place in sorted(question.dated)] == ["januari", "2026"]
    assert Question.of("January").dated == frozenset()
