from __future__ import annotations

import pytest

from hindnote.core.fs.names import invisible, is_reserved, same_elsewhere


@pytest.mark.parametrize(
    "name", ["CON", "con.md", "nul.txt.md", "COM1", "Lpt9.md", "com¹.md", "aux .md", "CONIN$"]
)
def test_names_of_devices_are_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["console", "COM", "COM10.md", "my con.md", "null.md", "COM0"])
def test_names_that_only_look_like_a_device_s_are_free(name: str) -> None:
    assert not is_reserved(name)


@pytest.mark.parametrize(
    "character",
    [
        *"\u00ad\u034f\u061c\u115f\u17b4\u180e\u200b\u200e\u200f\u202a\u202e\u2060\u2066\u2069",
        *"\u2800\u3164\ufe00\ufeff\uffa0\U000e0001\U000e0041\U000e0100\U0001d173",
    ],
    ids=ascii,
)
def test_invisible_and_direction_characters_are_found(character: str) -> None:
    for name in (f"{character}a", f"a{character}b", f"ä{character}"):
        assert invisible(name) == character


@pytest.mark.parametrize(
    "name",
    [
        "plan",
        "Überblick",
        "修复",
        "می\u200cخواهم",
        "क्\u200dष",
        "👩\u200d💻",
        "❤\ufe0f",
        "naïve e\u0301",
    ],
)
def test_what_a_language_needs_is_allowed(name: str) -> None:
    assert invisible(name) is None


@pytest.mark.parametrize("name", ["a\u200cb", "a\u200d", "\u200dä", "a\ufe0f"])
def test_a_joiner_or_selector_that_joins_nothing_is_found(name: str) -> None:
    assert invisible(name) is not None


def test_case_and_form_make_no_other_name_elsewhere() -> None:
    assert same_elsewhere("Stra\u00dfe\u0301") == same_elsewhere("STRASS\u00c9")
    assert same_elsewhere("a") != same_elsewhere("b")
