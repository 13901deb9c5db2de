from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

from hindnote.core.errors import Refused
from hindnote.core.notes.address import Homes
from hindnote.core.notes.glob import scope
from hindnote.core.plugins.models import Identity
from hindnote.core.text.slug import encode_session_id


def folder(session: str) -> tuple[str, ...]:
    return ("pi", "session", encode_session_id(session))


HOMES = Homes(Identity(Path("/notes"), "pi", "s1", "me", "gpt"), "shop-0123abcd", folder)
NOTES = [
    "plan",
    "a/plan",
    "a/b/plan",
    "!odd",
    "#odd",
    "@project/plan",
    "@project/a/plan",
    "@human/plan",
    "@self/plan",
    "@model/plan",
    "@agents/you/plan",
]


def matching(glob: str, homes: Homes = HOMES) -> list[str]:
    found = scope(homes, glob, lambda kind: ["me", "you"] if kind == "agents" else ["gpt"])
    addresses = [homes.parse(text) for text in NOTES]
    return [
        str(address).removesuffix(".md")
        for address in addresses
        if address.home in found.homes and found.holds(address.home, "/".join(address.path))
    ]


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*", ["plan", "!odd", "#odd"]),
        ("*.md", ["plan", "!odd", "#odd"]),
        ("plan", ["plan"]),
        ("plan.md", ["plan"]),
        ("pl?n.md", ["plan"]),
        ("a", []),
        ("a/*", ["a/plan"]),
        ("a/**", ["a/plan", "a/b/plan"]),
        ("!odd.md", ["!odd"]),
        ("#odd.md", ["#odd"]),
        ("[!p]*.md", ["!odd", "#odd"]),
        ("@project/**", ["@project/plan", "@project/a/plan"]),
        ("@project/*", ["@project/plan"]),
        ("@project", []),
        ("@project/a", []),
        ("@agents/me/**", ["@self/plan"]),
        ("@self/**", ["@self/plan"]),
        ("@models/gpt/*", ["@model/plan"]),
        ("@agents/**", ["@self/plan", "@agents/you/plan"]),
        ("@agents/you/*", ["@agents/you/plan"]),
        ("@agents/y*/*", ["@agents/you/plan"]),
        ("@*/plan.md", ["@project/plan", "@human/plan", "@self/plan", "@model/plan"]),
        ("**/plan.md", [n for n in NOTES if n.endswith("plan") and n != "@agents/you/plan"]),
        ("**", [n for n in NOTES if n != "@agents/you/plan"]),
        ("a**n.md", []),
        ("nothing/**", []),
        ("plan.md ", []),
    ],
)
def test_a_glob_matches_whole_addresses(glob: str, expected: list[str]) -> None:
    assert matching(glob) == expected


@pytest.mark.parametrize("glob", ["", "/", "/plan", "a/", "@foo/**", "a\\", "x" * 600])
def test_a_bad_glob_is_refused(glob: str) -> None:
    with pytest.raises(Refused) as caught:
        matching(glob)

    assert caught.value.code == "invalid_glob"


@pytest.mark.parametrize(
    ("glob", "homes"),
    [
        (None, ["session", "@project", "@human", "@self", "@model"]),
        ("@human/*", ["@human"]),
        ("plans/*", ["session"]),
        ("*.md", ["session"]),
        ("p*/*", ["session"]),
        ("@agents/**", ["@self", "@agents/you"]),
        ("@agents/you/*", ["@agents/you"]),
    ],
)
def test_a_glob_narrows_which_homes_are_walked(glob: str | None, homes: list[str]) -> None:
    found = scope(HOMES, glob, lambda _: ["me", "you"])

    assert [home.name for home in found.homes] == homes


@pytest.mark.parametrize("glob", ["plan", "*.md", "a/**"])
def test_without_a_session_a_glob_for_its_notes_alone_is_refused(glob: str) -> None:
    homes = Homes(Identity(Path("/notes"), "pi", None, "me", "gpt"), "shop-0123abcd", folder)

    with pytest.raises(Refused) as caught:
        scope(homes, glob, lambda _: [])

    assert caught.value.code == "no_current_session"


def test_without_a_session_other_globs_see_the_rest() -> None:
    homes = Homes(Identity(Path("/notes"), "pi", None, "me", "gpt"), "shop-0123abcd", folder)

    found = scope(homes, "**", lambda _: [])

    assert [home.name for home in found.homes] == ["@project", "@human", "@self", "@model"]


# Pieces of a glob, each with one of a name. Of texts drawn apart next to none match as a whole.
MATCHING = [("a", "a"), ("b", "b"), ("*", ""), ("*", "ab"), ("?", "a"), ("[ab]", "b"), ("/", "/")]
OTHERS = [("a", "b"), ("*", "a/b"), ("?", "/"), ("[ab]", "")]
PIECES = st.lists(st.sampled_from(MATCHING), min_size=1, max_size=5)


@given(
    PIECES,
    st.lists(st.sampled_from(OTHERS), max_size=1),
    PIECES,
    st.sampled_from([".txt", "*", "?txt", ""]),
)
def test_a_star_means_what_the_library_says(
    first: list[tuple[str, str]],
    other: list[tuple[str, str]],
    last: list[tuple[str, str]],
    end: str,
) -> None:
    glob, name = map("".join, zip(*first, *other, *last, (end, ".txt"), strict=True))
    assume("//" not in f"/{glob}/" and "**" not in glob and "//" not in f"/{name}")
    library = GitIgnoreBasicPattern(f"/{glob}").regex
    assert library is not None

    found = scope(HOMES, glob, lambda kind: [])

    assert found.holds(HOMES.session, name) == bool(library.fullmatch(name))


@pytest.mark.parametrize(
    ("glob", "name"), [("*a" * 200 + "b", "a" * 240), ("**/a/**/a/**/a/z", "a/" * 250 + "a")]
)
def test_many_wildcards_take_no_time(glob: str, name: str) -> None:
    found = scope(HOMES, glob, lambda kind: [])
    started = time.process_time()

    assert not found.holds(HOMES.session, name)
    assert time.process_time() - started < 2


def test_more_deep_wildcards_than_can_be_afforded_are_refused() -> None:
    with pytest.raises(Refused) as caught:
        scope(HOMES, "**/a/" * 4 + "b", lambda kind: [])

    assert caught.value.code == "invalid_glob"
    assert "more than 3 **" in caught.value.refusal.message
