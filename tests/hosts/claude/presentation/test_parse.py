from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.history.timeline import Timeline
from hindnote.core.presentation.collect import shown_at
from hindnote.core.presentation.models import (
    Bash,
    Edit,
    Fetch,
    Find,
    Grep,
    Image,
    Mcp,
    Read,
    Task,
    Text,
    Todos,
    Write,
)
from hindnote.hosts.claude.presentation.parse import present
from hindnote.hosts.claude.sessions.projection import open_transcript

DATA = Path(__file__).parents[3] / "data/claude"


def block(content: Any, failed: bool | None = None) -> dict[str, Any]:
    return {"type": "tool_result", "content": content, "is_error": failed}


@pytest.mark.parametrize("file", sorted(DATA.rglob("*.jsonl")), ids=lambda file: file.stem)
def test_every_recorded_result_keeps_its_text(file: Path) -> None:
    projection = open_transcript(file)
    assert projection is not None
    timeline = Timeline(projection)
    for position in timeline.events(range(timeline.size)):
        event = timeline.event(position)
        if event.status is None:
            continue
        shown = shown_at(timeline, position).presentation
        assert (shown is None) == (event.result is None)
        if shown is not None and event.result is not None and not shown.images:
            assert shown.joined() == event.result.text
            assert shown.tool == event.tool


def test_a_file_s_numbered_lines_become_its_content() -> None:
    for mark in ("\t", "→"):
        text = f"     9{mark}def f():\n    10{mark}    return 1\n    11{mark}"
        reminder = "\n\n<system-reminder>\nBe careful.\n</system-reminder>\n"
        file = {"filePath": "/w/a.py", "numLines": 3, "startLine": 9, "totalLines": 40}

        shown = present(block(text + reminder), {"file": file}, "Read", {"file_path": "/w/a.py"})

        assert isinstance(shown, Read)
        assert (shown.path, shown.content) == ("/w/a.py", "def f():\n    return 1\n")
        assert (shown.first_line, shown.total_lines, shown.next_offset) == (9, 40, 12)


def test_lines_whose_numbers_do_not_run_up_are_text() -> None:
    for text in ("1\ta\n3\tb", "no numbers", "1\ta\nb"):
        assert isinstance(present(block(text), None, "Read"), Text)


def test_an_image_that_was_read_is_named() -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "data": "AAAA"}}

    shown = present(block([image]), None, "Read", {"file_path": "/w/a.png"})

    assert isinstance(shown, Read)
    assert shown.images == (Image(mime="image/png", size=3),)


PATCH = [
    {"oldStart": 1, "newStart": 1, "lines": [" a", "-b", "+c", "\\ No newline at end of file"]},
    {"oldStart": 98, "newStart": 98, "lines": ["+é"]},
]


@pytest.mark.parametrize(
    ("tool", "record"), [("Edit", {}), ("MultiEdit", {}), ("Write", {"type": "update"})]
)
def test_a_change_is_shown_from_its_patch(tool: str, record: dict[str, Any]) -> None:
    shown = present(
        block("Updated."), {**record, "structuredPatch": PATCH}, tool, {"file_path": "/w/a"}
    )

    assert isinstance(shown, Edit)
    assert [(row.marker, row.line, row.text) for row in shown.rows] == [
        (" ", 1, "a"),
        ("-", 2, "b"),
        ("+", 2, "c"),
        (None, None, "\\ No newline at end of file"),
        ("…", None, "..."),
        ("+", 98, "é"),
    ]
    assert (shown.path, shown.first_changed_line, shown.gutter) == ("/w/a", 2, 2)


def test_a_new_file_is_shown_as_written() -> None:
    record = {"type": "create", "structuredPatch": []}

    shown = present(block("File created."), record, "Write", {"file_path": "/w/a"})

    assert shown == Write(tool="Write", failed=False, sentence="File created.", path="/w/a")


def test_a_command_says_how_it_ended() -> None:
    shown = present(block("Exit code 3\nout\nerr", True), "Error: …", "Bash", {"command": "x"})

    assert isinstance(shown, Bash)
    assert (shown.command, shown.output, shown.exit_code) == ("x", "out\nerr", 3)
    assert shown.failed


def test_an_output_that_only_looks_like_a_failure_is_output() -> None:
    shown = present(block("Exit code 3 is what it said"), None, "Bash")

    assert isinstance(shown, Bash)
    assert (shown.output, shown.exit_code) == ("Exit code 3 is what it said", None)


def test_an_interrupted_command_is_shown_as_aborted() -> None:
    record = {"stdout": "part", "stderr": "", "interrupted": True}

    shown = present(block("part"), record, "Bash")

    assert isinstance(shown, Bash)
    assert shown.aborted


def test_an_output_that_was_put_into_a_file_names_it() -> None:
    text = (
        "<persisted-output>\nOutput too large (54.6KB). Full output saved to: /w/out.txt\n\n"
        "Preview (first 2KB):\nline 0\nline 1\n...\n</persisted-output>"
    )

    shown = present(block(text), None, "Bash")

    assert isinstance(shown, Bash)
    assert (shown.output, shown.full_output_path) == ("line 0\nline 1", "/w/out.txt")
    assert shown.is_beginning
    assert shown.truncation is not None


def test_a_search_is_grouped_by_file() -> None:
    text = "src/a-1-b.py:3:def f():\nsrc/a-1-b.py-4-    return\n--\nsrc/c.py:9:def g():"
    asked = {"pattern": "def ", "output_mode": "content", "-C": 1}

    shown = present(block(text), {"mode": "content"}, "Grep", asked)

    assert isinstance(shown, Grep)
    assert [file.path for file in shown.files] == ["src/a-1-b.py", "src/c.py"]
    assert (shown.match_count, shown.file_count) == (2, 2)


def test_files_that_were_found_are_listed() -> None:
    for tool, text in (("Grep", "Found 2 files\na.py\nb c.py"), ("Glob", "a.py\nb c.py")):
        shown = present(block(text), None, tool, {"pattern": "x"})

        assert isinstance(shown, Find)
        assert shown.paths == ("a.py", "b c.py")


@pytest.mark.parametrize("tool", ["Grep", "Glob"])
def test_a_search_that_found_nothing_says_so(tool: str) -> None:
    shown = present(block("No files found"), None, tool)

    assert isinstance(shown, Grep | Find)
    assert shown.no_matches


def test_a_cut_list_of_files_keeps_its_notice_apart() -> None:
    text = "a.py\n(Results are truncated. Consider using a more specific path or pattern.)"

    shown = present(block(text), None, "Glob")

    assert isinstance(shown, Find)
    assert shown.paths == ("a.py",)
    assert shown.notices == (
        "Results are truncated. Consider using a more specific path or pattern.",
    )


def test_a_subagent_s_work_is_told_with_its_cost() -> None:
    record = {"agentId": "a1", "totalToolUseCount": 3, "totalTokens": 1_200, "totalDurationMs": 900}
    asked = {"description": "Count", "prompt": "Count them.", "subagent_type": "Explore"}

    for tool in ("Agent", "Task"):
        shown = present(block([{"type": "text", "text": "Seven."}]), record, tool, asked)

        assert isinstance(shown, Task)
        assert (shown.text, shown.prompt, shown.agent_id) == ("Seven.", "Count them.", "a1")
        assert (shown.tool_calls, shown.tokens, shown.milliseconds) == (3, 1_200, 900)


def test_a_page_of_the_web_is_told_by_its_address() -> None:
    asked = {"url": "https://example.org/", "prompt": "What is it?"}

    shown = present(block("An example."), {"code": 200, "bytes": 1_256}, "WebFetch", asked)

    assert isinstance(shown, Fetch)
    assert (shown.url, shown.status, shown.size) == ("https://example.org/", 200, 1_256)


def test_todos_are_listed_with_their_state() -> None:
    todos = [{"content": "One", "status": "completed"}, {"content": "Two", "status": "odd"}]

    shown = present(block("Todos have been modified."), None, "TodoWrite", {"todos": todos})

    assert isinstance(shown, Todos)
    assert [(item.text, item.status) for item in shown.items] == [
        ("One", "completed"),
        ("Two", None),
    ]


def test_the_answer_of_an_mcp_tool_names_its_server_and_is_data_where_it_is_json() -> None:
    shown = present(block('{"k": [1]}'), None, "mcp__lab_srv__do__it")

    assert isinstance(shown, Mcp)
    assert (shown.server, shown.name, shown.value) == ("lab_srv", "do__it", {"k": [1]})
    assert present(block("{not json"), None, "mcp__a__b").joined() == "{not json"


TOOLS = st.sampled_from(
    ["Bash", "Read", "Edit", "Write", "Grep", "Glob", "Task", "WebFetch", "TodoWrite", "mcp__a__b"]
)
PIECES = st.lists(
    st.sampled_from(
        ["a.py", ":", "-", "1", "\t", "→", " ", "\n", "--", "[", "]", "...", "Exit code ", "{",
         "<persisted-output>\nFull output saved to: /x\n", "\n</persisted-output>", "Found 2 files",
         "\n\n<system-reminder>\n", "</system-reminder>", "\x00", "é", "\ud800"]
    ),
    max_size=40,
).map("".join)  # fmt: skip
NAMES = [
    "type",
    "text",
    "file",
    "structuredPatch",
    "lines",
    "oldStart",
    "newStart",
    "todos",
    "mode",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(TOOLS, PIECES | st.text(max_size=60), st.booleans(), JSON)
def test_any_text_comes_back_whole(tool: str, text: str, failed: bool, record: Any) -> None:
    shown = present(block(text, failed), record, tool)

    assert shown.joined() == text.replace("\ud800", "\ufffd")
    assert json.loads(shown.model_dump_json())["kind"] == shown.kind


@given(TOOLS, JSON, JSON, JSON)
def test_no_shape_of_a_row_is_an_error(tool: str, content: Any, record: Any, given: Any) -> None:
    for shape in (content, {"content": content, "is_error": given}):
        present(shape, record, tool, given).joined().encode()
