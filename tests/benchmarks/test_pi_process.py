"""What Pi's private process costs, beside the same call and the same imports without it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from yardstick import SMOKE

from hindnote import HostCall
from hindnote.core.call import Dispatcher
from hindnote.core.plugins.hosts import Hosts
from hindnote.hosts.pi import plugin

ROUNDS = 1 if SMOKE else 15
CALLS = 20 if SMOKE else 300

READY_LIMIT = 2.0
"""Times importing pydantic that the process may take to be ready."""

PIPE_LIMIT = 1.0
"""Milliseconds that the way through the process may add to a call, at the median."""


class Process:
    """A running private process."""

    def __init__(self, home: Path) -> None:
        self._count = 0
        self._process = subprocess.Popen(
            [sys.executable, "-E", "-P", "-m", "hindnote.hosts.pi"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "HINDNOTE_HOME": str(home)},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        assert "ready" in json.loads(self._out.readline())

    def call(self, operation: str, arguments: dict[str, Any]) -> Any:
        self._count += 1
        host = {"cwd": "/", "sessionId": "s", "agentDir": "/a", "model": "m"}
        request = {"type": "call", "id": str(self._count), "operation": operation}
        line = json.dumps({**request, "arguments": arguments, "host": host})
        self._in.write(line.encode() + b"\n")
        self._in.flush()
        response = json.loads(self._out.readline())
        assert response["ok"], response
        return response["value"]

    def close(self) -> None:
        self._in.close()
        self._process.wait(10)
        self._out.close()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path)
    yield process
    process.close()


def milliseconds(calls: int, call: Any) -> list[float]:
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1000)
    return sorted(times)


def test_a_read_through_the_process_costs_little_more_than_in_it(
    process: Process, tmp_path: Path
) -> None:
    process.call("notes_write", {"address": "plan", "content": "Ship it.\n" * 200})
    dispatcher = Dispatcher(Hosts.of({"pi": plugin}), tmp_path)
    call = HostCall(host="pi", session_id="s", cwd=Path("/"), model="m")
    arguments = {"address": "plan"}

    inside = milliseconds(CALLS, lambda: dispatcher.call(call, "notes_read", arguments))
    through = milliseconds(CALLS, lambda: process.call("notes_read", arguments))

    added = statistics.median(through) - statistics.median(inside)
    p95 = through[int(len(through) * 0.95)]
    sys.stderr.write(
        f"warm notes_read: {statistics.median(inside):.2f} ms inside Python, "
        f"{statistics.median(through):.2f} ms through the process (95th percentile {p95:.2f} ms)\n"
    )
    assert SMOKE or added <= PIPE_LIMIT


def test_the_process_is_ready_soon_after_what_pydantic_takes(tmp_path: Path) -> None:
    """Processes alternate, so that a busy machine slows both alike."""

    def ready() -> None:
        Process(tmp_path).close()

    def baseline() -> None:
        code = "from pydantic import BaseModel"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs += milliseconds(1, baseline)
        ours += milliseconds(1, ready)

    ratio = statistics.median(ours) / statistics.median(theirs)
    sys.stderr.write(
        f"process started, ready and ended: {statistics.median(ours):.0f} ms, "
        f"{ratio:.2f} times importing pydantic\n"
    )
    assert SMOKE or ratio <= READY_LIMIT
