"""What ``hindnote mcp`` costs until a program has its tools, beside importing pydantic.

Codex waits about a second for a server; on a busy machine that is little processor time.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from yardstick import SMOKE, said

ROUNDS = 1 if SMOKE else 11

LIMIT = 2.5
"""Times the processor time of a process that imports pydantic and checks one model."""

PYDANTIC = """
from pydantic import BaseModel
class Model(BaseModel):
    number: int
Model(number=1)
"""

SERVER = "from hindnote.core.cli import main; main()"


def processor_seconds(arguments: list[str], lines: bytes = b"") -> tuple[float, bytes]:
    """Return the processor time of one process from its start to its end, and its output."""
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    with process.stdin, process.stdout:
        process.stdin.write(lines)
        process.stdin.close()
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime, printed


def test_the_tools_are_there_after_little_more_than_importing_pydantic(tmp_path: Path) -> None:
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}}
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    server = [sys.executable, "-c", SERVER, "mcp", "--home", str(tmp_path)]
    ratios = []
    for _ in range(ROUNDS):
        least, _ = processor_seconds([sys.executable, "-c", PYDANTIC])
        ours, printed = processor_seconds(server, lines)
        assert len(json.loads(printed.splitlines()[1])["result"]["tools"]) == 7
        ratios.append(ours / least)

    ratio = statistics.median(ratios)
    said(f"hindnote mcp, initialize and tools/list: {ratio:.2f} times importing pydantic")
    assert SMOKE or ratio <= LIMIT
