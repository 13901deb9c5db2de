"""Which words of a text and of a question meet."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.recall.passages import best_start
from hindnote.core.recall.words import near, pieces, placed, placed_among, terms_of, words


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("The importer crashed", "importers crashing"),
        ("STRASSE", "straße"),
        (unicodedata.normalize("NFD", "Café"), unicodedata.normalize("NFC", "café")),
        ("in resolveCwd we", "resolve"),
        ("in resolveCwd we", "cwd"),
        ("in resolveCwd we", "resolveCwd"),
        ("def resolve_cwd(self)", "resolve cwd"),
        ("see core/cwd.py", "core/cwd.py"),
        ("see core/cwd.py", "cwd"),
        ("with --no-session", "--no-session"),
        ("with --no-session", "session"),
        ("error E404 again", "e404"),
        ("std::vector is", "std::vector"),
        ("std::vector is", "vector"),
        ("since 3.40.1 it", "3.40.1"),
        ("on 2026-11-30 we", "2026-11-30"),
        ("port 8080", "8080"),
        ("我们回滚了部署", "回滚"),
        ("データベースを移行した", "データベース"),
        ("데이터베이스를 옮겼다", "데이터베이스"),
        ("ย้ายฐานข้อมูลแล้ว", "ฐานข้อมูล"),
        ("der Importvorgang", "Importvorgang"),
        ("It is done.", "done"),
        ("It is done.\nNext", "done"),
        ("Use v1.2. Then", "v1.2"),
    ],
)
def test_a_word_is_found_in_the_forms_that_it_may_have(said: str, asked: str) -> None:
    assert set(words(asked)) <= set(words(said)), (list(words(asked)), list(words(said)))
    assert set(words(asked))


@pytest.mark.parametrize(
    ("said", "asked"), [("3.40.1", "3.40.2"), ("E404", "E405"), ("port 80", "8080")]
)
def test_numbers_and_versions_are_kept_whole(said: str, asked: str) -> None:
    assert not set(words(asked)) <= set(words(said))


@pytest.mark.parametrize(
    "word", ["rots", "=resolvecwd", "e4040", "88214", "回滚回滚回滚", "3.40.1"]
)
def test_only_a_longer_word_of_letters_has_others_near_it(word: str) -> None:
    assert not list(near(word))


@pytest.mark.parametrize(
    "secret",
    [
        f"sk-ant-{'Ab1' * 8}",
        "github_pat_11ABCDEFG0abcdefghij",
        "glpat-AbCdEfGhIjKlMnOpQrSt",
        "xoxb-123456789012-abcdef",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "0123456789abcdef0123456789abcdef01234567",
    ],
)
def test_strings_that_look_like_credentials_are_left_out(secret: str) -> None:
    assert list(words(f"before {secret} after")) == ["befor", "after"]
    assert [term for piece in pieces(f"before {secret} after") for term in terms_of(piece)] == [
        "befor",
        "after",
    ]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("password = hunter2hunter2 after", ["after"]),
        ('"api_key": "correct horse battery" after', ["after"]),
        ("Authorization: Bearer abc123def456 after", ["after"]),
        ("postgres://admin:s3cret@host/db", ["postgr", "host", "db", "=host/db"]),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nowIB\n-----END RSA PRIVATE KEY-----",
            ["rsa", "privat", "key"],
        ),
    ],
)
def test_of_a_named_credential_only_what_is_around_it_is_left(said: str, left: list[str]) -> None:
    assert list(words(said)) == left


@given(st.text(alphabet="abc", min_size=5, max_size=7), st.data())
def test_near_words_are_those_of_one_edit(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    letter = data.draw(st.sampled_from("abcz"))
    found = set(near(word))

    assert word[:place] + letter + word[place:] in found
    assert word[:place] + word[place + 1 :] in found
    assert word[:place] + letter + word[place + 1 :] in found
    assert all(abs(len(one) - len(word)) <= 1 for one in found)


TEXTS = st.text(
    st.sampled_from("abAB09 .-_/:\n,é回滚デฐ") | st.characters(codec="utf-8"), max_size=60
)


@given(TEXTS)
def test_the_index_gets_the_terms_that_a_question_gets_from_the_same_text(text: str) -> None:
    assert [term for piece in pieces(text) for term in terms_of(piece)] == list(words(text))


@given(TEXTS, st.data())
def test_some_terms_are_placed_as_all_are(text: str, data: st.DataObject) -> None:
    every = list(placed(text))
    wanted = frozenset(data.draw(st.lists(st.sampled_from([term for _, term in every] or ["x"]))))

    assert list(placed_among(text, wanted)) == [one for one in every if one[1] in wanted]


def test_the_part_with_most_terms_is_shown() -> None:
    text = f"{'wool ' * 100}the header broke {'wool ' * 100}header, delivery and importer {'wool ' * 100}"

    start = best_start(text, {"header", "deliveri", "import"}, 120)

    assert "header, delivery and importer" in text[start : start + 120]
    assert best_start("short", {"x"}, 120) == 0
