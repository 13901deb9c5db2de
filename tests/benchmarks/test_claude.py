"""What a call costs Claude Code: through the resident helper, and without it."""

from __future__ import annotations

import json
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from yardstick import SMOKE

ROUNDS = 1 if SMOKE else 15
BARE = [sys.executable, "-c", "pass"]
HELPER = [sys.executable, "-E", "-P", "-m", "hindnote.hosts.claude"]

WARM_MS = 10.0
"""Milliseconds that a warm call may take at the median."""

IMPORTED = "from pydantic import BaseModel"
IMPORTED_LIMIT = 1.65
"""Times importing pydantic that a call without the helper may take."""

USED = f"""
import os
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
{IMPORTED}

class Model(BaseModel):
    number: int

Model.model_validate({{"number": 1}})
"""
USED_LIMIT = 1.15
"""Times the least use of pydantic that a call without the helper may take."""

READY_MS = 300.0
"""Milliseconds after which the resident helper listens, beside a bare interpreter."""


@pytest.fixture
def body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A request to read a note that is there."""
    monkeypatch.setenv("HINDNOTE_HOME", str(tmp_path / "notes"))
    note = tmp_path / "notes" / "human" / "plan.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\ncreatedAt: 2026-01-01T10:00:00.000+00:00\n---\n" + "a line\n" * 200)
    call = {"session_id": "s1", "cwd": str(tmp_path), "model": "m"}
    arguments = {"address": "@human/plan"}
    request = {"kind": "call", "operation": "notes_read", "arguments": arguments, "call": call}
    return json.dumps(request).encode()


@pytest.fixture
def served() -> Iterator[tuple[Path, float]]:
    """A resident helper: its socket, and the milliseconds until it listened."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = Path(folder) / "hindnote-bench" / "s"
        started = time.perf_counter()
        command = [*HELPER, "serve", "--socket", str(path)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            yield path, milliseconds(started)
        finally:
            process.terminate()
            process.wait(10)
            process.stdout.close()


def milliseconds(since: float) -> float:
    return (time.perf_counter() - since) * 1000


def ask(path: Path, body: bytes) -> dict[str, object]:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        received = b""
        while chunk := client.recv(65536):
            received += chunk
    answer: dict[str, object] = json.loads(received.partition(b"\r\n\r\n")[2])
    return answer


def bare() -> float:
    started = time.perf_counter()
    subprocess.run(BARE, check=True, timeout=60)
    return milliseconds(started)


def test_a_warm_call_is_answered_within_ten_milliseconds(
    served: tuple[Path, float], body: bytes
) -> None:
    path, _ = served
    assert "failure" not in ask(path, body)
    times = []
    for _ in range(3 + ROUNDS * 10):
        started = time.perf_counter()
        ask(path, body)
        times.append(milliseconds(started))

    median = statistics.median(times)
    worst = statistics.quantiles(times, n=20)[-1]
    sys.stderr.write(f"warm notes_read: median {median:.1f} ms, 95th percentile {worst:.1f} ms\n")
    assert SMOKE or median <= WARM_MS


def test_the_helper_listens_soon(served: tuple[Path, float]) -> None:
    _, ready = served
    baseline = statistics.median(bare() for _ in range(ROUNDS))

    sys.stderr.write(f"resident helper: ready after {ready:.0f} ms, bare {baseline:.0f} ms\n")
    assert SMOKE or ready <= READY_MS + baseline


def cpu(command: list[str], body: bytes) -> float:
    """Milliseconds of processor time of one process; a busy machine changes it little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=body, capture_output=True, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def test_a_call_without_the_helper_costs_little_more_than_pydantic(body: bytes) -> None:
    """Processes alternate, so that a busy machine slows all alike."""
    commands = (BARE, [sys.executable, "-c", IMPORTED], [sys.executable, "-c", USED], HELPER)
    costs: list[list[float]] = [[] for _ in commands]
    for _ in range(ROUNDS):
        for command, times in zip(commands, costs, strict=True):
            times.append(cpu(command, body))

    bare, imported, used, ours = map(statistics.median, costs)
    sys.stderr.write(
        f"fallback notes_read: {ours:.0f} ms of processor time, {ours / imported:.2f} times "
        f"importing pydantic ({imported:.0f} ms), {ours / used:.2f} times checking one value with "
        f"it ({used:.0f} ms); bare interpreter {bare:.0f} ms\n"
    )
    assert SMOKE or ours <= IMPORTED_LIMIT * imported
    assert SMOKE or ours <= USED_LIMIT * used
