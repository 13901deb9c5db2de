from __future__ import annotations

from typing import Any

import pytest
from fake_sessions import FakeSource, SessionBuilder, bound_call, nested
from history_strategies import wide_texts
from hypothesis import given
from hypothesis import strategies as st

from hindnote.core.errors import Refused
from hindnote.core.history.operations.list import HISTORY_LIST
from hindnote.core.history.operations.read import HISTORY_READ
from hindnote.core.plugins.models import Decoration
from hindnote.core.tools.outcome import Success, wire


def read(builder: SessionBuilder, decoration: Decoration | None = None, **args: Any) -> Any:
    bound = bound_call(FakeSource(builder), decoration)
    outcome = HISTORY_READ.handle(bound, HISTORY_READ.bind(args))
    assert isinstance(outcome, Success)
    assert bound.budget.fits(outcome.data, HISTORY_READ.render(outcome.data))
    return outcome.data


def test_a_read_gives_the_window_at_the_root_beside_the_tool_facts() -> None:
    builder = SessionBuilder()
    builder.answer()
    builder.call("a", "codemode", "{}", created_at="2026-11-30T09:00:00Z")
    builder.result("a", "out", output_truncated=True, nested=nested("bash", complete=False))

    result = read(builder, seq=2, limit_chars=5)

    assert wire(Success(result)) == {
        "seq": 2,
        "role": "tool",
        "created_at": "2026-11-30T09:00:00Z",
        "tool": "codemode",
        "tool_status": "ok",
        "output_truncated": True,
        "nested_calls": {"call_count": 1, "complete": False},
        "neighborhood": {"before_seq": 3, "roles": ["user", "assistant", "tool", "context"]},
        "text": "call:",
        "total_chars": 106,
        "next_offset_chars": 5,
    }
    head, _, payload = HISTORY_READ.render(result).partition("\n\n")
    assert head.split("\n")[0] == "seq 2 | tool"
    assert "tool codemode | ok | output truncated" in head
    assert payload == "call:\n[truncated; continue at offset_chars=5]"


def test_the_neighborhood_ends_ten_events_after_the_one_that_was_read() -> None:
    builder = SessionBuilder()
    for _ in range(15):
        builder.answer()
        builder.call("a")
        builder.result("a")
    recipe = wire(Success(read(builder, seq=8)))["neighborhood"]

    listed = HISTORY_LIST.handle(bound_call(FakeSource(builder)), HISTORY_LIST.bind(recipe))

    seqs = [row["seq"] for row in wire(listed)["items"]]
    assert seqs.index(8) == len(seqs) - 11


@given(
    text=wide_texts(),
    limit=st.integers(500, 50_000),
    suffix=st.sampled_from(["", "x" * 20_000]),
)
def test_windows_rejoin_to_the_document(text: str, limit: int, suffix: str) -> None:
    builder = SessionBuilder()
    builder.user(text)
    offset, parts = 0, []
    while offset is not None:
        result = read(
            builder, Decoration(suffix=suffix), seq=1, offset_chars=offset, limit_chars=limit
        )
        parts.append(result.text)
        offset = result.next_offset_chars

    assert "".join(parts) == text


def test_a_negative_offset_reads_the_end() -> None:
    builder = SessionBuilder()
    builder.user("👩‍👩‍👧é" * 3)

    assert read(builder, seq=1, offset_chars=-2).text == "👧é"
    assert read(builder, seq=1, offset_chars=-99).text == "👩‍👩‍👧é" * 3
    assert read(builder, seq=1, offset_chars=18).text == ""


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"seq": 9}, "unknown_seq"),
        ({"seq": 2}, "not_an_event"),
        ({"seq": 3}, "not_on_branch"),
        ({"seq": 1, "offset_chars": 3}, "invalid_offset"),
        ({"seq": 4}, "output_too_large"),
    ],
)
def test_reads_are_refused_with_their_code(args: dict[str, int], code: str) -> None:
    builder = SessionBuilder()
    builder.user("hi")
    builder.nothing()
    builder.leave([builder.user("left")])
    builder.command("x", full_output_path="p" * 40_000)

    with pytest.raises(Refused) as caught:
        read(builder, **args)

    assert caught.value.code == code


def test_names_that_could_break_out_of_their_line_are_quoted() -> None:
    builder = SessionBuilder()
    builder.command("x", tool="a\nseq 9 | user", full_output_path="/tmp/a | ok")

    text = HISTORY_READ.render(read(builder, seq=1))

    head = text.split("\n\n")[0]
    assert '"a\\nseq 9 | user"' in head
    assert '"/tmp/a | ok"' in head
