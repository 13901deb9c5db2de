from __future__ import annotations

import pytest
from fake_sessions import SessionBuilder, nested

from hindnote.core.history.timeline import Timeline


def document(builder: SessionBuilder, seq: int) -> str:
    timeline = Timeline(builder.projection())
    return timeline.event(timeline.locate(seq)).document


@pytest.mark.parametrize("role", ["user", "answer", "context"])
def test_the_document_of_a_message_is_its_text(role: str) -> None:
    builder = SessionBuilder()
    seq = getattr(builder, role)("a\r\nb\n")

    assert document(builder, seq) == "a\r\nb\n"


def test_a_tool_events_document_holds_every_recorded_part_in_order() -> None:
    builder = SessionBuilder()
    builder.answer()
    seq = builder.call("a", "codemode", '{"b":1,"a":2}')
    builder.result(
        "a",
        "out\n",
        failed=True,
        output_truncated=True,
        full_output_path="/tmp/all",
        nested=nested("read", "bash", complete=False),
    )

    assert document(builder, seq) == (
        'call: codemode\narguments: {"b":1,"a":2}\nstatus: error\noutput:\nout\n\n'
        "full output: /tmp/all\nnested calls: 2, incomplete\n"
        '{"id":"x/1","name":"read"}\n{"id":"x/2","name":"bash"}'
    )


def test_parts_that_were_not_recorded_are_left_out() -> None:
    builder = SessionBuilder()
    builder.answer()
    pending = builder.call("a", "bash", None)
    alone = builder.result("z", "late", tool="bash")

    assert document(builder, pending) == "call: bash\nstatus: pending"
    assert document(builder, alone) == "status: ok\noutput:\nlate"


def test_a_command_is_its_own_call() -> None:
    builder = SessionBuilder()
    seq = builder.command("out", arguments='{"command":"ls"}', failed=None)

    assert document(builder, seq) == (
        'call: bash\narguments: {"command":"ls"}\nstatus: unknown\noutput:\nout'
    )


def test_no_nested_calls_recorded_as_complete_are_said() -> None:
    builder = SessionBuilder()
    builder.answer()
    seq = builder.call("a", "codemode", None)
    builder.result("a", "", nested=nested())

    assert document(builder, seq) == (
        "call: codemode\nstatus: ok\noutput:\n\nnested calls: 0, complete"
    )
