from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.presentation.models import Bash, Edit, Find, Grep, Ls, Read, Text, Write
from hindnote.hosts.pi.presentation.parse import present, present_command

DATA = Path(__file__).parents[3] / "data/pi"
GREP_LINES: dict[str, list[dict[str, Any]]] = json.loads((DATA / "expected.json").read_bytes())[
    "grep-formats"
]["grepLines"]


def recorded() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield every recorded result with its file's name and its call's arguments."""
    for file in sorted(DATA.glob("*.jsonl")):
        arguments: dict[str, Any] = {}
        for line in file.read_bytes().split(b"\n"):
            try:
                message = json.loads(line).get("message") or {}
            except ValueError:
                continue
            if message.get("role") == "assistant":
                for block in message["content"]:
                    if block["type"] == "toolCall":
                        arguments[block["id"]] = block["arguments"]
            elif message.get("role") == "toolResult":
                yield file.stem, message, arguments[message["toolCallId"]]


RECORDED = list(recorded())


def result(tool: str, text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolName": tool, "content": content, "isError": False, **more}


def grep(text: str, arguments: Any = None) -> Grep:
    shown = present(result("grep", text), arguments)
    assert isinstance(shown, Grep)
    assert shown.joined() == text
    return shown


def lines(shown: Grep) -> list[tuple[str | None, int, str, str]]:
    return [
        (file.path, line.line, line.kind, line.text)
        for file in shown.files
        for block in file.blocks
        for line in block
    ]


# -- recorded results ----------------------------------------------------------


def test_every_recorded_result_of_a_known_tool_is_parsed_and_loses_nothing() -> None:
    for name, message, arguments in RECORDED:
        for known in (arguments, None):
            shown = present(message, known)
            text = "\n".join(b["text"] for b in message["content"] if b["type"] == "text")
            assert shown.joined() == text.encode("utf-8", "replace").decode(), name
            structured = message["toolName"] in {"edit", "find", "grep", "ls", "read", "write"}
            if structured and not message["isError"]:
                assert shown.kind == message["toolName"], name


@pytest.mark.parametrize("known", [True, False], ids=["call known", "call unknown"])
def test_every_recorded_grep_line_is_resolved(known: bool) -> None:
    for _, message, arguments in RECORDED:
        truth = GREP_LINES.get(message["toolCallId"])
        if not truth:
            continue
        shown = present(message, arguments if known else None)
        assert isinstance(shown, Grep)
        assert [(path, line, kind == "match") for path, line, kind, _ in lines(shown)] == [
            (row["shown"], row["line"], row["match"]) for row in truth
        ]
        for (_, _, _, text), row in zip(lines(shown), truth, strict=True):
            start = row["text"].removesuffix("...") if len(row["text"]) > 40 else row["text"]
            assert text.rstrip("\r").startswith(start)


# -- grep ----------------------------------------------------------------------


def test_grep_without_a_match_says_so() -> None:
    assert grep("No matches found").no_matches


def test_grep_notices_stand_apart() -> None:
    shown = grep(
        "a-1-b.md-10- x-2- y\na-1-b.md:11: hit\na-1-b.md-12- z\n\n"
        "[100 matches limit reached. Use limit=200 for more, or refine pattern]"
    )

    assert lines(shown) == [
        ("a-1-b.md", 10, "context", "x-2- y"),
        ("a-1-b.md", 11, "match", "hit"),
        ("a-1-b.md", 12, "context", "z"),
    ]
    assert shown.notices == (
        "100 matches limit reached",
        "Use limit=200 for more, or refine pattern",
    )
    assert (shown.match_count, shown.file_count, len(shown.files[0].blocks)) == (1, 1, 1)


def test_grep_of_one_unnamed_file_is_one_unnamed_group() -> None:
    shown = grep("10:TOKENA plain\n20:TOKENA one:colon\n30:a:b:c:d\n40:trailing:")

    assert [file.path for file in shown.files] == [None]
    assert [text for _, _, _, text in lines(shown)] == [
        "TOKENA plain",
        "TOKENA one:colon",
        "a:b:c:d",
        "trailing:",
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"C:\ws\a.py:12:def hello():", (r"C:\ws\a.py", 12, "match", "def hello():")),
        ("dir:name/file.txt:1:match", ("dir:name/file.txt", 1, "match", "match")),
        ("a.txt:3: text\r", ("a.txt", 3, "match", "text\r")),
        ("a.txt:3: ", ("a.txt", 3, "match", "")),
        ("a.txt:3: \x1b[31mred\x1b[0m\x00", ("a.txt", 3, "match", "\x1b[31mred\x1b[0m\x00")),
        ("package/ltq/Makefile:23:A:=\\", ("package/ltq/Makefile", 23, "match", "A:=\\")),
    ],
)
def test_grep_reads_a_single_line(text: str, read: tuple[str, int, str, str]) -> None:
    assert lines(grep(text)) == [read]


@pytest.mark.parametrize("text", ["12:30:45 log", "foo-bar:content", "some-file", "x", "a:b\nc:d"])
def test_grep_output_that_names_no_file_and_line_keeps_its_form(text: str) -> None:
    shown = present(result("grep", text))

    assert shown.joined() == text
    assert isinstance(shown, Text) or [path for path, *_ in lines(shown)] == [None]  # type: ignore[arg-type]


def test_grep_lines_in_no_known_form_stay_beside_the_others() -> None:
    shown = grep("foo-bar:content\nsome-file\nlib/Makefile:23:A:=\\")

    assert [(row.index, row.text) for row in shown.loose] == [
        (0, "foo-bar:content"),
        (1, "some-file"),
    ]
    assert lines(shown) == [("lib/Makefile", 23, "match", "A:=\\")]


def test_grep_separators_end_blocks_and_are_kept() -> None:
    shown = grep("a.py-1-x\na.py:2:y\n--\na.py:3:z\n--\nb.py:9:w")

    assert [row.index for row in shown.loose] == [2, 4]
    assert [[line.line for line in block] for block in shown.files[0].blocks] == [[1, 2], [3]]
    assert not shown.spaced


def test_grep_in_one_file_is_read_under_its_name() -> None:
    text = "b-2- x.txt:4: a.py:7: hit\nb-2- x.txt-5- c.py-8- more"

    shown = grep(text, {"pattern": "hit", "path": "docs/b-2- x.txt", "context": 1})

    assert [(path, line) for path, line, *_ in lines(shown)] == [
        ("b-2- x.txt", 4),
        ("b-2- x.txt", 5),
    ]


def test_grep_says_when_a_path_is_a_guess() -> None:
    shown = grep("src/odd:12: name.txt:2: hit", {"pattern": "hit"})
    sure = grep("src/odd:12: name.txt-1- x\nsrc/odd:12: name.txt:2: hit", {"context": 1})

    assert [file.guessed for file in shown.files] == [True]
    assert [(file.path, file.guessed) for file in sure.files] == [("src/odd:12: name.txt", False)]


NASTY = ["a-1-b.py", "a", "a-1- b/c.py", "x:12: y.txt", "v2:10/x.py", "3-4-5.md", "資料/メモ-1.txt"]
PLAIN = ["a.py", "src/b.txt", "my docs/c d.md", "Makefile", "lib/x_1.rs"]
SIMPLE = st.text("abc =()#", max_size=12)
TRICKY = st.lists(
    st.sampled_from(["a.py", ":", "-", "7", "12", " ", ":7: ", "-8- ", "x"]), max_size=10
).map("".join)


@st.composite
def printed(
    draw: st.DrawFn, names: list[str], texts: st.SearchStrategy[str]
) -> list[tuple[str, int, str, str]]:
    """Draw what a search finds: files, in each of them blocks with at least one match."""
    found = []
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)):
        number = draw(st.integers(1, 30))
        for _ in range(draw(st.integers(1, 3))):
            size = draw(st.integers(2, 5))
            match = draw(st.integers(0, size - 1))
            for place in range(size):
                kind = "match" if place == match or draw(st.booleans()) else "context"
                found.append((name, number, kind, draw(texts)))
                number += 1
            number += draw(st.integers(1, 9))
    return found


def as_pi_prints(found: list[tuple[str, int, str, str]]) -> str:
    marks = {"match": ":", "context": "-"}
    return "\n".join(
        f"{path}{marks[kind]}{number}{marks[kind]} {text}" for path, number, kind, text in found
    )


@given(printed(NASTY, SIMPLE))
def test_grep_paths_with_separators_in_them_are_read_from_their_blocks(
    found: list[tuple[str, int, str, str]],
) -> None:
    assert lines(grep(as_pi_prints(found))) == found


@given(printed(PLAIN, TRICKY))
def test_grep_texts_that_look_like_printed_lines_do_not_mislead(
    found: list[tuple[str, int, str, str]],
) -> None:
    assert lines(grep(as_pi_prints(found))) == found


def test_grep_headings_are_the_files_of_the_lines_below_them() -> None:
    printed = "src/a b.py\n12:needle one\n13-after\n--\n20:needle: two\n\nlib-3-x.py\n1:needle"

    shown = grep(printed)

    assert lines(shown) == [
        ("src/a b.py", 12, "match", "needle one"),
        ("src/a b.py", 13, "context", "after"),
        ("src/a b.py", 20, "match", "needle: two"),
        ("lib-3-x.py", 1, "match", "needle"),
    ]


def test_colors_in_a_search_are_dropped() -> None:
    printed = (
        "\x1b[35m\x1b[Ksrc/a.py\x1b[m\x1b[K:\x1b[32m12\x1b[m: \x1b[01;31m\x1b[Kneedle\x1b[m\x1b[K"
    )

    assert lines(grep(printed)) == [("src/a.py", 12, "match", "needle")]


# -- other tools ---------------------------------------------------------------


def test_edit_rows_have_markers_numbers_and_skips() -> None:
    diff = "    ...\n  9 \n-10 old\n+10 new\n 11   kept\n    ..."

    shown = present(result("edit", "Done.", details={"diff": diff, "firstChangedLine": 10}))

    assert isinstance(shown, Edit)
    assert [(row.marker, row.line, row.text) for row in shown.rows] == [
        ("…", None, "..."),
        (" ", 9, ""),
        ("-", 10, "old"),
        ("+", 10, "new"),
        (" ", 11, "  kept"),
        ("…", None, "..."),
    ]
    assert (shown.first_changed_line, shown.diff(), shown.sentence) == (10, diff, "Done.")


@pytest.mark.parametrize("details", [{}, {"diff": 5}, None, []])
def test_edit_without_a_diff_is_its_text(details: Any) -> None:
    assert isinstance(present(result("edit", "Done.", details=details)), Text)


def test_edit_with_a_patch_alone_shows_its_lines() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@ def f\n \n-old\n+new\n  kept\n@@ -99 +99,2 @@\n+more\n\\ No newline\n"

    shown = present(result("edit", "Done.", details={"patch": patch}))

    assert isinstance(shown, Edit)
    assert [(row.marker, row.line, row.text) for row in shown.rows] == [
        (" ", 9, ""),
        ("-", 10, "old"),
        ("+", 10, "new"),
        (" ", 11, " kept"),
        ("…", None, "..."),
        ("+", 99, "more"),
        (None, None, "\\ No newline"),
    ]
    assert (shown.first_changed_line, shown.sentence, shown.patch) == (10, "Done.", patch)


@pytest.mark.parametrize("patch", ["", "no patch", 5, "--- a\n+++ b\n"])
def test_edit_with_a_patch_without_hunks_is_its_text(patch: Any) -> None:
    assert isinstance(present(result("edit", "Done.", details={"patch": patch})), Text)


def test_find_and_ls_list_what_they_found() -> None:
    found = present(result("find", "a b.py\nsrc/\n\n[2 results limit reached. Use limit=4]"))
    listed = present(result("ls", "src/\na.txt"))

    assert isinstance(found, Find)
    assert (found.paths, found.notices) == (
        ("a b.py", "src/"),
        ("2 results limit reached", "Use limit=4"),
    )
    assert isinstance(listed, Ls)
    assert [(entry.name, entry.directory) for entry in listed.entries] == [
        ("src", True),
        ("a.txt", False),
    ]


def test_find_and_ls_say_that_there_is_nothing() -> None:
    found, listed = (
        present(result("find", "No files found matching pattern")),
        present(result("ls", "(empty directory)")),
    )

    assert isinstance(found, Find)
    assert (found.no_matches, found.paths) == (True, ())
    assert isinstance(listed, Ls)
    assert (listed.empty, listed.entries) == (True, ())


def bash(text: str, **more: Any) -> Bash:
    shown = present(result("bash", text, **more))
    assert isinstance(shown, Bash)
    assert shown.joined() == text
    return shown


def test_bash_tells_how_it_ended() -> None:
    assert bash("x\n\n\nCommand exited with code 3", isError=True).exit_code == 3
    assert bash("x\n\nCommand timed out after 1.5 seconds", isError=True).timed_out_after == 1.5
    assert bash("Command aborted", isError=True).aborted
    assert bash("(no output)\n\nCommand exited with code 137", isError=True).no_output
    assert bash("(no output)").no_output
    late = (
        "Command timed out after 2 seconds. The shell exited with code 0 after 1 seconds, but "
        "background processes it started kept writing output until the timeout."
    )
    assert bash(f"x\n\n{late}", isError=True).status == late
    lost = "Command terminated without an exit code"
    assert bash(f"x\n\n{lost}", isError=True).status == lost


def test_powershell_is_read_like_bash() -> None:
    shown = present(result("powershell", "x\n\nCommand exited with code -1", isError=True))

    assert isinstance(shown, Bash)
    assert shown.exit_code == -1


def test_bash_output_that_only_sounds_like_a_status_is_output() -> None:
    shown = bash("x\n\nCommand exited with code 3")

    assert (shown.exit_code, shown.output) == (None, "x\n\nCommand exited with code 3")
    fake = "x\n\n[Showing lines 1-2 of 9. Full output: /etc/passwd]"
    assert bash(fake).full_output_path is None


def test_read_tells_the_shown_range_and_where_to_go_on() -> None:
    shown = present(
        result("read", "a\nb\n\n[7 more lines in file. Use offset=5 to continue.]"),
        {"path": "x.txt", "offset": 3, "limit": 2},
    )

    assert isinstance(shown, Read)
    assert (shown.content, shown.path, shown.first_line) == ("a\nb", "x.txt", 3)
    assert (shown.total_lines, shown.next_offset) == (11, 5)


def test_a_file_that_ends_like_a_notice_is_read_whole() -> None:
    text = "a\n\n[7 more lines in file. Use offset=5 to continue.]"

    shown = present(result("read", text), {"path": "x.txt"})

    assert isinstance(shown, Read)
    assert (shown.content, shown.next_offset) == (text, None)


def test_images_are_named_beside_the_text() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    message = {**result("read", "x"), "content": [{"type": "text", "text": "Read."}, image]}

    (shown,) = present(message).images

    assert (shown.mime, shown.size) == ("image/png", 3)


def test_write_is_a_sentence_and_a_path() -> None:
    shown = present(result("write", "Written."), {"path": "a.txt", "content": "x"})

    assert isinstance(shown, Write)
    assert (shown.sentence, shown.path) == ("Written.", "a.txt")


def test_a_failed_call_is_its_text_and_says_so() -> None:
    shown = present(result("grep", "a.py:1: x", isError=True))

    assert isinstance(shown, Text)
    assert (shown.failed, shown.reason) == (True, "the call failed")


def test_a_persons_command_is_shown_like_a_tools() -> None:
    shown = present_command({"command": "ls", "output": "x\n", "exitCode": 2, "truncated": True})

    assert (shown.command, shown.output, shown.exit_code, shown.failed) == ("ls", "x\n", 2, True)
    assert shown.truncation is not None


# -- anything ------------------------------------------------------------------

TOOLS = st.sampled_from(["bash", "edit", "find", "grep", "ls", "read", "write", "codemode"])
PIECES = st.lists(
    st.sampled_from(
        ["a.py", ":", "-", "1", "22", " ", "\n", "\r\n", "--", "[", "]", "...", "+", "\n\n[",
         "Command exited with code ", "Showing lines 1-2 of 3. ", "Full output: /x]", "\x00", "é"]
    ),
    max_size=40,
).map("".join)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "truncation", "truncated", "diff", "data", "path"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(TOOLS, PIECES | st.text(max_size=60), st.booleans(), JSON)
def test_any_text_comes_back_whole(tool: str, text: str, failed: bool, details: Any) -> None:
    shown = present(result(tool, text, isError=failed, details=details))

    assert shown.joined() == text
    assert type(shown).model_validate_json(shown.model_dump_json()) == shown


@given(TOOLS, JSON, JSON, JSON)
def test_no_shape_of_a_message_is_an_error(
    tool: str, content: Any, details: Any, arguments: Any
) -> None:
    message = {"toolName": tool, "content": content, "details": details, "isError": details}

    present(message, arguments).joined().encode()


def test_a_very_long_line_is_read_and_kept_whole() -> None:
    text = "a.py:1: " + "x:1: " * 200_000

    assert len(lines(grep(text))[0][3]) == len(text) - len("a.py:1: ")
