from __future__ import annotations

import pytest

from hindnote.core.text.messages import counted


@pytest.mark.parametrize(
    ("count", "noun", "told"),
    [
        (0, "session", "0 sessions"),
        (1, "session", "1 session"),
        (2, "match", "2 matches"),
        (1, "match", "1 match"),
        (1_200, "other session", "1,200 other sessions"),
    ],
)
def test_a_noun_stands_in_the_number_of_its_count(count: int, noun: str, told: str) -> None:
    assert counted(count, noun) == told


def test_a_model_reads_the_plain_number() -> None:
    assert counted(1_200, "match", grouped=False) == "1200 matches"
