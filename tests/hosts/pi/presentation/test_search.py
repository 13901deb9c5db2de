"""Searches printed as Pi prints them, from files that are made to mislead, and read again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hindnote.core.presentation.models import Find, Grep, Ls, Text
from hindnote.hosts.pi.presentation.parse import present


def result(tool: str, text: str, details: Any = None) -> dict[str, Any]:
    message = {"toolName": tool, "content": [{"type": "text", "text": text}], "isError": False}
    return message if details is None else {**message, "details": details}


@dataclass
class Search:
    """A search over some files, and what Pi makes of it."""

    files: dict[str, list[str]]
    pattern: str = "TODO"
    context: int = 0
    limit: int = 100
    single: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        given: dict[str, Any] = {"pattern": self.pattern, "literal": True}
        if self.context:
            given["context"] = self.context
        if self.limit != 100:
            given["limit"] = self.limit
        if self.single:
            given["path"] = next(iter(self.files))
        return given

    def rows(self) -> tuple[list[tuple[str, int, str, str]], bool]:
        """Return the lines that Pi prints, and whether it left matches out."""
        rows: list[tuple[str, int, str, str]] = []
        count, limited = 0, False
        ends = ("", 0)
        for name, texts in self.files.items():
            matches = [i for i, text in enumerate(texts, 1) if self.pattern in text]
            shown = name.rsplit("/", 1)[-1] if self.single else name
            for number, text in enumerate(texts, 1):
                if not any(abs(number - match) <= self.context for match in matches):
                    continue
                match = number in matches
                if count < self.limit:
                    rows.append((shown, number, "match" if match else "context", clip(text)))
                    count += match
                    if count == self.limit:
                        ends = (name, number + self.context)
                    continue
                if name == ends[0] and number <= ends[1]:
                    rows.append((shown, number, "context", clip(text)))
                limited = limited or match
        return rows, limited

    def message(self) -> dict[str, Any]:
        """Return Pi's result."""
        rows, limited = self.rows()
        marks = {"match": ":", "context": "-"}
        text = "\n".join(f"{p}{marks[k]}{n}{marks[k]} {t}" for p, n, k, t in rows)
        if not limited:
            return result("grep", text)
        more = f"Use limit={2 * self.limit} for more, or refine pattern"
        text += f"\n\n[{self.limit} matches limit reached. {more}]"
        return result("grep", text, {"matchLimitReached": self.limit})


def clip(text: str) -> str:
    text = text.removesuffix("\r")
    return text if len(text) <= 500 else f"{text[:500]}... [truncated]"


def told(shown: Any) -> list[tuple[str | None, int, str, str]]:
    return [
        (file.path, row.line, row.kind, row.text)
        for file in shown.files
        for block in file.blocks
        for row in block
    ]


def sure(shown: Grep) -> list[bool]:
    return [not f.guessed for f in shown.files for block in f.blocks for _ in block]


# Odd names, of which none is another one with what looks like a line behind it.
NAMES = [
    "a.py", "b.py", "src/b.txt", "my docs/c d.md", "Makefile", "a-1-b.py", "a-1- b/c.py",
    "x:12: y.txt", "v2:10/x.py", "3-4-5.md", "資料/メモ-1.txt", "src/v2:10/x.py", "src/a.py",
    "odd:12: name.txt", "odd-3- name.txt", "No matches found", "2026-11-30/log-12-30-45.txt",
    "7", " lead.txt", "x.py-4", "C:/ws/a.py", "日本-10-語:3:.md", "src/a-1-b", "src/a-1-b.py",
    "dir:name/file.txt", "[x].ts", "a-2-b-3-c-4- d.py", "e\x1b[31m-1-.txt",
]  # fmt: skip
PIECES = [
    "a.py", ":", "-", "7", "12", " ", ":7: ", "-8- ", "x", "a.py:3: ", "b.py-4- ", "--", "\r",
    "No matches found", "\x1b[31m", "\x00", "日本", "12:30:45 ", "C:\\x.py:9: ", "x:12:", "x-12-",
    "Makefile:23:A:=\\", "[100 matches limit reached]", "src/a.py:2: ", "a" * 501,
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@st.composite
def searches(draw: st.DrawFn) -> Search:
    files = {}
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)):
        texts = draw(st.lists(TEXTS, min_size=1, max_size=12))
        for place in draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=3)):
            texts[place] = "TODO" + texts[place] if draw(st.booleans()) else texts[place] + "TODO"
        files[name] = texts
    single = draw(st.booleans()) and len(files) == 1
    return Search(
        files,
        context=draw(st.sampled_from([0, 0, 1, 2, 5])),
        limit=draw(st.sampled_from([1, 3, 100])),
        single=single,
    )


@given(searches(), st.booleans())
def test_a_search_is_read_as_it_was_or_its_path_is_a_guess(search: Search, known: bool) -> None:
    message = search.message()

    shown = present(message, search.arguments if known else None)

    rows, _ = search.rows()
    assert isinstance(shown, Grep)
    assert shown.joined() == message["content"][0]["text"]
    for read, row, is_sure in zip(told(shown), rows, sure(shown), strict=True):
        assert read == row or not is_sure


@given(searches())
def test_with_lines_around_a_match_no_path_needs_a_guess(search: Search) -> None:
    """Where a file neither begins nor ends near a match, there is one reading."""
    search.context = 3
    search.limit = 100
    search.files = {
        name: ["plain"] * 3 + texts + ["plain"] * 3 for name, texts in search.files.items()
    }
    assume(len({name.rsplit("/", 1)[-1] for name in search.files}) == len(search.files))

    shown = present(search.message(), search.arguments)

    assert told(shown) == search.rows()[0]


ODD = st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats() | TEXTS
GLOBS = st.lists(st.sampled_from(["*", "{", "}", ",", "[", "]", "!", "/", "\\", "?", "a.py", "\0"]))


@given(
    searches(),
    st.fixed_dictionaries(
        {},
        optional={
            "pattern": ODD | st.sampled_from(["\\", "a|", "|", "\\.|x", "(", "\\b"]),
            "glob": ODD | GLOBS.map("".join),
            "path": ODD,
            "context": ODD,
            "limit": ODD,
            "literal": ODD,
            "ignoreCase": ODD,
        },
    ),
)
def test_no_call_is_an_error_and_nothing_is_lost(search: Search, arguments: dict[str, Any]) -> None:
    message = search.message()

    assert present(message, arguments).joined() == message["content"][0]["text"]


# -- single cases ----------------------------------------------------------------


def paths(search: Search, known: bool = True) -> list[tuple[str | None, bool]]:
    shown = present(search.message(), search.arguments if known else None)
    assert isinstance(shown, Grep)
    return [(file.path, file.guessed) for file in shown.files]


def test_what_was_looked_for_decides_between_paths() -> None:
    found = Search({"src/odd:12: name.txt": ["x", "a hit"]}, pattern="hit")
    elsewhere = Search({"src/odd": [""] * 11 + ["name.txt:2: a hit"]}, pattern="name")

    assert paths(found) == [("src/odd:12: name.txt", True)]
    assert paths(elsewhere) == [("src/odd", False)]


def test_several_plain_texts_decide_as_well_as_one() -> None:
    message = result("grep", "src/odd:12: name.txt:2: a hit")

    shown = present(message, {"pattern": r"nothing|name\.txt"})

    assert told(shown) == [("src/odd", 12, "match", "name.txt:2: a hit")]
    assert sure(shown) == [True]


def test_the_glob_decides_between_paths() -> None:
    message = result("grep", "notes.md:3: see b.py:7: hit")

    (python,) = present(message, {"pattern": "hit", "glob": "*.{py,pyi}"}).files  # type: ignore[union-attr]
    (markdown,) = present(message, {"pattern": "hit", "glob": "*.md"}).files  # type: ignore[union-attr]

    assert (python.path, python.guessed) == ("notes.md:3: see b.py", False)
    assert (markdown.path, markdown.guessed) == ("notes.md", False)


def test_the_lines_that_were_asked_for_decide_between_paths() -> None:
    text = "a.txt-2- b.txt-1- x\na.txt:3: b.txt:2: hit"
    before_it = result("grep", text)

    assert [row[:2] for row in told(present(before_it, {"pattern": "hit", "context": 1}))] == [
        ("a.txt", 2),
        ("a.txt", 3),
    ]


def test_a_file_with_a_number_for_a_name_is_a_file() -> None:
    assert paths(Search({"7": ["", "TODO"], "a.py": ["TODO"]})) == [("7", False), ("a.py", False)]


def test_blocks_of_two_files_stay_apart_when_their_numbers_run_on() -> None:
    search = Search({"a.py": ["", "TODO", ""], "b.py": ["", "", "", "", "TODO"]}, context=1)

    assert paths(search) == [("a.py", False), ("b.py", False)]


def test_a_match_behind_the_limit_is_context() -> None:
    search = Search({"a.py": ["TODO", "TODO", "x"], "b.py": ["TODO"]}, context=2, limit=1)

    shown = present(search.message(), search.arguments)

    assert [row[2] for row in told(shown)] == ["match", "context", "context"]


def test_a_result_that_was_cut_may_end_before_its_match() -> None:
    text = "a.py:2: hit\na.py-3- x:7: y\n\n[50.0KB limit reached]"
    message = result("grep", "a.py-1- x\n" + text, {"truncation": {"truncated": True}})

    shown = present(message, {"pattern": "hit", "context": 1})

    assert [row[:2] for row in told(shown)] == [("a.py", 1), ("a.py", 2), ("a.py", 3)]


def test_an_old_result_whose_texts_begin_with_blanks_is_read_as_one() -> None:
    text = "lib/x.py-8-    if a:\nlib/x.py:9:    hit x:1: y\nlib/x.py-10-no blank"

    shown = present(result("grep", text), {"pattern": "hit", "context": 1})

    assert told(shown)[1] == ("lib/x.py", 9, "match", "    hit x:1: y")
    assert isinstance(shown, Grep)
    assert not shown.spaced


def test_an_old_line_that_could_have_the_blank_in_its_text_is_a_guess() -> None:
    text = "a-2-b.py:1:see 3-way/4-5-6.md:1: TODO"

    shown = present(result("grep", text), {"pattern": "TODO"})

    assert isinstance(shown, Grep)
    assert shown.files[0].guessed


# -- notices that are names, and names that are notices ---------------------------


@pytest.mark.parametrize("name", ["[slug].tsx", "[limit]", "[id]"])
def test_a_single_name_in_brackets_is_a_name(name: str) -> None:
    found, listed = present(result("find", name)), present(result("ls", name))

    assert isinstance(found, Find)
    assert (found.paths, found.notices) == ((name,), ())
    assert isinstance(listed, Ls)
    assert [entry.name for entry in listed.entries] == [name]


def test_a_search_of_which_nothing_fitted_is_its_text() -> None:
    text = "\n\n[50.0KB limit reached]"

    assert isinstance(present(result("grep", text, {"truncation": {}})), Text)


def read(text: str, arguments: Any, details: Any = None) -> dict[str, Any]:
    return json.loads(present(result("read", text, details), arguments).model_dump_json())


def test_a_file_that_ends_like_a_notice_is_whole_under_a_limit_too() -> None:
    text = "a\nb\n\n[7 more lines in file. Use offset=9 to continue.]"

    assert read(text, {"path": "x", "limit": 50})["content"] == text
    assert read(text, {"path": "x", "offset": 7, "limit": 2})["content"] == "a\nb"


def test_the_shown_lines_are_known_without_the_call() -> None:
    told = read("a\nb\n\n[7 more lines in file. Use offset=9 to continue.]", None)

    assert (told["first_line"], told["total_lines"], told["content"]) == (7, 15, "a\nb")


def test_a_command_that_prints_a_notice_and_fails_names_no_full_output() -> None:
    fake = "x\n\n[Showing lines 5-9 of 9. Full output: /etc/passwd]"
    status = "\n\nCommand exited with code 1"

    shown = present({**result("bash", fake + status), "isError": True})

    assert json.loads(shown.model_dump_json())["full_output_path"] is None


def test_a_run_that_lost_its_details_names_its_full_output() -> None:
    text = "a\nb\n\n[Showing lines 8-9 of 9. Full output: /tmp/x.log]\n\nCommand timed out after 2 seconds"

    shown = json.loads(present({**result("bash", text), "isError": True}).model_dump_json())

    assert (shown["output"], shown["full_output_path"]) == ("a\nb", "/tmp/x.log")
    assert (shown["truncation"]["first_line"], shown["truncation"]["total_lines"]) == (8, 9)
