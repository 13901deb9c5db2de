from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.errors import Refused
from hindnote.core.notes.address import Homes, check_new, path_problem
from hindnote.core.plugins.models import Identity
from hindnote.core.text.slug import encode_session_id


def folder(session: str) -> tuple[str, ...]:
    return ("pi", "session", encode_session_id(session))


HOMES = Homes(Identity(Path("/notes"), "pi", "s/1", "me", "gpt"), "shop-0123abcd", folder)


@pytest.mark.parametrize(
    ("text", "shown", "segments"),
    [
        ("plan", "plan.md", "pi/session/s%2F1/plan.md"),
        ("plan.md", "plan.md", "pi/session/s%2F1/plan.md"),
        ("a/b c/d.MD", "a/b c/d.MD.md", "pi/session/s%2F1/a/b c/d.MD.md"),
        ("@project/plan", "@project/plan.md", "project/shop-0123abcd/plan.md"),
        ("@human/plan", "@human/plan.md", "human/plan.md"),
        ("@self/plan", "@self/plan.md", "agents/me/plan.md"),
        ("@model/plan", "@model/plan.md", "models/gpt/plan.md"),
        ("@agents/me/plan", "@self/plan.md", "agents/me/plan.md"),
        ("@models/gpt/plan", "@model/plan.md", "models/gpt/plan.md"),
        ("@agents/you/a/plan", "@agents/you/a/plan.md", "agents/you/a/plan.md"),
        ("@models/other/plan", "@models/other/plan.md", "models/other/plan.md"),
        ("cafe\u0301", "caf\u00e9.md", "pi/session/s%2F1/caf\u00e9.md"),
        ("\u212a", "K.md", "pi/session/s%2F1/K.md"),
        ("项目/部署", "项目/部署.md", "pi/session/s%2F1/项目/部署.md"),
    ],
)
def test_an_address_names_a_file_in_its_home(text: str, shown: str, segments: str) -> None:
    address = HOMES.parse(text)

    assert str(address) == shown
    assert "/".join(address.segments) == segments


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".md",
        "../x",
        "..%2fx",
        "a/../../x",
        "a/..",
        "./a",
        "/x",
        "x/",
        "a//b",
        "C:x",
        "\\\\srv\\x",
        "a\\b",
        "x\x00.md",
        "x\x1f",
        "x\x7f",
        "x\x85",
        "x\u2028",
        ".hidden",
        "a/.hidden/b",
        "dot.",
        "blank ",
        "blank\u3000",
        "folder./b",
        "folder /b",
        "mail@host",
        "a/@project/b",
        "x" * 238,
        "/".join(["x" * 100] * 6),
        "é" * 120,
        "@self",
        "@self/",
        "@project",
        "@agents/x",
        "@agents//x",
        "@agents/UP/x",
        "@agents/../x",
        "@foo/x",
        "@Project/x",
        "@",
        "@/x",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Refused) as caught:
        HOMES.parse(text)

    assert caught.value.code == "invalid_address"


def test_the_limits_count_bytes_with_the_suffix() -> None:
    assert str(HOMES.parse("x" * 237)) == "x" * 237 + ".md"
    assert HOMES.parse("/".join(["x" * 100] * 5)).path[-1] == "x" * 100 + ".md"


ODD = st.text(alphabet="ab./@ \\:é\u0301\x00-", max_size=12)
NAMES = st.text(alphabet="abé\u0301-. ", min_size=1, max_size=4).filter(
    lambda name: name[0] in "abé"
)
HEADS = st.sampled_from(["", "@project/", "@human/", "@agents/you/"])


@given(ODD | st.builds("{}{}".format, HEADS, st.lists(NAMES, min_size=1, max_size=3).map("/".join)))
def test_what_is_accepted_stays_inside_its_home_and_is_stable(text: str) -> None:
    try:
        address = HOMES.parse(text)
    except Refused as refused:
        assert refused.code == "invalid_address"
        return
    assert path_problem(list(address.path)) is None
    assert ".." not in address.segments
    assert HOMES.parse(str(address)) == address
    assert str(address) == unicodedata.normalize("NFC", str(address))


@pytest.mark.parametrize("character", '<>"|?*')
def test_a_new_name_avoids_what_other_systems_refuse(character: str) -> None:
    address = HOMES.parse(f"a{character}b")

    with pytest.raises(Refused) as caught:
        check_new(address)

    assert caught.value.code == "invalid_address"


def test_without_a_session_only_its_notebook_is_missing() -> None:
    homes = Homes(Identity(Path("/notes"), "pi", None, "me", "gpt"), "shop-0123abcd", folder)

    assert [home.name for home in homes.default()] == ["@project", "@human", "@self", "@model"]
    with pytest.raises(Refused) as caught:
        homes.parse("plan")
    assert caught.value.code == "no_current_session"


def test_a_bad_path_is_bad_in_any_session() -> None:
    homes = Homes(Identity(Path("/notes"), "pi", None, "me", "gpt"), "shop-0123abcd", folder)

    with pytest.raises(Refused) as caught:
        homes.parse("../plan")
    assert caught.value.code == "invalid_address"
