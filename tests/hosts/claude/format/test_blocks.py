from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_rows import Writer

from hindnote.core.history.document import Event
from hindnote.core.history.timeline import Timeline


def events(folder: Path, *blocks: dict[str, Any], rows: bool) -> list[Event]:
    """Return the events of one answer, in one row or in a row for each block."""
    writer = Writer()
    writer.user("q")
    under = "q"
    for number, some in enumerate([[block] for block in blocks] if rows else [[*blocks]]):
        under = writer.answer(f"a{number}", under, "m", *some)
    timeline = Timeline(writer.transcript(folder).projection)
    return [timeline.event(at) for at in timeline.events(range(timeline.size))][1:]


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def ran(type_: str, content: Any, call: str = "server_tool_use") -> list[dict[str, Any]]:
    return [
        {"type": call, "id": "srv1", "name": "tool", "input": {"query": "x"}},
        {"type": type_, "tool_use_id": "srv1", "content": content},
    ]


SEARCHED = [
    {
        "type": "web_search_result",
        "title": "A page",
        "url": "https://example.org/a",
        "encrypted_content": "Zm9v",
    },
    {"type": "web_search_result", "title": "Another", "url": "https://example.org/b"},
]
FETCHED = {
    "type": "web_fetch_result",
    "url": "https://example.org",
    "content": {"type": "document", "title": "Page", "content": [text("words")]},
}


@pytest.mark.parametrize("rows", [True, False], ids=["a row each", "one row"])
@pytest.mark.parametrize(
    ("blocks", "status", "output"),
    [
        (
            ran("advisor_tool_result", {"type": "advisor_result", "text": "Use a queue."}),
            "ok",
            "Use a queue.",
        ),
        (
            ran("web_search_tool_result", SEARCHED),
            "ok",
            (
                "[web_search_result A page, https://example.org/a]\n"
                "[web_search_result Another, https://example.org/b]"
            ),
        ),
        (
            ran(
                "web_search_tool_result",
                {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            ),
            "error",
            "[web_search_tool_result_error max_uses_exceeded]",
        ),
        (
            ran("web_fetch_tool_result", FETCHED),
            "ok",
            "[web_fetch_result https://example.org]\n[document Page]\nwords",
        ),
        (
            ran(
                "bash_code_execution_tool_result",
                {"type": "bash_code_execution_result", "stdout": "42\n", "return_code": 0},
            ),
            "ok",
            "42\n",
        ),
        (ran("mcp_tool_result", [text("done")], "mcp_tool_use"), "ok", "done"),
        (ran("mcp_tool_result", "done", "mcp_tool_use"), "ok", "done"),
    ],
)
def test_a_tool_that_ran_where_the_model_runs_is_an_event_with_its_output(
    tmp_path: Path, blocks: list[dict[str, Any]], status: str, output: str, rows: bool
) -> None:
    answer, tool = events(tmp_path, text("before"), *blocks, text("after"), rows=rows)

    assert answer.document == "before\nafter"
    assert (tool.tool, tool.status) == ("tool", status)
    assert tool.document == (
        f'call: tool\narguments: {{"query":"x"}}\nstatus: {status}\noutput:\n{output}'
    )


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ({"type": "tool_reference", "tool_name": "mcp__x__y"}, "[tool_reference mcp__x__y]"),
        ({"type": "future_block", "blob": "Zm9v"}, "[future_block]"),
        (
            {"type": "search_result", "title": "T", "source": "s", "content": [text("found")]},
            "[search_result T]\nfound",
        ),
        ({"type": "resource", "resource": {"uri": "file:///x", "text": "t"}}, "file:///x\nt"),
    ],
)
def test_an_unknown_block_is_named_in_its_place(
    tmp_path: Path, block: dict[str, Any], shown: str
) -> None:
    writer = Writer()
    writer.user("q", content=[text("asked"), block])
    writer.call("c", "q", "m")
    writer.result("r", "c")
    writer.rows[-1]["message"]["content"][0]["content"] = [text("one"), block, text("two")]
    writer.answer("a", "r", "m2", text("said"), block)
    timeline = Timeline(writer.transcript(tmp_path).projection)

    asked, tool, said = (timeline.event(at) for at in timeline.events(range(timeline.size)))

    assert asked.document == f"asked\n{shown}"
    assert tool.result is not None
    assert tool.result.text == f"one\n{shown}\ntwo"
    assert said.document == f"said\n{shown}"


def test_a_block_that_nests_deep_is_named(tmp_path: Path) -> None:
    block: dict[str, Any] = {"type": "deep", "content": "bottom"}
    for _ in range(200):
        block = {"type": "deep", "content": [block]}

    (said,) = events(tmp_path, block, rows=True)

    assert said.document == "[deep]"


def test_thoughts_are_part_of_no_document(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "hmm"}
    (said,) = events(
        tmp_path, thought, {"type": "redacted_thinking", "data": "x"}, text("said"), rows=False
    )

    assert said.document == "said"
