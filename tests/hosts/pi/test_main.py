"""The private process as a process: its pipes, its signals, its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

GUARD = """
import os, sys
from hindnote.core.system.process import take_over_pipes
source, sink = take_over_pipes()
print("printed", flush=True)
os.system("echo from a child; cat")
os.write(sink, os.read(source, 6))
"""


@pytest.mark.usefixtures("measured")
def test_nothing_but_responses_reaches_standard_output() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GUARD],
        input=b"asked\nrest\n",
        capture_output=True,
        timeout=60,
        check=True,
    )

    assert done.stdout == b"asked\n"
    assert b"printed" in done.stderr
    assert b"from a child" in done.stderr
    assert b"rest" not in done.stderr


class Process:
    """The process, and one request after the other."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-E", "-P", "-m", "hindnote.hosts.pi"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "HINDNOTE_HOME": str(home)},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout
        assert "ready" in json.loads(self._out.readline())

    def ask(self, kind: str, **fields: Any) -> Any:
        self._in.write(json.dumps({"id": "1", "type": kind, **fields}).encode() + b"\n")
        self._in.flush()
        return json.loads(self._out.readline())

    def call(self, operation: str, **arguments: Any) -> Any:
        host = {"cwd": "/", "sessionId": "s1", "agentDir": "/a", "model": "m"}
        return self.ask("call", operation=operation, arguments=arguments, host=host)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path)
    yield process
    process.process.communicate(timeout=30)


@pytest.mark.usefixtures("measured")
def test_a_note_is_written_and_read_through_the_process(process: Process, tmp_path: Path) -> None:
    wrote = process.call("notes_write", address="plan", content="Ship it.")
    read = process.call("notes_read", address="plan")

    assert wrote["value"]["result"]["outcome"] == "created"
    assert read["value"]["result"]["text"] == "Ship it."
    assert read["value"]["text"].endswith("\n\nShip it.")
    [file] = tmp_path.glob("pi/session/s1/plan.md")
    assert file.read_text("utf-8").endswith("Ship it.")


def test_an_update_tells_the_shim_both_texts(process: Process) -> None:
    process.call("notes_write", address="plan", content="one two")
    edits = [{"old_text": "two", "new_text": "2"}]

    extras = process.call("notes_update", address="plan", edits=edits)["value"]["extras"]

    assert (extras["before"], extras["after"]) == ("one two", "one 2")


def test_wrong_arguments_and_unknown_operations_are_failures(process: Process) -> None:
    wrong = process.call("notes_read", address=5)
    unknown = process.call("notes_burn")

    assert wrong["failure"]["kind"] == "arguments"
    assert "address" in wrong["failure"]["message"]
    assert unknown["failure"]["kind"] == "host"


@pytest.mark.usefixtures("measured")
def test_an_interrupt_in_the_terminal_is_not_for_the_process(process: Process) -> None:
    process.process.send_signal(signal.SIGINT)

    assert process.ask("status")["ok"]


def test_the_process_ends_with_its_input(tmp_path: Path) -> None:
    process = Process(tmp_path)

    out, err = process.process.communicate(timeout=30)

    assert (out, err, process.process.returncode) == (b"", b"", 0)
