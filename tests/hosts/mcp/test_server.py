"""How the process reads, writes and ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversation import Conversation
from test_session import PING, Held, begin

from hindnote.hosts.mcp.calls import Settings
from hindnote.hosts.mcp.wire import PARSE_ERROR


@pytest.fixture
def toolbox() -> Held:
    return Held()


def start(toolbox: Any, folder: Path, **more: Any) -> Conversation:
    program = Conversation(toolbox, Settings(folder, folder / "notes"), **more)
    program.greet()
    return program


def test_calls_that_run_when_the_input_ends_are_answered(toolbox: Held, tmp_path: Path) -> None:
    program = start(toolbox, tmp_path)
    for number in range(20):
        begin(program, number)
    program.end_input()
    toolbox.go.set()

    assert {answer["id"] for answer in program.rest()} == set(range(20))
    program.close()


def test_a_server_whose_answers_nobody_reads_ends(toolbox: Held, tmp_path: Path) -> None:
    program = start(toolbox, tmp_path)
    begin(program, 1)
    program.read_no_more()

    assert program.ends()


def test_a_server_that_waits_for_calls_ends_when_nobody_reads(
    toolbox: Held, tmp_path: Path
) -> None:
    program = start(toolbox, tmp_path)
    begin(program, 1)
    program.end_input()
    program.read_no_more()

    assert program.ends()


def test_a_program_may_send_everything_before_it_reads(tmp_path: Path) -> None:
    """Both pipes would be full, and each side wait for the other."""
    program = start(Held(), tmp_path)
    count = 3000
    program.send(*({**PING, "id": f"{number}-{'x' * 100}"} for number in range(count)))

    assert len(program.rest()) == count
    program.close()


def test_a_line_that_is_too_long_costs_no_other(tmp_path: Path) -> None:
    program = start(Held(), tmp_path, line=1 << 16)
    program.send(b"[" * 200_000, PING, b"5" * (1 << 16), b" " * ((1 << 16) + 1), {**PING, "id": 2})
    answers = program.rest()

    assert [answer["id"] for answer in answers] == [None, "p", None, None, 2]
    assert answers[0]["error"]["code"] == PARSE_ERROR
    program.close()


def test_a_last_line_without_its_end_is_answered(tmp_path: Path) -> None:
    import os

    program = start(Held(), tmp_path)
    os.write(program._in, b'{"jsonrpc":"2.0","id":"torn","method":"ping"}')

    assert [answer["id"] for answer in program.rest()] == ["torn"]
    program.close()
